import ArgumentParser
import Foundation
import RunBus

struct Recover: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "A hub that finds a long run on its disk: from opening the store to the first snapshot.",
    discussion: """
      The store holds a run of so many hours with five readings a second (position, altitude, heart rate, cadence, \
      pedometer), as after kill -9. Measured in this process: reading the history back, the machine that folds it, and all \
      of it as a hub does it, its first commit included.
      """)

  @Option(help: "Hours of the run.") var hours = 10
  @Option(help: "Rounds.") var rounds = 5

  func validate() throws {
    guard (1...24).contains(hours), rounds > 0 else { throw ValidationError("1 to 24 hours, 1 round or more") }
  }

  func run() async throws {
    let place = try Place.make()
    defer { place.remove() }
    let directory = place.directory + "/phone"
    let phone = DeviceID("phone")!
    let count = try await write(to: directory, phone)
    let attributes = try FileManager.default.attributesOfItem(atPath: directory + "/node.sqlite")
    let bytes = attributes[.size] as? Int ?? 0
    print("a run of \(hours) h, \(count) readings; load \(Machine.load) on \(Machine.cores) cores")
    print("the store: \(bytes / 1_000_000) MB, \(bytes / max(1, count)) bytes a reading\n")
    var (reading, folding, whole): ([Double], [Double], [Double]) = ([], [], [])
    for _ in 0..<rounds {
      let parts = try measureParts(directory, phone)
      reading.append(parts.reading)
      folding.append(parts.folding)
      whole.append(try await measureWhole(directory, phone, place))
    }
    print("| milliseconds | median (smallest–largest) |\n|---|---|")
    print("| reading the history | \(Spread(reading).text(0)) |")
    print("| folding it | \(Spread(folding).text(0)) |")
    print("| from opening the store to the first snapshot | \(Spread(whole).text(0)) |")
  }

  /// Writes the run and returns how many readings it has.
  private func write(to directory: String, _ phone: DeviceID) async throws -> Int {
    let store = try NodeStore(directory: directory, device: phone)
    defer { store.close() }
    let run = RunID(high: 1, low: 1)
    let change = Change(source: .phone, deviceID: phone, commandID: CommandID(high: 2, low: 2))
    let start = LedgerEvent.transition(Transition(kind: .start, revision: 1, change: change))
    var operations: [StoreOperation] = [
      .setTerm(1), .append(run, LedgerEntry(time: .zero, position: 1, event: start)),
    ]
    var position: UInt64 = 1
    let seconds = hours * 3600
    for second in 1...seconds {
      let way = Double(second)
      let place = Position(
        latitude: 47 + 0.000_027 * way + 0.000_01 * sin(way / 7), longitude: 8 + 0.000_01 * cos(way / 11),
        horizontalAccuracyMeters: 4)
      let values: [SampleValue] = [
        .position(place), .altitude(meters: 400 + 20 * sin(way / 300), .barometer),
        .heartRate(bpm: (145 + 10 * sin(way / 60)).rounded()), .cadence(stepsPerMinute: 172),
        .pedometer(meters: 3 * way),
      ]
      for value in values {
        position += 1
        operations.append(
          .append(
            run, LedgerEntry(time: .zero + .seconds(Int64(second)), position: position, event: .sample(value, phone))))
      }
      if second == seconds {
        operations.append(.setClock(real: Loop.now, bus: .zero + .seconds(Int64(second))))
      }
      if operations.count > 4096 || second == seconds {
        let batch = operations
        operations = []
        let result = await withCheckedContinuation { done in store.commit(batch) { done.resume(returning: $0) } }
        try result.get()
      }
    }
    return Int(position) - 1
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
      listener: ZeroMQListener(control: place.control, events: place.events),
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
