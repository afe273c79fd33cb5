import Testing

@testable import RunCore

/// Compares the machine with the model for every order of a few requests of three runners.
@Suite("Every order of a few requests of three runners")
struct RoomOrderTests {
  /// A kind of room, and its level of time.
  enum Setting: CaseIterable { case noStart, start, matched, matchedAndLate }

  @Test("is judged as the model says, from the first entry on", arguments: Setting.allCases)
  func fromTheBeginning(setting: Setting) {
    var walk = RoomWalk(setting: setting)
    let opening: [RoomWalk.Step] = setting == .matchedAndLate ? [.init(.anna, walk.opens, after: 0)] : []
    walk.go(from: opening, depth: roomSoak > 0 ? roomSoak : 4)
    if let complaint = walk.complaint { Issue.record("\(complaint)") }
  }

  @Test("is judged as the model says, from the middle of a room's life on", arguments: Setting.allCases)
  func fromTheMiddle(setting: Setting) {
    var walk = RoomWalk(setting: setting)
    for beginning in walk.beginnings where walk.complaint == nil {
      walk.go(from: beginning, depth: roomSoak > 1 ? roomSoak - 1 : 2)
    }
    if let complaint = walk.complaint { Issue.record("\(complaint)") }
  }
}

/// Goes through all orders of requests, of which one may come later than the others.
///
/// Two orders that led to the same room are gone on with once. The same room means all that can matter later: state,
/// signs of life and the other moments from which time counts. Numbers do not matter: each step uses up the next one.
struct RoomWalk {
  typealias Setting = RoomOrderTests.Setting

  struct Step {
    let author: MemberID
    let ask: RoomAskKind
    /// Seconds after the step before.
    let after: Int64
    init(_ author: MemberID, _ ask: RoomAskKind, after: Int64) {
      (self.author, self.ask, self.after) = (author, ask, after)
    }
  }

  let setting: Setting
  /// How much later than the others one entry comes. The ones behind it come with the old time again.
  let leaps: [Int64] = [1, 4, 30, 600, 24 * 3600]
  var complaint: String?
  var steps = 0
  private var visited: Set<Visit> = []
  private var requests: [Step] = []

  init(setting: Setting) {
    self.setting = setting
    requests = Self.requests(terms: terms)
  }

  var terms: RoomTerms {
    switch setting {
    case .noStart: .plain
    case .start: .atTheLake
    case .matched, .matchedAndLate: .search
    }
  }
  var opens: RoomAskKind { .open(terms, .card("Anna")) }

  // MARK: Walking

  /// A room with what is still to come.
  private struct Visit: Hashable {
    let state: RoomState
    let result: RoomResult?
    let moments: [LogTime?]
    let seeks: [Seek?]
    let depth: Int
    let mayLeap: Bool
  }

  mutating func go(from beginning: [Step], depth: Int) {
    var pair = RoomPair()
    var time = LogTime.seconds(1000)
    for step in beginning {
      time = time + .seconds(step.after)
      pair.hear(pair.entry(step.author, step.ask, at: time))
    }
    // Half of the search is over.
    if setting == .matchedAndLate { time = max(time, .seconds(1060)) }
    pair.advance(to: time)
    go(on: pair, from: time, depth: depth, mayLeap: true)
  }

  private mutating func go(on pair: RoomPair, from time: LogTime, depth: Int, mayLeap: Bool) {
    if let wrong = pair.complaint { complaint = complaint ?? "\(wrong)\n\(pair.story)" }
    guard complaint == nil, depth > 0, visited.insert(visit(pair, depth: depth, mayLeap: mayLeap)).inserted else {
      return
    }
    checkRepetition(pair)
    for request in requests {
      for leap in mayLeap ? [0] + leaps : [0] where complaint == nil {
        var next = pair
        let entry = next.entry(request.author, request.ask, at: time + .seconds(leap))
        next.hear(entry)
        steps += 1
        if leap > 0 { checkSteps(pair, entry, next) }
        go(on: next, from: time, depth: depth - 1, mayLeap: mayLeap && leap == 0)
      }
    }
  }

  private func visit(_ pair: RoomPair, depth: Int, mayLeap: Bool) -> Visit {
    let model = pair.model
    let signs = model.roster.map { member in
      model.heard.last { $0.entry.author == member && $0.isJudged }?.at
    }
    let hold = model.facts.last { if case .held = $0.fact { true } else { false } }?.at
    let sizes = [(1, 0), (2, 1), (1, 2)].map { model.lastTime(size: $0.0, after: $0.1) }
    return Visit(
      state: model.state, result: model.result, moments: signs + sizes + [hold, model.openedAt],
      seeks: model.roster.map(model.seek), depth: depth, mayLeap: mayLeap)
  }

