import Testing

@testable import RunCore

/// What a hub does in a room by itself.
@Suite("The duties of a hub in a room")
struct DeskDutyTests {
  @Test("What is known of the log's clock goes by the moment of the bell, not by that of the read")
  func bell() throws {
    var stage = DeskStage(.plain)
    stage.bellAfter = .milliseconds(2)
    stage.readAfter = .milliseconds(800)
    stage.ask(.open(stage.terms))
    let estimate = try #require(stage.desk.clock.estimate(at: stage.now))
    #expect(estimate.error < .milliseconds(2))
    let right = LogTime(nanoseconds: stage.now.nanoseconds) + stage.ahead
    #expect(abs((estimate.now - right).nanoseconds) <= estimate.error.nanoseconds)
  }

  @Test("A runner is at the start within 100 m of it, and not any more beyond 120 m")
  func here() {
    var stage = DeskStage(.atTheLake)
    stage.ask(.open(stage.terms))
    stage.writes(.ben, .comes("Ben"))
    stage.ask(.ready(true))
    stage.writes(.ben, .ready(true))
    stage.ask(.begin)
    #expect(stage.state.stage == .gathering)
    for (metres, isHere) in [(900.0, false), (105, false), (95, true), (105, true), (115, true), (125, false)] {
      stage.moves(to: metres)
      #expect(stage.state.member(.anna)?.isHere == isHere, "\(metres) m")
    }
  }

  @Test("A fix says for 30 s where the runner is")
  func fixEnds() {
    var stage = DeskStage(.atTheLake)
    stage.ask(.open(stage.terms))
    stage.writes(.ben, .comes("Ben"))
    stage.ask(.ready(true))
    stage.writes(.ben, .ready(true))
    stage.moves(to: 50)
    stage.ask(.begin)
    #expect(stage.state.member(.anna)?.isHere == true)
    stage.passes(.seconds(29))
    #expect(stage.state.member(.anna)?.isHere == true)
    stage.passes(.seconds(2))
    #expect(stage.state.member(.anna)?.isHere == false)
  }

