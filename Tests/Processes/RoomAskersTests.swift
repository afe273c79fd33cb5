import Foundation
import RunBus
import Testing
import TestSupport

// Serialized and with all cores of the machine, because it measures.
@Suite("Many ask at once for the last place in a room", .serialized)
struct RoomAskersTests {
  /// `make soak ASKERS=20` plays so many rounds with a hundred askers, in a release build. All of them read what each of
  /// them writes, which takes minutes in a debug build: `make test` has twenty.
  private static let soak = ProcessInfo.processInfo.environment["RUNBUS_SOAK_ASKERS"].flatMap { Int($0) }
  private static let (rounds, processes, hubs) = (soak ?? 1, 4, soak == nil ? 5 : 25)

  @Test("One enters and the others are told that it is full, and all have the same room")
  func askers() async throws {
    try await withTestBus { bus in
      func askers(_ name: String, _ count: Int) -> NodeProcess {
        bus.spawn(executable: TestBus.program("askers"), ["--name", name, "--count", "\(count)"])
      }
      let owner = askers("owner", 1)
      let crowd = (0..<Self.processes).map { askers(["a", "b", "c", "d"][$0], Self.hubs) }
      for process in [owner] + crowd { try await process.event("its hubs") { $0["event"]?.string == "ready" } }
      var line = AskersLine()
      for _ in 0..<Self.rounds { try await play(owner, crowd, bus, &line) }
      print(line)
      #expect(line.entered == Self.rounds)
      #expect(line.full == Self.rounds * (Self.processes * Self.hubs - 1))
      #expect(line.others == [:])
      for process in [owner] + crowd {
        process.closeInput()
        #expect(try await process.ending() == .exited(0), "\(process.view.errors)")
      }
    }
  }

  private func play(_ owner: NodeProcess, _ crowd: [NodeProcess], _ bus: TestBus, _ line: inout AskersLine) async throws
  {
    let from = owner.view.json.count
    owner.write("open 2")
    let opened = try await owner.event("an open room", from: from) { $0["verdict"]?.string == "opened" }
    let room = try #require(opened["room"]?.string.flatMap { RoomID($0) })
    let places = crowd.map(\.view.json.count)
    // Late enough for every process to have read the order.
    let moment = Loop.now + .milliseconds(300)
    for process in crowd { process.write("enter \(room) \(moment.nanoseconds)") }
    var spans: [Int] = []
    for (process, place) in zip(crowd, places) {
      let verdicts = try await process.wait(for: "all verdicts") { view -> [JSONValue]? in
        let verdicts = view.json.dropFirst(place).filter { $0["event"]?.string == "verdict" }
        return verdicts.count == Self.hubs ? verdicts : nil
      }
      for verdict in verdicts { line.note(verdict["verdict"]?.string ?? "none") }
      spans += verdicts.compactMap { $0["after"]?.int }
    }
    line.note(spans)
    try await agree(on: room, [owner] + crowd, bus) { reports in
      #expect(Set(reports.map { $0["digest"]?.string }).count == 1)
      #expect(Set(reports.map { $0["roster"]?.array?.compactMap(\.string) }).count == 1)
      #expect(reports.allSatisfy { $0["roster"]?.array?.count == 2 })
    }
    owner.write("cancel")
    // Who is in a room enters no other: all have to know that it is over.
    try await agree(on: room, [owner] + crowd, bus) { reports in
      #expect(reports.allSatisfy { $0["stage"]?.string == "cancelled" })
    } until: {
      $0.allSatisfy { $0["stage"]?.string == "cancelled" }
    }
  }

  /// Waits until all hubs have read the log of a room to its end, and the log is as long as before; then compares them with
  /// each other and with the log.
  private func agree(
    on room: RoomID, _ processes: [NodeProcess], _ bus: TestBus, _ compare: ([JSONValue]) -> Void,
    until isSo: ([JSONValue]) -> Bool = { _ in true }
  ) async throws {
    let environment = ["XDG_STATE_HOME": bus.stateDirectory, "XDG_RUNTIME_DIR": bus.runtimeDirectory]
    let place = LogPlace("crew", environment: environment)
    let log = SQLiteLog(place)
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      let fold = try #require(try await RoomFolds.fold(room, of: log, fleet: .made(name: "crew")))
      let reports = try await look(at: room, processes)
      if reports.allSatisfy({ $0["count"]?.int == Int(fold.count) }), isSo(reports) {
        compare(reports)
        #expect(reports.allSatisfy { $0["digest"]?.string == fold.digest?.description })
        break
      }
      guard ContinuousClock.now < deadline else { throw DeadlineMissed(what: "one room for all hubs") }
      try await Task.sleep(for: .milliseconds(50))
    }
    await log.close()
  }

  private func look(at room: RoomID, _ processes: [NodeProcess]) async throws -> [JSONValue] {
    let places = processes.map(\.view.json.count)
    for process in processes { process.write("look \(room)") }
    var reports: [JSONValue] = []
    for (process, place) in zip(processes, places) {
      let count = process.arguments.last.flatMap { Int($0) } ?? 0
      reports += try await process.wait(for: "how it sees the room") { view -> [JSONValue]? in
        let reports = view.json.dropFirst(place).filter { $0["event"]?.string == "room" }
        return reports.count == count ? reports : nil
      }
    }
    return reports
  }
}

/// What became of all rounds, as one line.
private struct AskersLine: CustomStringConvertible {
  private(set) var (entered, full) = (0, 0)
  private(set) var others: [String: Int] = [:]
  private var last: [Int] = []
  private var all: [Int] = []

  mutating func note(_ verdict: String) {
    switch verdict {
    case "entered": entered += 1
    case "full": full += 1
    default: others[verdict, default: 0] += 1
    }
  }
  /// The spans until the verdicts of a round, nanoseconds.
  mutating func note(_ spans: [Int]) {
    all += spans
    last.append(spans.max() ?? 0)
  }

  var description: String {
    func milliseconds(_ spans: [Int], _ part: Double) -> String {
      let sorted = spans.sorted()
      return sorted.isEmpty ? "-" : "\(sorted[Int(Double(sorted.count - 1) * part)] / 1_000_000) ms"
    }
    return "rounds \(last.count), askers \(all.count), entered \(entered), full \(full), "
      + "else \(others.values.reduce(0, +)), one digest each, a verdict p50 \(milliseconds(all, 0.5)), "
      + "the last of a round p50 \(milliseconds(last, 0.5)), max \(milliseconds(last, 1))"
  }
}
