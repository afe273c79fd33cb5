import ArgumentParser
import Foundation

/// What rooms cost a phone in which nothing happens.
struct RoomsRest: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rooms-rest",
    abstract: "What a phone costs at rest: without a fleet, in a fleet, in a room (Linux).",
    discussion: """
      Five phones, processes of their own: one without --together, two in a fleet without a room, and two in one room. \
      With --before a phone of another build is measured beside them. libzmq's own threads are listed apart.
      """)

  @Option(help: "The busnode binary (Benchmarks/run builds it).") var busnode: String
  @Option(help: "The busnode binary of another build.") var before: String?
  @Option(help: "Seconds to look.") var seconds = 120

  func run() async throws {
    let place = try Place.make()
    defer { place.remove() }
    let bus = Busnode(path: busnode, place: place)
    try await withThrowingTaskGroup(of: Void.self) { group in
      var nodes: [(name: String, id: Int32)] = []
      func start(_ name: String, _ busnode: Busnode, _ arguments: [String]) async {
        let (ids, started) = AsyncStream.makeStream(of: Int32.self)
        group.addTask { try await busnode.keep(["phone"] + arguments) { started.yield($0) } }
        for await id in ids.prefix(1) { nodes.append((name, id)) }
      }
      if let before { await start("no fleet, before", Busnode(path: before, place: place), ["--bus", "before"]) }
      await start("no fleet", bus, ["--bus", "alone"])
      for (number, state) in ["no room", "no room", "in a room, owner", "in a room"].enumerated() {
        let nick = "n\(number)"
        await start("fleet, \(state)", bus, ["--bus", nick, "--together", "rest", "--nick", nick])
      }
      try await bus.succeeds(["room", "open", "--bus", "n2", "--goal", "30m"])
      let rooms = try await bus.succeeds(["room", "ls"])
      guard let room = rooms.split(separator: " ").first.map(String.init) else {
        throw BenchError(description: "no room is open: \(rooms)")
      }
      try await bus.succeeds(["room", "enter", room, "--bus", "n3"])
      // What starting and entering brings does not count.
      try await Task.sleep(for: .seconds(5))
      print("\(seconds) s at rest; load \(Machine.load) on \(Machine.cores) cores")
      let before = nodes.map { ThreadUse.all(of: $0.id) }
      try await Task.sleep(for: .seconds(seconds))
      let after = nodes.map { ThreadUse.all(of: $0.id) }
      guard after.allSatisfy({ !$0.isEmpty }) else { throw BenchError(description: "a phone has ended") }
      report(nodes.map(\.name), before, after)
      group.cancelAll()
      while let result = await group.nextResult() { if case .failure(let error as BenchError) = result { throw error } }
    }
  }

  private func report(_ names: [String], _ before: [[Int32: ThreadUse]], _ after: [[Int32: ThreadUse]]) {
    print(
      "\n| phone | wake-ups a second | CPU, ms an hour | of libzmq: wake-ups a second | CPU, ms an hour |"
        + "\n|---|---|---|---|---|")
    for (index, name) in names.enumerated() {
      var (ours, theirs) = (ThreadUse(name: "ours"), ThreadUse(name: "libzmq's"))
      for (id, use) in after[index] {
        let spent = use.since(before[index][id])
        if spent.isLibzmq { theirs.add(spent) } else { ours.add(spent) }
      }
      print("| \(name) | \(cells(ours)) | \(cells(theirs)) |")
    }
    print("\n| phone | thread | wake-ups a second | CPU, ms an hour |\n|---|---|---|---|")
    for (index, name) in names.enumerated() {
      for (id, use) in after[index].sorted(by: { $0.key < $1.key }) {
        let spent = use.since(before[index][id])
        if spent.wakeUps > 0 { print("| \(name) | \(spent.name) | \(cells(spent)) |") }
      }
    }
  }

  private func cells(_ use: ThreadUse) -> String {
    let milliseconds = Double(use.cpuNanoseconds) / 1e6 * 3600 / Double(seconds)
    return String(format: "%.2f | %.0f", Double(use.wakeUps) / Double(seconds), milliseconds)
  }
}
