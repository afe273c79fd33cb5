import Foundation
import GRDB
import RunBus
import Testing
import TestSupport

/// A phone and a watch that press while a call on the files of one of them fails. Then that node is started again
/// without the fault, everything is judged, and the stores are checked.
struct FailingWriteRun {
  let fault: FailingWrite
  private(set) var crew: Crew
  private let calls: FailingCalls
  /// How many calls of each kind the life had in which one was to fail.
  private(set) var counts: [FailingWrite.Kind: Int] = [:]
  /// Whether that life was long enough for the call.
  private(set) var hasFailed = false
  /// How that life ended.
  private(set) var ending: NodeProcess.Ending?
  /// Violations that the account does not cover.
  private(set) var complaints: [String] = []

  init(_ bus: TestBus, _ fault: FailingWrite) async throws {
    self.fault = fault
    calls = try await FailingCalls(on: bus)
    crew = try Crew(bus, debounce: 20)
    crew.members = Array(crew.members.prefix(2))
  }

  private var subject: Int { fault.node }
  private var other: Int { fault.node == Crew.phone ? Crew.watch : Crew.phone }
  private var mayBeDamaged: Bool { fault.life == .damaged }

  /// Plays the fault on a bus of its own.
  static func play(_ fault: FailingWrite) async throws -> (run: FailingWriteRun, account: CrewAccount) {
    try await withTestBus { bus in
      var run = try await FailingWriteRun(bus, fault)
      try await run.run()
      return (run, try CrewAccount(run.crew, mayBeginAnew: run.mayBeDamaged))
    }
  }

  private mutating func run() async throws {
    if fault.life != .first { try await liveBefore() }
    crew.members[subject].environment = calls.environment(fault, store: crew.members[subject].store)
    crew.spawn(subject)
    if fault.life == .first { crew.spawn(other) }
    try await press()
    try await end()
    (counts, hasFailed) = try calls.read()

    crew.members[subject].environment = [:]
    crew.spawn(subject)
    try await crew.areInTouch()
    try await crew.drain()
    try await crew.agree()
    try await crew.end()
    for member in crew.members where !(mayBeDamaged && member.device == crew.members[subject].device) {
      let files = try FileManager.default.contentsOfDirectory(atPath: member.store)
      if files.contains(where: { $0.hasPrefix("damaged-") }) {
        complaints.append("the store of \(member.device) was set aside: \(member.lives.last?.view.errors ?? [])")
      }
    }
  }

  /// The node has a life, and is killed with commits in its log.
  private mutating func liveBefore() async throws {
    for index in crew.members.indices { crew.spawn(index) }
    try await crew.areInTouch()
    for (kind, index) in [(CommandKind.start, other), (.lap, subject), (.pause, other), (.resume, subject)] {
      crew.press(kind, on: index)
      try await settle(index)
    }
    try await crew.kill(subject)
    guard mayBeDamaged else { return }
    try damage(crew.members[subject].store + "/node.sqlite")
  }

  /// Damages the page of a table that is empty, so that no row is lost with it.
  private func damage(_ path: String) throws {
    let copy = path + ".copy"
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    let tables = try DatabaseQueue(path: copy)
    let (page, size) = try tables.read { db in
      (
        try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'quarantine'"),
        try Int.fetchOne(db, sql: "PRAGMA page_size")
      )
    }
    try tables.close()
    for suffix in ["", "-wal", "-shm"] { unlink(copy + suffix) }
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.seek(toOffset: UInt64((try #require(page) - 1) * (try #require(size))))
    try file.write(contentsOf: [UInt8](repeating: 255, count: 8))
    try file.close()
  }

  private mutating func press() async throws {
    let presses: [(CommandKind, Int)] = [
      (.start, Crew.watch), (.pause, Crew.phone), (.resume, Crew.watch), (.lap, Crew.phone), (.lap, Crew.watch),
      (.stop, Crew.phone),
    ]
    for (kind, index) in presses {
      crew.press(kind, on: index)
      try await settle(index)
    }
    // What the other one has pressed is at least kept there.
    let (crew, other) = (crew, other)
    try await lookFor("\(fault): presses that \(crew.members[other].device) keeps") {
      crew.isKept(on: other)
    }
  }

  /// Waits until a node has told the verdicts of its presses, or the faulty one has ended or takes nothing for ever.
  private func settle(_ index: Int) async throws {
    let (crew, fault) = (crew, fault)
    try await lookFor("\(fault): verdicts on \(crew.members[index].device)") {
      let view = crew.members[fault.node].process.view
      if view.ending != nil { return true }
      if fault.mode == .ever, view.errors.contains(where: { $0.contains("takes nothing now") }) { return true }
      return crew.isJudged(on: index)
    }
  }

  /// Ends the life in which a call fails.
  private mutating func end() async throws {
    let process = crew.members[subject].process
    let hasEnded = process.view.ending != nil
    if !hasEnded { process.signal(fault.endsByKill ? SIGKILL : SIGTERM) }
    let ending = try await process.ending()
    self.ending = ending
    let (mayBeKilled, mayEnd) = (
      [.cut, .kill].contains(fault.mode) || !hasEnded && fault.endsByKill, !hasEnded && !fault.endsByKill
    )
    let errors = process.view.errors
    switch ending {
    case .signaled(SIGKILL) where mayBeKilled: break
    case .exited(0) where mayEnd: break
    // The last line says why.
    case .exited(let status) where status > 0 && errors.last?.isEmpty == false: break
    default: complaints.append("\(crew.members[subject].device) ended: \(ending), \(errors)")
    }
  }
}

extension Crew {
  /// Whether every press of a node's present process is durable.
  fileprivate func isKept(on index: Int) -> Bool {
    let (member, view) = (members[index], members[index].process.view)
    return Set(view.stages(member.promise)).union(view.refused).count >= member.written
  }

  /// Whether every press of a node's present process is durable and has a verdict.
  fileprivate func isJudged(on index: Int) -> Bool {
    let (member, view) = (members[index], members[index].process.view)
    let judged = Set(view.json.filter { $0["event"]?.string == "verdict" }.compactMap { $0["commandId"] })
    return isKept(on: index) && judged.isSuperset(of: view.stages(member.promise))
  }
}

extension NodeProcess.View {
  /// The presses that were refused because a disk is far behind.
  fileprivate var refused: Set<JSONValue> {
    let busy = json.filter { $0["event"]?.string == "verdict" && $0["reason"]?.string == "busy" }
    return Set(busy.compactMap { $0["commandId"] })
  }
}
