import Foundation
import RunBus
import Testing
import TestSupport

/// One hub with very many peers in a few processes.
struct ScaleTrial {
  let peers: Int
  let presses: Int
  /// How many processes share the peers.
  static let processes = 4
  /// The first presses are not measured: subscriptions still reach the hub, and buffers grow.
  static let warmUp = 10

  /// The measured values.
  struct Figures: Sendable {
    var peers = 0
    var joinSeconds = 0.0
    /// Times from each press until the first and the last peer saw its revision, in milliseconds.
    var first: [Double] = []
    var last: [Double] = []
    /// Processor time of the hub and of the crowd for one press and its effects, in milliseconds.
    var processor = (hub: 0.0, crowd: 0.0)
    /// Footprints of the hub and of the crowd's processes, with four peers and with all of them.
    var hub: (before: Footprint?, after: Footprint?) = (nil, nil)
    var crowd: (before: [Footprint], after: [Footprint]) = ([], [])
    /// Peers that the hub lists as reachable.
    var reachable = 0
  }

  func run(_ bus: TestBus) async throws -> Figures {
    var figures = Figures()
    let phone = bus.spawn("phone", "--stdin", "--json", "--debounce", "0")
    try await phone.snapshot("its first snapshot") { _ in true }
    let control = "ipc://\(bus.runtimeDirectory)/runbus/default/control.sock"
    let crowd = (0..<Self.processes).map { number in
      bus.spawn(executable: TestBus.program("crowd"), ["--control", control, "--name", "crowd\(number)"])
    }
    for process in crowd { try await join(1, total: 1, process) }
    figures.hub.before = phone.footprint
    figures.crowd.before = crowd.compactMap(\.footprint)

    let begun = ContinuousClock.now
    let shares = crowd.indices.map { index in peers / Self.processes + (index < peers % Self.processes ? 1 : 0) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (process, share) in zip(crowd, shares) { group.addTask { try await join(share - 1, total: share, process) } }
      try await group.waitForAll()
    }
    figures.joinSeconds = (ContinuousClock.now - begun) / .seconds(1)
    figures.peers = peers

    var processor = (hub: 0.0, crowd: 0.0)
    for number in 1...Self.warmUp + presses {
      let kind = number == 1 ? CommandKind.start : number.isMultiple(of: 2) ? .pause : .resume
      crowd[0].write(kind.rawValue)
      let pressed = try await crowd[0].wait(for: "press \(number)") { view in
        view.json.lazy.filter { $0["event"]?.string == "pressed" }.dropFirst(number - 1).first?["at"]?.number
      }
      if number == Self.warmUp { processor = (phone.processorSeconds, crowd.map(\.processorSeconds).reduce(0, +)) }
      var (first, last) = (Double.infinity, 0.0)
      for process in crowd {
        let seen = try await process.event("revision \(number) on all peers") {
          $0["event"]?.string == "seen" && $0["revision"]?.int == number
        }
        first = min(first, seen["first"]?.number ?? 0)
        last = max(last, seen["at"]?.number ?? .infinity)
      }
      guard number > Self.warmUp else { continue }
      figures.first.append((first - pressed) / 1e6)
      figures.last.append((last - pressed) / 1e6)
    }
    figures.processor.hub = (phone.processorSeconds - processor.hub) * 1000 / Double(presses)
    figures.processor.crowd = (crowd.map(\.processorSeconds).reduce(0, +) - processor.crowd) * 1000 / Double(presses)
    figures.hub.after = phone.footprint
    figures.crowd.after = crowd.compactMap(\.footprint)
    let known = try await bus.run("peers", "--json")
    figures.reachable = known.json.count { $0["reachable"]?.bool == true }

    for process in crowd { process.closeInput() }
    for process in crowd { #expect(try await process.ending() == .exited(0), "\(process.view.errors.suffix(3))") }
    phone.signal(SIGTERM)
    #expect(try await phone.ending() == .exited(0), "\(phone.view.errors.suffix(3))")
    #expect(phone.view.errors.isEmpty, "\(phone.view.errors.prefix(3))")
    return figures
  }

  private func join(_ count: Int, total: Int, _ process: NodeProcess) async throws {
    process.write("join \(count)")
    try await process.event("\(total) peers") { $0["event"]?.string == "joined" && $0["peers"]?.int == total }
  }
}

extension ScaleTrial.Figures {
  /// All figures as a table.
  var table: String {
    func percentiles(_ values: [Double]) -> String {
      let sorted = values.sorted()
      func at(_ share: Double) -> Double { sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))] }
      return String(format: "p50 %.1f, p90 %.1f, p99 %.1f, worst %.1f", at(0.5), at(0.9), at(0.99), at(1))
    }
    func row(_ who: String, _ count: Int, _ before: [Footprint], _ after: [Footprint]) -> String {
      func grown(_ field: (Footprint) -> Int) -> Double {
        Double(after.map(field).reduce(0, +) - before.map(field).reduce(0, +)) / Double(max(1, count))
      }
      let all = after.map(\.residentKilobytes).reduce(0, +)
      return String(
        format: "%@ | %.1f | %.1f | %.1f | %.1f", who, grown(\.residentKilobytes), grown(\.descriptors),
        grown(\.threads), Double(all) / 1024)
    }
    let joined = peers - ScaleTrial.processes
    let load = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8))?.prefix { $0 != " " } ?? "?"
    return """
      peers \(peers) in \(ScaleTrial.processes) processes, joined in \(String(format: "%.1f", joinSeconds)) s; \
      presses \(last.count); load \(load) on \(ProcessInfo.processInfo.activeProcessorCount) cores
      command to snapshot at the last peer, ms: \(percentiles(last))
      command to snapshot at the first peer, ms: \(percentiles(first))
      from the first peer to the last, ms: \(percentiles(zip(last, first).map { $0 - $1 }))
      processor time for a press, ms: the hub \(String(format: "%.1f", processor.hub)), \
      the crowd \(String(format: "%.1f", processor.crowd))
      a peer costs | KiB | descriptors | threads | all of it, MiB
      \(row("the hub", joined, hub.before.map { [$0] } ?? [], hub.after.map { [$0] } ?? []))
      \(row("its own process", joined, crowd.before, crowd.after))
      """
  }
}

@Suite("Many peers on one hub")
struct ScaleTests {
  /// `make chaos PEERS=1000` runs more of them.
  private static let peers = Clients.size("PEERS")

  @Test("Each of many peers sees every revision, and the hub knows each of them")
  func manyPeers() async throws {
    let trial = ScaleTrial(peers: max(8, Self.peers ?? 60), presses: Self.peers == nil ? 5 : 300)
    let figures = try await withTestBus { bus in try await trial.run(bus) }
    if Self.peers != nil { print(figures.table) }
    // The hub's answer to `peers` lists at most 256.
    #expect(figures.reachable == min(trial.peers, 256))
  }
}

extension NodeProcess {
  fileprivate var processorSeconds: Double { footprint?.processorSeconds ?? 0 }
}
