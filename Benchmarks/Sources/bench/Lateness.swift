import ArgumentParser
import Foundation
import RunBus

struct Lateness: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "How late a hub settles windows and captures ticks, with its store on disk.",
    discussion: """
      The hub presses itself, while a watch listens over ipc. A window is late by the time from its deadline to the \
      moment of the snapshot that settles it. Ticks come at thirty times real time, one every 100 ms. A tick is late by \
      its distance, in real time, from the grid on which the earliest one lies.
      """)

  @Option(help: "Windows.") var windows = 200
  @Option(help: "Milliseconds of a window.") var length: Int64 = 100
  @Option(help: "Ticks.") var ticks = 300

  func validate() throws {
    guard windows > 0, length > 0, ticks > 1 else { throw ValidationError("sizes are positive numbers") }
  }

  func run() async throws {
    print("load \(Machine.load) on \(Machine.cores) cores\n")
    print("| | p50, ms | p99, ms | longest, ms |\n|---|---|---|---|")
    row("\(windows) windows", try await onBus(.realTime, settleWindows))
    row("\(ticks) ticks", try await onBus(BusSpeed(thousandths: 30_000)!, tick))
  }

  private func row(_ name: String, _ all: [Double]) {
    let sorted = all.sorted()
    func at(_ share: Double) -> String {
      String(format: "%.2f", sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))])
    }
    let cells = [at(0.5), at(0.99), at(1)]
    print("| \(name) | \(cells.joined(separator: " | ")) |")
  }

  private func onBus(_ speed: BusSpeed, _ measure: (Hub) async throws -> [Double]) async throws -> [Double] {
    let place = try Place.make()
    defer { place.remove() }
    let hub = Hub(
      configuration: HubConfiguration(deviceID: "phone", debounce: .milliseconds(length), speed: speed),
      listeners: [ZeroMQListener(control: place.control, events: place.events)],
      store: try NodeStore(directory: place.directory + "/phone", device: "phone"), loop: try Loop())
    let watch = Peer(
      configuration: PeerConfiguration(deviceID: "watch", role: .watch),
      connector: ZeroMQConnector(control: place.control), store: NodeStore(), loop: try Loop())
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await hub.run() }
      group.addTask { try await watch.run() }
      for await link in await watch.reachabilities() where link.isReachable { break }
      let times = try await measure(hub)
      group.cancelAll()
      while await group.nextResult() != nil {}
      return times
    }
  }

  /// A start and a stop in turn; the time of a start is that of its press.
  private func settleWindows(_ hub: Hub) async throws -> [Double] {
    var times: [Double] = []
    while times.count < windows {
      _ = try await hub.send(Command(.start, source: .phone))
      let snapshot = await hub.authoritative
      guard let startedAt = snapshot.startedAt, snapshot.phase == .running else {
        throw BenchError(description: "the start did not begin a run")
      }
      times.append(Double((snapshot.capturedAt - startedAt).nanoseconds) / 1e6 - Double(length))
      _ = try await hub.send(Command(.stop, source: .phone))
    }
    return times
  }

  /// The ticks of one run, against the grid of the earliest.
  private func tick(_ hub: Hub) async throws -> [Double] {
    _ = try await hub.send(Command(.start, source: .phone))
    var moments: [Int64] = []
    for await snapshot in await hub.snapshots() where snapshot.phase == .running {
      moments.append(snapshot.capturedAt.nanoseconds)
      // The first ones are those of the start.
      if moments.count == ticks + 2 { break }
    }
    let interval: Int64 = 3_000_000_000
    let first = moments.dropFirst(2).first ?? 0
    let offsets = moments.dropFirst(2).map { moment in
      let rest = (moment - first) % interval
      return rest > interval / 2 ? rest - interval : rest
    }
    let earliest = offsets.min() ?? 0
    return offsets.map { Double($0 - earliest) / 1e6 / 30 }
  }
}