  @Test("The room's start and stop are pressed once, at their moments, and the record is stated once")
  func presses() throws {
    var stage = DeskStage(.plain)
    stage.ask(.open(stage.terms))
    stage.writes(.ben, .comes("Ben"))
    stage.ask(.ready(true))
    stage.writes(.ben, .ready(true))
    stage.ask(.begin)
    guard case .countdown(let startsAt) = stage.state.stage else {
      Issue.record("no countdown: \(stage.state.stage)")
      return
    }
    stage.passes(.seconds(300))
    let starts = stage.presses.filter { if case .start = $0.press { true } else { false } }
    let stops = stage.presses.filter { if case .stop = $0.press { true } else { false } }
    #expect(starts.count == 1 && stops.count == 1)
    let start = LogTime(nanoseconds: try #require(starts.first).at.nanoseconds) + stage.ahead
    let stop = LogTime(nanoseconds: try #require(stops.first).at.nanoseconds) + stage.ahead
    #expect(abs((start - startsAt).nanoseconds) < 5_000_000)
    #expect(abs((stop - (startsAt + stage.terms.span)).nanoseconds) < 5_000_000)
    let records = stage.written.filter { if case .record = $0.ask { true } else { false } }
    #expect(records.count == 1)
  }

  @Test("An entry that the log does not show is appended again, ever less often, and at last every 8 to 16 s")
  func again() {
    var stage = DeskStage(.plain)
    stage.isLogMute = true
    stage.ask(.open(stage.terms))
    #expect(stage.written.count == 1)
    stage.passes(.seconds(120))
    #expect((10...18).contains(stage.written.count), "\(stage.written.count)")
    #expect(Set(stage.written).count == 1)
    stage.isLogMute = false
    stage.passes(.seconds(16))
    #expect(stage.answers.contains(.judged(stage.room, .opened)))
  }

  @Test("A room that could not be entered makes way for others")
  func spareRooms() {
    var stage = DeskStage(.plain)
    for number in 1...UInt64(3 * TogetherDesk.roomsMax) {
      stage.ask(.enter(Parts.room(number)))
      #expect(stage.answers.last == .refused(.unknownRoom), "room \(number)")
    }
    #expect(stage.desk.followed.count <= TogetherDesk.roomsMax)
    stage.ask(.open(stage.terms))
    #expect(stage.answers.contains(.judged(stage.room, .opened)))
  }

  @Test("A room is kept for three days after its end, and then forgotten by a desk that goes on")
  func forgets() {
    var stage = DeskStage(.plain)
    stage.ask(.open(stage.terms))
    stage.ask(.cancel)
    #expect(stage.state.stage.isEnd)
    stage.passes(.seconds(71 * 3600))
    #expect(stage.desk.followed == [stage.room])
    stage.passes(.seconds(2 * 3600))
    #expect(stage.desk.followed == [])
  }

  @Test("An entry is appended only once it is durable, and told only once its verdict is")
  func durable() throws {
    var stage = DeskStage(.plain)
    stage.holdsCommits = true
    stage.ask(.open(stage.terms))
    #expect(stage.written.isEmpty && stage.answers.isEmpty)
    stage.commitOne()
    stage.commitOne()
    #expect(stage.written.count == 1)
    #expect(!stage.answers.contains { if case .judged = $0 { true } else { false } })
    while stage.commitOne() {}
    #expect(stage.answers.last == .judged(stage.room, .opened))
  }
}

/// The desk of Anna, with a log and a store that answer at once, or when the test says so. Ben writes what the test says.
private struct DeskStage {
  let room = Parts.room(1)
  let terms: RoomTerms
  /// The log's clock is so far ahead of Anna's.
  let ahead = BusDuration.seconds(1000)
  /// How long after the append the bell is heard, and how long after it the entry is read.
  var (bellAfter, readAfter) = (BusDuration.milliseconds(1), BusDuration.milliseconds(1))
  /// Whether commits wait for ``commitOne()``.
  var holdsCommits = false
  /// Whether appends are lost.
  var isLogMute = false

  private(set) var now = BusTime.zero + .seconds(5000)
  private(set) var desk = TogetherDesk(
    TogetherDesk.Settings(fleet: FleetID(high: 0, low: 1), member: .anna, card: .card("Anna")))
  private(set) var presses: [(press: RoomPress, at: BusTime)] = []
  private(set) var answers: [RoomAnswer] = []
  /// What Anna's hub has appended.
  private(set) var written: [RoomContent] = []
  private var reading: UInt64 = 0
  private var commits: [DeskReceipt] = []
  private var pair = RoomPair()
  private var asks: UInt64 = 0

  init(_ terms: RoomTerms) {
    self.terms = terms
    carryOut(desk.start())
  }

  var state: RoomState { desk.machine(of: room)?.state ?? RoomState() }

  mutating func ask(_ wish: RoomAsk.Wish) {
    asks += 1
    var entered = room
    if case .enter(let other, _) = wish { entered = other }
    let keys = RoomKeys(room: entered, nonce: RoomNonce(high: 1, low: 1), run: Parts.run(1))
    let ask = RoomAsk(id: Identifier(high: 0, low: asks), wish: wish)
    carryOut(desk.ask(ask, keys: keys, isRunOn: false, at: now))
  }

  /// Another member's next entry.
  mutating func writes(_ author: MemberID, _ ask: RoomAskKind) { log(author, ask, number: nil) }

  /// Anna is so many metres north of the start.
  mutating func moves(to metres: Double) {
    let fix = TogetherDesk.Fix(latitude: 52.52 + metres / 111_270, longitude: 13.405)
    carryOut(desk.moved(to: fix, at: now))
  }

  /// Lets time pass, and the desk do what is due meanwhile.
  mutating func passes(_ span: BusDuration) {
    let end = now + span
    var steps = 0
    while let due = desk.deadline(at: now), due <= end, steps < 1000 {
      now = max(now, due)
      carryOut(desk.act(at: now))
      steps += 1
    }
    now = max(now, end)
  }

  /// Makes what waits first durable; returns whether something waited.
  @discardableResult
  mutating func commitOne() -> Bool {
    guard !commits.isEmpty else { return false }
    carryOut(desk.kept(commits.removeFirst(), at: now))
    return true
  }

  private mutating func log(_ author: MemberID, _ ask: RoomAskKind, number: UInt64?) {
    let entry = pair.entry(author, ask, at: LogTime(nanoseconds: now.nanoseconds) + ahead, number: number)
    _ = pair.hear(entry)
    let heard = now + bellAfter
    now = heard + readAfter
    let read = ReadEntry(
      entry: entry, hash: .number(pair.count), digest: RoomPair.digest(after: pair.count))
    carryOut(desk.read(room, [read], isEnd: true, reading: reading, heard: heard, at: now))
  }

  private mutating func carryOut(_ actions: [DeskAction]) {
    for action in actions {
      switch action {
      case .keep(_, _, let receipt):
        if holdsCommits { commits.append(receipt) } else { carryOut(desk.kept(receipt, at: now)) }
      case .follow(let room, let next):
        reading = next.number
        carryOut(desk.read(room, [], isEnd: true, reading: reading, heard: now, at: now))
      case .append(let content):
        written.append(content)
        if !isLogMute { log(content.author, content.ask, number: content.number) }
      case .answer(_, let answer): answers.append(answer)
      case .press(let press, let age): presses.append((press, now - age))
      case .measure(let room, let run, let since, let use):
        let standing = RunStanding(run: run, phase: .running, elapsed: min(since, terms.goal), decimetres: 1000)
        carryOut(desk.measured(room, standing, for: use, at: now))
      case .prove(let room, let reading):
        carryOut(desk.proved(room, reading, found: reading.digest ?? Parts.digest, at: now))
      case .forget, .unfollow, .warn, .event, .listen, .shout, .cue, .show, .seek, .key, .advertise: break
      }
    }
  }
}
