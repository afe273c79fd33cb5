import ArgumentParser
import Foundation
import RunBus
import RunRecordings
import Synchronization

/// What grows with a run, with the runs that are kept, and with their records.
struct Growth: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "What a press, a stop, a run and a list cost beside a long run and many records.",
    subcommands: [GrowthStop.self, GrowthRuns.self, GrowthFill.self, GrowthSync.self])
}

/// A hub's machine without a store and sockets: each commit is durable at once. It notes how long its turns take.
struct BareHub {
  private(set) var core: HubCore
  private(set) var now = BusTime.zero
  /// The milliseconds of each turn since ``forgetTurns()``.
  private(set) var turns: [Double] = []
  private(set) var records = 0

  init() {
    let clock = BusClock(realAnchor: .zero, busAnchor: .zero, speed: .realTime)
    let settings = HubCore.Settings(
      deviceID: DeviceID("phone"), nodeID: .random(), storeID: .random(), debounce: .zero, clock: clock)
    core = HubCore(settings: settings, now: .zero)
    feed(.started)
    feed(.opened(eventsEndpoint: "events"))
  }

  mutating func forgetTurns() { turns = [] }

  mutating func feed(_ event: HubCore.Event) {
    var events = [event]
    while let event = events.popLast() {
      let began = monotonic()
      let actions = core.receive(event, at: now)
      turns.append(Double(monotonic() - began) / 1e6)
      for action in actions {
        guard case .commit(let id, let operations) = action else { continue }
        for operation in operations { if case .keepRecord = operation { records += 1 } }
        events.append(.committed(id))
      }
    }
  }

  mutating func pass(to end: BusTime) {
    while let deadline = core.deadline, deadline <= end {
      now = max(now, deadline)
      feed(.deadline)
    }
    now = end
  }

  /// Feeds deadlines that are due until there are so many records.
  mutating func pass(untilRecords count: Int) {
    while records < count, let deadline = core.deadline {
      now = max(now, deadline)
      feed(.deadline)
    }
  }
}

struct GrowthStop: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stop", abstract: "How long a press, the stop and the making of the record hold the loop.")

  @Option(help: "Hours of the run.") var hours = [1, 10, 50]

  func run() async throws {
    print(
      "| hours | entries | a lap, longest turn, ms | the stop, ms | longest turn of the record, ms | all of it, ms | turns |"
    )
    print("|---|---|---|---|---|---|---|")
    for hours in hours {
      let input = FoldInput(seconds: Int64(hours * 3600), hasPedometer: true)
      var hub = BareHub()
      hub.feed(.press(Command(.start, source: .phone)))
      for entry in input.entries {
        guard case .sample(let value, _) = entry.event else { continue }
        hub.pass(to: entry.time)
        hub.feed(.sample(Sample(moment: .at(entry.time), value: value)))
      }
      hub.pass(to: hub.now + .seconds(1))
      hub.forgetTurns()
      hub.feed(.press(Command(.lap, source: .phone)))
      let lap = hub.turns.max() ?? 0
      hub.pass(to: hub.now + .seconds(1))
      hub.forgetTurns()
      hub.feed(.press(Command(.stop, source: .phone)))
      let stop = hub.turns.max() ?? 0
      hub.forgetTurns()
      hub.pass(untilRecords: 1)
      func text(_ value: Double) -> String { String(format: "%.2f", value) }
      let all = hub.turns.reduce(0, +)
      print(
        "| \(hours) | \(input.entries.count) | \(text(lap)) | \(text(stop)) | \(text(hub.turns.max() ?? 0)) | \(text(all)) "
          + "| \(hub.turns.count) |")
    }
  }
}

struct GrowthRuns: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "runs", abstract: "What starting and stopping a run costs the loop, from the first run to the last.")

  @Option(help: "Runs.") var count = 9000

  func run() async throws {
    var hub = BareHub()
    var costs: [Double] = []
    for number in 0..<count {
      hub.forgetTurns()
      hub.feed(.press(Command(.start, source: .phone)))
      hub.pass(to: hub.now + .seconds(1))
      hub.feed(.press(Command(.stop, source: .phone)))
      hub.pass(to: hub.now + .seconds(1))
      hub.pass(untilRecords: number + 1)
      costs.append(hub.turns.reduce(0, +))
    }
    print("| runs | start, stop and record, mean of 100, ms |\n|---|---|")
    for end in [100, 1000, count] where end <= count {
      print("| \(end) | \(String(format: "%.3f", costs[..<end].suffix(100).reduce(0, +) / 100)) |")
    }
  }
}

