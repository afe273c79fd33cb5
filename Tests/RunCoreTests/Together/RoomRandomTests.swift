import SystemC
import Testing

@testable import RunCore

/// How many requests in a row a soak tries in every order: `RUNBUS_SOAK_ROOMS`, 0 if it is not set.
let roomSoak = getenv("RUNBUS_SOAK_ROOMS").flatMap { Int(String(cString: $0)) } ?? 0

/// Compares the machine with the model over long random logs of five runners and some strangers.
@Suite("A random log of a room")
struct RoomRandomTests {
  @Test("is judged as the model says")
  func judgedAsTheModelSays() {
    var reached: [String: Int] = [:]
    for seed in 1...UInt64(250 + 4000 * roomSoak) {
      var log = RandomRoomLog(seed: seed)
      for _ in 0..<60 where log.pair.complaint == nil { log.step() }
      guard log.pair.complaint == nil else {
        Issue.record("seed \(seed)\n\(log.pair.story)")
        return
      }
      for stage in log.stages { reached[stage, default: 0] += 1 }
    }
    // Otherwise the test shows nothing about these stages.
    for stage in ["recruiting", "gathering", "countdown", "running", "settling", "over", "cancelled"] {
      #expect(reached[stage, default: 0] >= 20, "\(stage)")
    }
  }

  @Test("is the same room when time passes between its entries in steps")
  func timeInSteps() {
    for seed in 1...UInt64(100 + 1000 * roomSoak) {
      var log = RandomRoomLog(seed: seed, isPlain: true)
      var stepped = RoomMachine()
      var generator = SeededGenerator(seed: seed)
      for count in 1...40 {
        let before = log.pair.machine.state.time
        let entry = log.nextEntry()
        log.pair.hear(entry)
        if entry.time > before {
          for _ in 0..<2 {
            let moment = Int64.random(in: before.nanoseconds...entry.time.nanoseconds, using: &generator)
            stepped.advance(to: LogTime(nanoseconds: moment))
          }
          if let deadline = stepped.deadline, deadline <= entry.time { stepped.advance(to: deadline) }
        }
        _ = stepped.apply(entry, digest: RoomPair.digest(after: log.pair.count))
        #expect(stepped.state == log.pair.machine.state, "seed \(seed), entry \(count)")
        if stepped.quiet != log.pair.machine.quiet {
          Issue.record("seed \(seed), entry \(count): the machines differ\n\(log.pair.story)")
          return
        }
      }
    }
  }
}

/// A log that is made up while it is read, so that it can fit what the room has come to.
private struct RandomRoomLog {
  var pair = RoomPair()
  var stages: Set<String> = []
  private var generator: SeededGenerator
  private let terms: RoomTerms
  private let isPlain: Bool
  private let runners = (1...5).map(MemberID.runner)

  init(seed: UInt64, isPlain: Bool = false) {
    generator = SeededGenerator(seed: seed &* 0x2545_F491_4F6C_DD1D)
    self.isPlain = isPlain
    let odd = RoomTerms(
      kind: .matched(Seek(goal: .seconds(100), wish: .female), left: BusDuration(nanoseconds: 90_000_000_001)),
      goal: .seconds(100), places: 2, countdown: .seconds(60))
    var circle = RoomTerms.atTheLake
    circle.circle = "club"
    circle.places = 4
    var later = RoomTerms.plain
    later.rules = 2
    var fast = RoomTerms.plain
    fast.speed = BusSpeed(thousandths: 3333)!
    terms = [.plain, fast, .atTheLake, .atTheLake, .search, .search, odd, circle, later].randomElement(
      using: &generator)!
  }

  mutating func step() {
    if chance(8) { pair.advance(to: nextTime()) }
    pair.hear(nextEntry())
    stages.insert(String("\(pair.model.stage)".prefix { $0 != "(" }))
  }

  mutating func nextEntry() -> RoomEntry {
    let author = chance(12) ? .runner(Int.random(in: 90...99, using: &generator)) : anyRunner()
    let ask = pair.count == 0 || pair.model.stage == .none && chance(2) ? .open(terms, card(author)) : ask(author)
    let next = (pair.numbers[author] ?? 0) + 1
    let odd: [UInt64] = [0, max(1, next) - 1, 1, next + 1, next + 7, 600, 601, .max]
    return pair.entry(
      author, ask, at: nextTime(), number: chance(12) ? odd.randomElement(using: &generator)! : next, seen: seen(),
      ownsRoom: !chance(10))
  }

