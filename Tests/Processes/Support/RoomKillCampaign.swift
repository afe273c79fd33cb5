import Foundation
import RunBus
import RunScripts
import Synchronization
import Testing
import TestSupport

/// Rooms in a row, while their phones are killed at any moment and start again at once. A seed decides who is killed when.
///
/// Every room is played to its complete result; then all phones and the file must have the same room, the phones must have
/// told every verdict once, and at the end each phone has one record of each run.
final class RoomKillCampaign: Sendable {
  /// The parameters of a campaign.
  struct Plan: Sendable {
    var kills: Int
    var seed: UInt64
  }

  /// What became of it.
  struct Account: Sendable {
    var rooms = 0
    /// The kills by the stage at which the room was.
    var kills: [String: Int] = [:]
    var (lost, twice) = (0, 0)
    /// Further versions of records.
    var amended = 0
    /// Runs that a phone has slept through, because it was never up for long enough: it says so in the room.
    var missed = 0
    var entries = 0
    /// Entries that came again after a kill, and changed nothing.
    var repeats = 0
    var differences: [String] = []

    mutating func add(_ other: Account) {
      rooms += other.rooms
      kills.merge(other.kills, uniquingKeysWith: +)
      lost += other.lost
      missed += other.missed
      twice += other.twice
      amended += other.amended
      entries += other.entries
      repeats += other.repeats
      differences += other.differences
    }
    var killCount: Int { kills.values.reduce(0, +) }
  }

  private struct State {
    var generator: SeededGenerator
    var stage = "none"
    var isCalm = false
    var account = Account()
    var isOver = false
    /// The runs of which a phone has said in the room that they were none.
    var missed: Set<RunID> = []
  }
  /// A hub follows 16 rooms, and forgets none in its first day.
  private static let roomsMax = 8

  private let phones: RoomPhones
  private let kills: Int
  private let state: Mutex<State>

  private init(_ bus: TestBus, kills: Int, seed: UInt64) {
    phones = RoomPhones(bus)
    self.kills = kills
    state = Mutex(State(generator: SeededGenerator(seed: seed)))
  }

  /// Plays a plan, on as many fleets as it needs, and prints the result.
  static func play(_ plan: Plan) async throws -> Account {
    var account = Account()
    let began = ContinuousClock.now
    var fleets: UInt64 = 0
    while account.killCount < plan.kills {
      let (left, seed) = (plan.kills - account.killCount, plan.seed &+ fleets)
      let part = try await withTestBus { bus in
        let campaign = RoomKillCampaign(bus, kills: left, seed: seed)
        try await campaign.run()
        return campaign.state.withLock { $0.account }
      }
      account.add(part)
      fleets += 1
    }
    let stages = account.kills.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    print(
      "kills \(account.killCount) (\(stages)), rooms \(account.rooms), entries \(account.entries), "
        + "repeated after a kill \(account.repeats), runs slept through \(account.missed), "
        + "records amended \(account.amended), entries lost \(account.lost), counted twice \(account.twice), "
        + "else wrong \(account.differences.count), "
        + "in \((ContinuousClock.now - began).formatted(.time(pattern: .minuteSecond))), seed \(plan.seed)")
    return account
  }

  private func roll(_ count: Int) -> Int { state.withLock { Int($0.generator.next() % UInt64(count)) } }

  private func run() async throws {
    for index in phones.indices { phones.spawn(index) }
    for index in phones.indices { try await phones.isUp(index) }
    var runs: [RoomID: [MemberID]] = [:]
    let whereabouts = Task { [phones] in await phones.sayWhere() }
    let killer = Task { try await self.killAlways() }
    do {
      for number in 0..<Self.roomsMax {
        let (room, members) = try await play(number)
        runs[room] = members
        if state.withLock({ $0.account.killCount }) >= kills { break }
      }
    } catch {
      killer.cancel()
      whereabouts.cancel()
      throw error
    }
    state.withLock { $0.isOver = true }
    try await killer.value
    whereabouts.cancel()
    let records = try await phones.end()
    check(records, runs)
  }

  // MARK: Kills

  private func killAlways() async throws {
    while !state.withLock({ $0.isOver || $0.account.killCount >= kills }) {
      // The pace of the kills, here and below; not a wait for an event.
      try await Task.sleep(for: .milliseconds(roll(600)))
      guard !state.withLock({ $0.isCalm || $0.isOver }) else { continue }
      let index = roll(phones.indices.count)
      // One in four is killed while it starts.
      if roll(4) > 0 { try await phones.isUp(index) }
      try await Task.sleep(for: .milliseconds(roll(60)))
      guard !state.withLock({ $0.isCalm || $0.isOver }) else { continue }
      try await phones.kill(index)
      state.withLock { $0.account.kills[$0.stage, default: 0] += 1 }
    }
  }

  // MARK: A room