  /// An entry that comes again, or too early, changes nothing.
  private mutating func checkRepetition(_ pair: RoomPair) {
    guard let last = pair.model.heard.last, last.isJudged, case .verdict(let verdict) = last.answer else { return }
    var again = pair
    if again.hear(last.entry) != .known(verdict) { again.complain("the repetition has another verdict") }
    var early = last.entry
    early.number += 2
    if again.hear(early) != .gap { again.complain("a number that is too high is no gap") }
    if again.machine.state != pair.machine.state { again.complain("a repetition changed the room") }
    if let wrong = again.complaint { complaint = "\(wrong)\n\(again.story)" }
  }

  /// It does not matter in which steps time passes.
  private mutating func checkSteps(_ pair: RoomPair, _ entry: RoomEntry, _ direct: RoomPair) {
    let span = entry.time - pair.machine.state.time
    guard span > .zero else { return }
    var stepped = pair.machine
    if let deadline = stepped.deadline, deadline < entry.time {
      stepped.advance(to: LogTime(nanoseconds: deadline.nanoseconds - 1))
      stepped.advance(to: deadline)
    }
    stepped.advance(to: entry.time - BusDuration(nanoseconds: span.nanoseconds / 2))
    stepped.advance(to: entry.time)
    _ = stepped.apply(entry, digest: RoomPair.digest(after: direct.count))
    if stepped.quiet != direct.machine.quiet { complaint = "time in steps makes another room\n\(direct.story)" }
  }
}

extension RoomWalk {
  // MARK: Requests

  private static func requests(terms: RoomTerms) -> [Step] {
    let (short, long) = (RoomRecord.run(90, isFinished: false), RoomRecord.run(100))
    let mark = RoomAskKind.mark(RoomMark(elapsed: .seconds(1), decimetres: 95))
    func enter(_ name: String, level: Int = 3, metres: Int = 1000, seek: Seek = .plain) -> RoomAskKind {
      .enter(.card(name, level: level), metres: metres, seek: seek)
    }
    let anna: [RoomAskKind] = [
      .open(terms, .card("Anna")), .ready(true), .ready(false), .begin, .here(true), .proceed, .hold, .leave, .close,
      .cancel, .remove(.anna), .remove(.ben), .remove(.cleo), mark, .record(short), .record(long), .unknown, .stay,
      enter("Anna"),
    ]
    let ben: [RoomAskKind] = [
      enter("Ben"), .ready(true), .here(true), .here(false), .begin, .hold, .leave, .close, .remove(.anna), mark,
      .record(short), .record(.run(110, version: 2)), .tick,
    ]
    let cleo: [RoomAskKind] = [
      enter("Cleo", level: 4), enter("Cleo", metres: 1001, seek: Seek(goal: .seconds(99))), .open(terms, .card("Cleo")),
      .ready(true), .here(true), .proceed, .cancel, .leave, .record(short), .record(long),
    ]
    return anna.map { Step(.anna, $0, after: 0) } + ben.map { Step(.ben, $0, after: 0) }
      + cleo.map { Step(.cleo, $0, after: 0) }
  }

  /// Rooms in the middle of their life: with two, with three who are ready, gathering, counting down, running, settling.
  var beginnings: [[Step]] {
    func together(_ asks: [(MemberID, RoomAskKind)], after: Int64 = 0) -> [Step] {
      asks.map { Step($0.0, $0.1, after: after) }
    }
    let cleo = RoomAskKind.enter(.card("Cleo"), metres: 1, seek: .plain)
    let two = together([(.anna, opens), (.ben, .enter(.card("Ben"), metres: 1, seek: .plain))])
    if terms.isMatched {
      let one = two + together([(.ben, .ready(true))])
      let counting = one + together([(.anna, .ready(true))])
      let running = counting + [Step(.anna, .stay, after: 6)]
      return [two, one, counting, running, running + [Step(.ben, .stay, after: 100)]]
    }
    let three = two + together([(.cleo, cleo), (.anna, .ready(true)), (.ben, .ready(true)), (.cleo, .ready(true))])
    let begun = three + together([(.anna, .begin)])
    let there: [Step] =
      terms.start == nil
      ? [] : together([(.anna, .here(true)), (.ben, .here(true)), (.cleo, .here(true)), (.anna, .proceed)])
    let running = begun + there + [Step(.anna, .stay, after: 6)]
    return [two, three, begun, begun + there, running, running + [Step(.ben, .stay, after: 100)]]
  }
}
