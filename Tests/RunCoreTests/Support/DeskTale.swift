import Testing

@testable import RunCore

/// A hub's desk, a disk, and a log that a test writes. The hub's clock and the log's are the same but for 1,000 s.
final class DeskTale {
  static let room = RoomID(high: 41, low: 1)
  static let run = RunID(high: 41, low: 2)
  static let nonce = RoomNonce(high: 41, low: 3)

  var now = BusTime.zero + .seconds(10)
  private(set) var desk: TogetherDesk
  private(set) var rows: [RoomRow] = []
  private(set) var log: [ReadEntry] = []
  /// The reading that is on, and from where its next entries are.
  private(set) var reading: RoomReading?
  private var from: UInt64 = 0
  /// The digest after what this reading has read.
  private var digest: LogHash?
  /// What the desk wanted appended since that was last taken.
  private(set) var sent: [RoomContent] = []
  private(set) var presses: [(press: RoomPress, at: BusTime)] = []
  private(set) var answers: [RoomAnswer] = []
  private(set) var measured: [StandingUse] = []
  private(set) var warnings: [RoomWarning] = []
  /// When the desk wanted the log compared with what it had read.
  private(set) var proofs: [BusTime] = []
  /// By how much the log's clock has jumped ahead.
  var jump = BusDuration.zero
  /// What the runner's run measures.
  var decimetres: Int? = 3000
  private var numbers: [MemberID: UInt64] = [:]

  static let settings = TogetherDesk.Settings(
    fleet: FleetID(high: 0, low: 1), member: .anna, card: .card("Anna"))

  init() {
    desk = TogetherDesk(Self.settings)
    carryOut(desk.start())
  }

  /// Anna's room with Ben, both ready, and the countdown of 5 s read; the log has five entries.
  static var counting: DeskTale {
    let tale = DeskTale()
    tale.asks(.open(RoomTerms(goal: .seconds(600))))
    tale.takes()
    tale.hears(.ben, .enter(.card("Ben"), metres: nil, seek: nil))
    tale.asks(.ready(true))
    tale.takes()
    tale.hears(.ben, .ready(true))
    tale.asks(.begin)
    tale.takes()
    return tale
  }
  /// The same in the second second of the run.
  static var running: DeskTale {
    let tale = counting
    tale.passes(to: 18)
    tale.takes()
    return tale
  }

  var state: RoomState { desk.room(Self.room, at: now)!.state }
  /// The room as a stranger has it who reads what the log has now.
  var stranger: RoomMachine {
    var machine = RoomMachine()
    for read in log { _ = machine.apply(read.entry, digest: read.digest) }
    return machine
  }
  var logTime: LogTime { LogTime(nanoseconds: now.nanoseconds) + .seconds(1000) + jump }
  /// The numbers of what the desk wanted appended, without repetitions.
  var sentNumbers: [UInt64] { sent.map(\.number).reduce(into: []) { if $0.last != $1 { $0.append($1) } } }

  /// The runner asks.
  func asks(_ wish: RoomAsk.Wish) {
    let keys = RoomKeys(room: Self.room, nonce: Self.nonce, run: Self.run)
    let id = Identifier<RoomAskTag>(high: 7, low: UInt64(rows.count + answers.count + 1))
    carryOut(desk.ask(RoomAsk(id: id, wish: wish), keys: keys, isRunOn: false, at: now))
    // An ask to open or to enter waits until the log was read.
    reads()
  }

  /// Lets time pass in tenths of a second, to a second.
  func passes(to second: Int64) {
    while now < .zero + .seconds(second) {
      now = now + .milliseconds(100)
      carryOut(desk.act(at: now))
    }
  }

  /// The log takes what was sent, and the hub reads it.
  ///
  /// - Parameter ahead: How far the times that it gives are ahead of what it says that its clock is.
  func takes(ahead: BusDuration = .zero) {
    while let content = sent.first {
      sent.removeAll { $0.number == content.number }
      append(content, ahead: ahead)
      reads()
    }
  }
  /// Nothing of what was sent reaches the log.
  func losesSent() { sent = [] }

  /// The log has an entry of another, and the hub reads it.
  ///
  /// - Parameter ahead: How far the entry's time is ahead of the log's clock.
  func hears(_ author: MemberID, _ ask: RoomAskKind, number: UInt64? = nil, ahead: BusDuration = .zero) {
    let number = number ?? numbers[author, default: 0] + 1
    numbers[author] = max(numbers[author, default: 0], number)
    append(
      RoomContent(fleet: Self.settings.fleet, room: Self.room, author: author, number: number, ask: ask), ahead: ahead)
    reads()
  }

