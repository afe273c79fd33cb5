import ArgumentParser
import Foundation
import RunBus

struct Recover: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "A hub that finds a long run on its disk: from opening the store to the first snapshot.",
    discussion: """
      The store holds a run of so many hours with five readings a second (position, altitude, heart rate, cadence, \
      pedometer), written as a hub does, a commit every three seconds, and taken as kill -9 leaves it, with its log. \
      Measured in this process, each time on a copy: reading the history back, the machine that folds it, and all of it as \
      a hub does it, its first commit included.
      """)

  @Option(help: "Hours of the run.") var hours = 10
  @Option(help: "Rounds.") var rounds = 5

  func validate() throws {
    // A run accepts readings for this long.
    guard (1...55).contains(hours), rounds > 0 else { throw ValidationError("1 to 55 hours, 1 round or more") }
  }

  func run() async throws {
    let place = try Place.make()
    defer { place.remove() }
    let killed = place.directory + "/killed"
    let phone = DeviceID("phone")
    let sizes = try await write(to: place.directory + "/phone", phone, copyingTo: killed)
    func bytes(_ count: Int) -> String {
      "\(count / 1000) kB, \((Double(count) / Double(sizes.entries) * 10).rounded() / 10) bytes an entry"
    }
    print("a run of \(hours) h, \(sizes.entries) entries; load \(Machine.load) on \(Machine.cores) cores")
    print("the store's file after kill -9: \(bytes(sizes.file)); its log: \(sizes.log / 1000) kB")
    print("the file after a good end, without a log: \(bytes(sizes.closed))")
    print("an entry in memory: \(MemoryLayout<LedgerEntry>.stride) bytes\n")
    var (reading, folding, whole): ([Double], [Double], [Double]) = ([], [], [])
    for _ in 0..<rounds {
      let parts = try measureParts(try copy(killed, place), phone)
      reading.append(parts.reading)
      folding.append(parts.folding)
      whole.append(try await measureWhole(try copy(killed, place), phone, place))
    }
    print("| milliseconds | median (smallest–largest) |\n|---|---|")
    print("| reading the history | \(Spread(reading).text(0)) |")
    print("| folding it | \(Spread(folding).text(0)) |")
    print("| from opening the store to the first snapshot | \(Spread(whole).text(0)) |")
  }

  private struct Sizes {
    var entries = 0
    /// Sizes in bytes of the file and of its log while the store is open.
    var file = 0
    var log = 0
    /// Size in bytes of the file after its log was copied into it.
    var closed = 0
  }

  /// Writes the run, and copies what is on the disk while the store is open.
  private func write(to directory: String, _ phone: DeviceID, copyingTo killed: String) async throws -> Sizes {
    let store = try NodeStore(directory: directory, device: phone)
    let run = RunID(high: 1, low: 1)
    let change = Author(source: .phone, deviceID: phone, commandID: CommandID(high: 2, low: 2))
    let start = LedgerEvent.transition(Transition(kind: .start, revision: 1, change: change))
    var operations: [StoreOperation] = [
      .setTerm(1), .append(run, LedgerEntry(time: .zero, position: 1, event: start)),
    ]
    var position: UInt64 = 1
    for second in 1...hours * 3600 {
      let time = BusTime.zero + .seconds(Int64(second))
      for value in Self.readings(at: Double(second)) {
        position += 1
        operations.append(
          .append(run, LedgerEntry(time: time, position: position, event: .sample(value, phone))))
      }
      guard second.isMultiple(of: 3) else { continue }
      operations.append(.setClock(real: Loop.now, bus: time))
      let batch = operations
      operations = []
      let result = await withCheckedContinuation { done in store.commit(batch) { done.resume(returning: $0) } }
      try result.get()
    }
    // The store does one thing after the other, so its idle work is finished now, too.
    _ = try store.termSeen()
    try FileManager.default.copyItem(atPath: directory, toPath: killed)
    store.close()
    return Sizes(
      entries: Int(position), file: try size(killed + "/node.sqlite"), log: try size(killed + "/node.sqlite-wal"),
      closed: try size(directory + "/node.sqlite"))
  }

  private static func readings(at second: Double) -> [SampleValue] {
    let position = Position(
      latitude: 47 + 0.000_027 * second + 0.000_01 * sin(second / 7), longitude: 8 + 0.000_01 * cos(second / 11),
      horizontalAccuracyMeters: 4)
    return [
      .position(position), .altitude(meters: 400 + 20 * sin(second / 300), .barometer),
      .heartRate(bpm: (145 + 10 * sin(second / 60)).rounded()), .cadence(stepsPerMinute: 172),
      .pedometer(meters: 3 * second),
    ]
  }

  private func size(_ path: String) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
  }

  private func copy(_ directory: String, _ place: Place) throws -> String {
    let target = place.directory + "/phone-\(UUID().uuidString)"
    try FileManager.default.copyItem(atPath: directory, toPath: target)
    return target
  }

  private func measureParts(_ directory: String, _ phone: DeviceID) throws -> (reading: Double, folding: Double) {
    let began = monotonic()
    let store = try NodeStore(directory: directory, device: phone)
    defer { store.close() }
    let history = try store.history()
    let read = monotonic()
    let real = Loop.now
    let clock = BusClock.continuing(
      history.clock, real: real, wallSeconds: Date().timeIntervalSince1970, bootID: MachineBoot.id, speed: .realTime)
    let settings = HubCore.Settings(
      deviceID: phone, nodeID: store.nodeID, storeID: store.storeID, debounce: .zero, clock: clock)
    let core = HubCore(settings: settings, history: history, now: clock.bus(at: real), bootID: MachineBoot.id)
    guard core.deadline == nil else { throw BenchError(description: "a hub that has not begun has a deadline") }
    return (Double(read - began) / 1e6, Double(monotonic() - read) / 1e6)
  }

  private func measureWhole(_ directory: String, _ phone: DeviceID, _ place: Place) async throws -> Double {
    let began = monotonic()
    let hub = Hub(
      configuration: HubConfiguration(deviceID: phone),
      listeners: [ZeroMQListener(control: place.control, events: place.events)],
      store: try NodeStore(directory: directory, device: phone), loop: try Loop())
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await hub.run() }
      guard let snapshot = await hub.snapshots().first(where: { _ in true }) else {
        throw BenchError(description: "no snapshot")
      }
      let milliseconds = Double(monotonic() - began) / 1e6
      guard snapshot.phase == .running, (snapshot.metrics.distanceMeters ?? 0) > 1000 else {
        throw BenchError(description: "the run was not recovered: \(snapshot.phase)")
      }
      group.cancelAll()
      while await group.nextResult() != nil {}
      return milliseconds
    }
  }
}
