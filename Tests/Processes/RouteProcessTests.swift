import Foundation
import RunBus
import Testing
import TestSupport

@Suite("A run's route and its splits from a shell")
struct RouteProcessTests {
  private static let sensors = ["--synthetic", "--seed", "3", "--duration", "600", "--speed", "30"]

  /// The last state of each point that a follower printed, by run.
  private func route(_ lines: [JSONValue]) -> [String: [Int: JSONValue]] {
    var routes: [String: [Int: JSONValue]] = [:]
    for line in lines {
      guard let run = line["runId"]?.string else { continue }
      if let length = line["length"]?.int { routes[run] = routes[run]?.filter { $0.key < length } }
      guard let index = line["index"]?.int else { continue }
      routes[run, default: [:]][index] = line
    }
    return routes
  }

  @Test(
    "A follower from the start, one that joins late and a single query have the same route", arguments: Link.allCases)
  func followers(link: Link) async throws {
    try await withTrio(link) { trio in
      let (phone, _, widget) = try await trio.start(phone: Self.sensors)
      let first = trio.bus.spawn(
        executable: TestBus.busnode, ["route", "--follow", "--json", "--timeout", "60"] + trio.place)
      phone.write("start")
      _ = try await first.event("a point at 30 s") { $0["offsetSeconds"]?.number ?? 0 >= 30 }
      let late = trio.bus.spawn(
        executable: TestBus.busnode, ["route", "--follow", "--json", "--timeout", "60"] + trio.place)
      _ = try await late.event("the first point") { $0["index"]?.int == 0 }
      _ = try await late.event("a point at 60 s") { $0["offsetSeconds"]?.number ?? 0 >= 60 }
      widget.write("stop")
      try await phone.shows("completed", revision: 2)
      _ = try await phone.event("all of its readings") { $0["event"]?.string == "sensorsDone" }
      // An answer contains only durable points, and only points that followers get as well.
      let look = try await trio.run("route", "--json", "--timeout", "60")
      #expect(look.ending == .exited(0), "\(look.errors)")
      let last = try #require(look.json.last)
      let (runID, index) = (try #require(last["runId"]?.string), try #require(last["index"]?.int))
      for follower in [first, late] {
        // The last state of each point must equal the query's; compared once the follower has come as far.
        _ = try await follower.event("the last point") { $0["index"]?.int == index && $0["runId"]?.string == runID }
        try await follower.wait(for: "the route that the look shows") { view in
          let points = route(view.json)[runID] ?? [:]
          return points.count == index + 1 && (0...index).allSatisfy { points[$0] == look.json[$0] } ? true : nil
        }
        follower.signal(SIGINT)
        #expect(try await follower.ending() == .exited(130))
      }
      #expect(look.json.contains { $0["counted"]?.bool == true && $0["reason"] == .null })
      #expect(look.json.filter { $0["startsLine"]?.bool == true }.count >= 1)
    }
  }

  @Test("state shows splits in the wanted units, and energy if there is a weight")
  func splits() async throws {
    try await withTrio(.ipc) { trio in
      let (phone, _, _) = try await trio.start(phone: Self.sensors + ["--weight", "70"])
      let before = try await trio.run("state", "--splits", "--json")
      #expect(before.json.last?["report"] == .null)
      phone.write("start")
      try await phone.snapshot("half a kilometre") { $0["metrics"]?["distanceMeters"]?.number ?? 0 > 500 }
      phone.write("lap")
      phone.write("stop")
      try await phone.shows("completed", revision: 2)
      let state = try #require(try await trio.run("state", "--splits", "--json").json.last)
      let kilometers = try #require(state["report"]?["kilometers"]?.array)
      #expect(kilometers.first?["number"]?.int == 1 && kilometers.last?["complete"]?.bool == false)
      let sum = kilometers.compactMap { $0["distanceMeters"]?.number }.reduce(0, +)
      #expect(abs(sum - (state["report"]?["metrics"]?["distanceMeters"]?.number ?? 0)) < 1e-6)
      #expect(state["report"]?["stretches"]?.array?.first?["source"]?.string == "positions")
      #expect(try #require(state["metrics"]?["energyJoules"]?.number) > 41_840)
      #expect(state["metrics"]?["stale"] != nil && state["metrics"]?["ages"]?["positionSeconds"]?.number != nil)

      let text = try await trio.run("state", "--splits", "--units", "imperial")
      #expect(text.lines.contains("miles:") && text.lines.contains("laps:"), "\(text.lines)")
      #expect(text.lines.contains { $0.hasPrefix("energy") && $0.hasSuffix("kcal") })
      #expect(try await trio.run("state", "--splits", "--follow").ending == .exited(64))
    }
  }

  @Test("A phone reports when its sensors may be off")
  func sensors() async throws {
    try await withTrio(.ipc) { trio in
      let (phone, watch, _) = try await trio.start()
      let steps = [("start", "all"), ("pause", "off"), ("resume", "all"), ("stop", "off")]
      for (count, (button, demand)) in steps.enumerated() {
        watch.write(button)
        try await phone.wait(for: "the demand after \(button)") { view in
          // The first demand is that before any run.
          let demands = view.json.filter { $0["event"]?.string == "sensors" }.compactMap { $0["demand"]?.string }
          return demands.count == count + 2 && demands.last == demand ? demands : nil
        }
      }
    }
  }

  @Test("route prints nothing without a run, and fails without a hub")
  func nothing() async throws {
    try await withTrio(.ipc) { trio in
      #expect(try await trio.run("route").ending == .exited(69))
      _ = try await trio.start()
      let text = try await trio.run("route", "--timeout", "60")
      #expect(text.ending == .exited(0) && text.lines == ["no run has been started"])
      #expect(try await trio.run("route", "--json", "--timeout", "60").lines.isEmpty)
      #expect(try await trio.run("phone", "--weight", "10").ending == .exited(64))
    }
  }
}