  /// The log has so many entries only, and tells its reader.
  func loses(after count: Int) {
    log.removeLast(log.count - count)
    if let reading { carryOut(desk.replaced(Self.room, reading: reading.number)) }
    reads()
  }

  /// Somebody changes what the log has, and nobody is told.
  func tampers(_ change: (inout [ReadEntry]) -> Void) {
    change(&log)
    for place in log.indices {
      log[place].digest = Self.digest(after: place > 0 ? log[place - 1].digest : nil, log[place])
    }
  }

  /// The digest that the log has now after the last entry up to a position.
  private func digest(through position: UInt64) -> LogHash {
    log.last { $0.entry.position <= position }?.digest ?? .number(0)
  }
  private static func digest(after last: LogHash?, _ read: ReadEntry) -> LogHash {
    let (position, time) = (read.entry.position, UInt64(bitPattern: read.entry.time.nanoseconds))
    return .number((last?.prefix ?? 0) &* 31 ^ read.hash.prefix ^ position ^ time &* 5)
  }

  /// The hub ends, and begins again with what is durable.
  func dies() {
    desk = TogetherDesk(Self.settings, rows: [Self.room: rows])
    (sent, reading) = ([], nil)
    carryOut(desk.start())
  }

  func reads() {
    guard let reading else { return }
    var fresh = LogStamps.believed(log.filter { $0.entry.position >= from }, by: logTime)
    for place in fresh.indices {
      let isKnown = digest == nil && reading.digest != nil && fresh[place].entry.position == reading.from
      digest = isKnown ? reading.digest : Self.digest(after: digest, fresh[place])
      fresh[place].digest = digest ?? fresh[place].digest
    }
    if let last = fresh.last { from = last.entry.position + 1 }
    carryOut(desk.read(Self.room, fresh, isEnd: true, reading: reading.number, heard: now, at: now))
    // A reading that this began.
    if reading != self.reading { reads() }
  }

  /// What an earlier reading still brings.
  func reads(_ entries: [ReadEntry], of reading: RoomReading) {
    carryOut(desk.read(Self.room, entries, isEnd: true, reading: reading.number, heard: now, at: now))
  }

  /// A comparison of the log comes to its end.
  func answers(_ reading: RoomReading, found: LogHash) {
    carryOut(desk.proved(Self.room, reading, found: found, at: now))
  }

  func resumes(startedAt: BusTime, isOn: Bool) {
    carryOut(desk.resumed(Self.run, startedAt: startedAt, isOn: isOn, at: now))
  }
  func amends(_ change: TogetherDesk.RecordChange) { carryOut(desk.amended(Self.run, change, at: now)) }

  private func append(_ content: RoomContent, ahead: BusDuration = .zero) {
    let position = (log.last?.entry.position ?? 0) + 1
    var sum: UInt64 = 5381
    for byte in String(describing: content).utf8 { sum = sum &* 33 ^ UInt64(byte) }
    var read = ReadEntry(
      entry: RoomEntry(
        position: position, time: logTime + ahead, author: content.author, number: content.number,
        seen: content.seen, ask: content.ask, ownsRoom: content.nonce == Self.nonce),
      hash: .number(sum), digest: .number(0))
    read.digest = Self.digest(after: log.last?.digest, read)
    log.append(read)
  }

  private func carryOut(_ actions: [DeskAction]) {
    for action in actions {
      switch action {
      case .keep(_, let rows, let receipt):
        self.rows += rows
        carryOut(desk.kept(receipt, at: now))
      case .forget: rows = []
      case .follow(_, let reading): (self.reading, from, digest) = (reading, reading.from, nil)
      case .unfollow: reading = nil
      case .append(let content): sent.append(content)
      case .answer(_, let answer): answers.append(answer)
      case .press(let press, let age): presses.append((press, now - age))
      case .measure(let room, let run, _, let use):
        measured.append(use)
        let standing = RunStanding(run: run, phase: .completed, elapsed: .seconds(600), decimetres: decimetres)
        carryOut(desk.measured(room, standing, for: use, at: now))
      case .prove(let room, let reading):
        proofs.append(now)
        carryOut(desk.proved(room, reading, found: digest(through: reading.from), at: now))
      case .warn(_, let warning): warnings.append(warning)
      case .event, .listen, .shout, .cue, .show, .seek, .key, .advertise: break
      }
    }
  }
}