struct GrowthFill: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fill", abstract: "Writes a phone's store with many records, for `busnode records` and the like.")

  @Argument(help: "The directory of the store, which must be empty.") var directory: String
  @Option(help: "Records.") var count = 10_000
  @Option(help: "Seconds of each run.") var seconds: Int64 = 600

  func run() async throws { try await Self.fill(directory, count, seconds) }

  static func fill(_ directory: String, _ count: Int, _ seconds: Int64) async throws {
    let entries = FoldInput(seconds: seconds, hasPedometer: false).entries
    let author = Author(source: .phone, deviceID: DeviceID("phone"), commandID: .random())
    func transition(_ kind: CommandKind, _ time: BusTime) -> LedgerEntry {
      LedgerEntry(
        time: time, position: kind == .start ? 0 : 1 << 20,
        event: .transition(Transition(kind: kind, revision: 1, change: author)))
    }
    let all = [transition(.start, .zero)] + entries + [transition(.stop, .zero + .seconds(seconds))]
    guard let (body, bests) = RecordBody.made(of: RunLedger(entries: all), settings: MetricsSettings()) else {
      throw BenchError(description: "the run is not over")
    }
    let store = try NodeStore(directory: directory, device: DeviceID("phone"))
    defer { store.close() }
    for first in stride(from: 0, to: count, by: 100) {
      var operations: [StoreOperation] = first == 0 ? [.setTerm(1)] : []
      for number in first..<min(first + 100, count) {
        var summary = RecordSummary(
          runID: .random(), version: 1, deviceID: DeviceID("watch"), hubDeviceID: DeviceID("phone"), appVersion: "",
          startedAtUnixSeconds: 1_500_000_000 + Double(number) * 20_000, elapsed: .zero, active: .zero, bests: bests)
        summary.add(body.report.metrics)
        operations.append(
          .keepRecord(RunRecord(summary: summary, body: body), change: 1 << 32 + UInt64(number) + 1))
      }
      let batch = operations
      try await withCheckedContinuation { done in store.commit(batch) { done.resume(returning: $0) } }.get()
    }
  }
}

struct GrowthSync: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync", abstract: "A new device fetches all records while another one presses.")

  @Option(help: "Records.") var count = 10_000
  @Option(help: "Seconds of each run.") var seconds: Int64 = 600
  @Flag(help: "Measures the turns of the hub's loop, which then never sleeps.") var turns = false

  func run() async throws {
    let place = try Place.make()
    defer { place.remove() }
    try await GrowthFill.fill(place.directory + "/phone", count, seconds)
    let loop = try Loop()
    let hub = Hub(
      configuration: HubConfiguration(deviceID: DeviceID("phone"), debounce: .zero),
      listeners: [ZeroMQListener(control: place.control, events: place.events)],
      store: try NodeStore(directory: place.directory + "/phone", device: DeviceID("phone")), loop: loop)
    func peer(_ name: String) throws -> Peer {
      Peer(
        configuration: PeerConfiguration(deviceID: DeviceID(name)!, role: NodeRole(rawValue: name), topics: []),
        connector: ZeroMQConnector(control: place.control),
        store: try NodeStore(directory: place.directory + "/" + name), loop: try Loop())
    }
    let (watch, tablet) = (try peer("watch"), try peer("tablet"))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await hub.run() }
      group.addTask { try await watch.run() }
      for await state in await watch.reachabilities() where state.isReachable { break }
      // The watch fetches them first.
      while try await watch.records.list().count < count { try await Task.sleep(for: .milliseconds(200)) }
      let probe = TurnProbe(loop)
      if turns { group.addTask { await probe.watch() } }
      var presses = Presses()
      print("a press: \(try await times(&presses, watch, while: { $0 < 300 }))")
      if turns { print(await probe.take()) }
      group.addTask { try await tablet.run() }
      let began = monotonic()
      let isSynced = Task {
        while try await tablet.records.list().count < count { try await Task.sleep(for: .milliseconds(200)) }
        return monotonic()
      }
      let done = SyncEnd()
      Task {
        _ = try? await isSynced.value
        done.isOver.store(true, ordering: .relaxed)
      }
      print(
        "beside the sync: \(try await times(&presses, watch, while: { _ in !done.isOver.load(ordering: .relaxed) }))")
      if turns { print(await probe.take()) }
      print("\(count) records in \(Double(try await isSynced.value - began) / 1e9) s")
      group.cancelAll()
      while await group.nextResult() != nil {}
    }
  }

  private func times(_ presses: inout Presses, _ peer: Peer, while goesOn: (Int) -> Bool) async throws -> String {
    var all: [Double] = []
    while goesOn(all.count) {
      let began = monotonic()
      _ = try await peer.send(presses.next())
      all.append(Double(monotonic() - began) / 1e6)
    }
    all.sort()
    func at(_ share: Double) -> String {
      String(format: "%.2f", all[min(all.count - 1, Int(share * Double(all.count)))])
    }
    return "\(all.count) presses, p50 \(at(0.5)) ms, p99 \(at(0.99)) ms, longest \(at(1)) ms"
  }
}

/// An actor that runs once in each turn of a loop, and notes the processor time of the thread between two of them.
private actor TurnProbe {
  private nonisolated let loop: Loop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private var spans: [Double] = []

  init(_ loop: Loop) { self.loop = loop }

  func watch() async {
    var last = Self.threadTime()
    while !Task.isCancelled {
      await Task.yield()
      let now = Self.threadTime()
      spans.append(Double(now - last) / 1e6)
      last = Self.threadTime()
    }
  }

  func take() -> String {
    let sorted = spans.sorted(by: >)
    spans = []
    let longest = sorted.prefix(3).map { String(format: "%.2f", $0) }.joined(separator: ", ")
    return "\(sorted.count) turns of the hub's loop, processor time of the longest: \(longest) ms; "
      + "\(sorted.count { $0 > 2 }) above 2 ms, \(sorted.count { $0 > 1 }) above 1 ms"
  }

  private static func threadTime() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

private final class SyncEnd: Sendable {
  let isOver = Atomic(false)
}