  private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }

  private mutating func anyRunner() -> MemberID { runners.randomElement(using: &generator)! }

  private mutating func nextTime() -> LogTime {
    let now = pair.model.now
    if !isPlain, chance(1500) { return .distantFuture }
    let isOn = if case .running = pair.model.stage { true } else { false }
    if chance(isOn ? 6 : 25), let deadline = pair.model.deadline, !isPlain || deadline < .seconds(1_000_000) {
      return [deadline, deadline - .one, deadline + .one].randomElement(using: &generator)!
    }
    let steps: [BusDuration] = [
      .zero, .zero, .one, .seconds(1), .seconds(1), .seconds(4), .seconds(4) + .one, .seconds(5), .seconds(20),
      .seconds(-3), .seconds(-1000),
    ]
    let leaps: [BusDuration] = [.seconds(30), .seconds(60), .seconds(100), .seconds(599), .seconds(86_400)]
    return now + (chance(40) ? leaps : steps).randomElement(using: &generator)!
  }

  /// What has been read: nothing, the truth, or something else.
  private mutating func seen() -> Seen {
    let count = UInt64.random(in: 0...pair.count, using: &generator)
    let digest = RoomPair.digest(after: count).prefix
    if chance(3) { return Seen(count: count, digest: digest) }
    if chance(30) { return Seen(count: count, digest: digest ^ 1) }
    if chance(40) { return Seen(count: pair.count + 1, digest: RoomPair.digest(after: pair.count + 1).prefix) }
    return chance(40) ? Seen(count: .max, digest: 0) : .nothing
  }

  private mutating func card(_ author: MemberID) -> RoomCard {
    .card(
      "Runner\(author.bytes.last!)", level: Int.random(in: 3...4, using: &generator),
      [.female, .female, .male, nil].randomElement(using: &generator)!, circle: chance(6) ? nil : "club")
  }

  /// An ask of which most fit the stage.
  private mutating func ask(_ author: MemberID) -> RoomAskKind {
    let seeks: [Seek?] = [.plain, .plain, Seek(goal: .seconds(100), wish: .female), Seek(goal: .seconds(99)), nil]
    let enter = RoomAskKind.enter(
      card(author), metres: [nil, 10, 1000, 1000, 1001].randomElement(using: &generator)!,
      seek: seeks.randomElement(using: &generator)!)
    let mark = RoomAskKind.mark(
      RoomMark(
        elapsed: .seconds(Int64.random(in: 0...3, using: &generator)),
        decimetres: [0, 1, 2, 3, 100, 101, 300, 301, .max].randomElement(using: &generator)!))
    let decimetres: [Int?] = [nil, 0, 50, 50, 70, 10_000, 10_001, .max]
    let record = RoomAskKind.record(
      .run(
        decimetres.randomElement(using: &generator)!, version: UInt32.random(in: 1...3, using: &generator),
        seconds: [1, 7, 100, 1000].randomElement(using: &generator)!, isFinished: chance(2)))
    let who = anyRunner()
    if !chance(5) {
      let model = pair.model
      switch model.stage {
      case .recruiting: return !model.roster.contains(author) ? enter : model.isReady(author) ? .begin : .ready(true)
      case .gathering: return model.isHere(author) ? .proceed : .here(true)
      case .countdown: return chance(12) ? .hold : .stay
      case .running, .settling: return chance(3) ? mark : record
      case .none, .over, .cancelled: break
      }
    }
    return [
      .open(terms, card(author)), enter, enter, .ready(true), .ready(false), .here(true), .here(false), .leave, .close,
      .begin, .proceed, .hold, .cancel, .remove(who), .stay, .tick, mark, record, .unknown,
    ].randomElement(using: &generator)!
  }
}

extension BusDuration {
  /// The smallest span.
  fileprivate static let one = BusDuration(nanoseconds: 1)
}