  private func play(_ number: Int) async throws -> (RoomID, [MemberID]) {
    phones.forgetTold()
    state.withLock { ($0.stage, $0.isCalm) = ("none", false) }
    let gathers = number.isMultiple(of: 2)
    phones.place(atStart: gathers)
    let terms = RoomTerms(
      goal: .seconds(150), speed: RoomPhones.speed, places: phones.indices.count, countdown: .seconds(3),
      start: gathers ? RunnersPlan.start : nil)
    let (room, verdict) = try await phones.ask(0, .open(terms))
    #expect(verdict == .opened)
    state.withLock { $0.stage = "recruiting" }
    try await phones.ask(phones.indices.dropFirst(), .enter(room))
    // Half of the rooms are held once.
    var holds = roll(2)
    repeat {
      try await phones.ask(phones.indices, .ready(true))
      #expect(try await phones.ask(0, .begin).verdict == .begun)
      if gathers {
        repeat {
          try await until("all at the start", in: room) { $0.state.notHere.isEmpty || $0.state.stage != .gathering }
        } while try await phones.ask(0, .proceed).verdict != .begun
      }
      state.withLock { $0.stage = "countdown" }
      guard holds > 0 else { break }
      holds -= 1
    } while try await phones.ask(roll(phones.indices.count), .hold).verdict == .held
    // Who runs is not at the start any more.
    phones.place(atStart: false)
    try await until("the end of the run", in: room) { report in
      if case .settling = report.state.stage { true } else { false }
    }
    try await until("the complete result", in: room) { RoomResult($0.state)?.standing == .complete }
    state.withLock { $0.isCalm = true }
    return (room, try await compare(room))
  }

  /// Waits until the room is so in the log's file.
  private func until(_ what: String, in room: RoomID, _ isSo: (RoomReport) -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while true {
      if let report = try await RoomFolds.fold(room, of: phones.log, fleet: phones.fleet) {
        state.withLock { $0.stage = String("\(report.state.stage)".prefix { $0 != "(" }) }
        if isSo(report) { return }
      }
      guard ContinuousClock.now < deadline else { throw DeadlineMissed(what: what) }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// Compares all phones with each other and with the file. Returns the members.
  private func compare(_ room: RoomID) async throws -> [MemberID] {
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      let views = await phones.views(of: room)
      let entries = try await RoomFolds.entries(of: room, in: phones.log, fleet: phones.fleet)
      let hasAll = views.allSatisfy { $0.report?.count == UInt64(entries.count) }
      guard hasAll || ContinuousClock.now > deadline else {
        try await Task.sleep(for: .milliseconds(100))
        continue
      }
      let verdicts = try await RoomFolds.verdicts(in: room, of: phones.log, fleet: phones.fleet)
      let log = RunnersLog(count: UInt64(entries.count), digest: entries.last?.digest, verdicts: verdicts)
      let differences = RunnersAgreement.differences(of: views, log: log)
      let counts = Self.count(entries)
      state.withLock { state in
        state.account.rooms += 1
        state.account.entries += entries.count
        state.account.repeats += counts.repeats
        state.account.differences += differences
        for view in views {
          guard let me = view.report?.me else { continue }
          let record = view.report?.state.member(me)?.record
          if record?.elapsed == .zero { state.missed.insert(RunID.made(room: room, member: me)) }
          let (told, judged) = (view.told.count, verdicts[me]?.count ?? 0)
          let versions = counts.records[me] ?? [:]
          state.account.lost += max(0, told - judged) + (versions.isEmpty ? 1 : 0)
          state.account.twice += max(0, judged - told) + versions.values.reduce(0) { $0 + $1 - 1 }
          state.account.amended += max(0, versions.count - 1)
        }
      }
      return views.compactMap(\.report?.me)
    }
  }

  /// How often each version of each member's record counts, and how many entries came again. A phone that comes back
  /// states what has changed as another version, which replaces the one before.
  private static func count(_ entries: [ReadEntry]) -> (records: [MemberID: [UInt32: Int]], repeats: Int) {
    var (machine, records, repeats) = (RoomMachine(), [MemberID: [UInt32: Int]](), 0)
    for read in entries {
      switch machine.apply(read.entry, digest: read.digest) {
      case .verdict(.noted):
        guard case .record(let record) = read.entry.ask else { break }
        records[read.entry.author, default: [:]][record.version, default: 0] += 1
      case .known: repeats += 1
      case .verdict, .gap, .leftOut: break
      }
    }
    return (records, repeats)
  }

  /// Each phone has one record of each of its runs.
  private func check(_ records: [[String]], _ runs: [RoomID: [MemberID]]) {
    state.withLock { state in
      for (room, members) in runs.sorted(by: { $0.key < $1.key }) {
        for (index, member) in members.enumerated() {
          let run = RunID.made(room: room, member: member)
          let count = records[index].count { $0 == "\(run)" }
          if count == 0, state.missed.contains(run) {
            state.account.missed += 1
          } else if count == 0 {
            state.account.lost += 1
          }
          state.account.twice += max(0, count - 1)
        }
      }
      let count = records.reduce(0) { $0 + $1.count }
      if count + state.account.missed != runs.count * phones.indices.count {
        state.account.differences.append("\(count) records of \(runs.count) rooms")
      }
    }
  }
}
