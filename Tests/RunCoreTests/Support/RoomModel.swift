@testable import RunCore

/// A second, slow and simple implementation of the rules of a room, with which the tests compare `RoomMachine`.
///
/// The model keeps everything that was heard and everything that happened, each with its moment, and derives every
/// answer from these two lists by looking through them. It keeps no state beside them and shares no code of decisions
/// with the machine. Where the two differ, one of them is wrong.
struct RoomModel {
  /// An entry, when it counted and what was made of it.
  struct Heard {
    let entry: RoomEntry
    let at: LogTime
    let digest: UInt64
    let answer: Folded

    /// Whether the entry was judged, and so used up its number.
    var isJudged: Bool { if case .verdict = answer { true } else { false } }
  }

  /// Something that happened to the room.
  enum Fact {
    case opened(RoomTerms)
    case came(MemberID, RoomCard, Seek?)
    case went(MemberID)
    case barred(MemberID)
    case disputed(MemberID)
    case ready(MemberID, Bool)
    case nobodyReady
    case here(MemberID, Bool)
    case nobodyHere
    case marked(MemberID, RoomMark)
    case recorded(MemberID, RoomRecord)
    case held
    /// The room has come to a stage.
    case stage(RoomStage)
  }

  private(set) var heard: [Heard] = []
  private(set) var facts: [(fact: Fact, at: LogTime)] = []
  private(set) var now = LogTime.zero

  init() {}

  // MARK: Interface

  mutating func apply(_ entry: RoomEntry, digest: LogHash) -> Folded {
    advance(to: entry.time)
    let wasIn = roster.contains(entry.author)
    let states = statesOtherHistory(entry)
    let answer = answer(to: entry)
    heard.append(Heard(entry: entry, at: now, digest: digest.prefix, answer: answer))
    if heard.last!.isJudged, states, wasIn || roster.contains(entry.author) { note(.disputed(entry.author), at: now) }
    // What has just begun to hold may have been due for long.
    advance(to: now)
    return answer
  }

  mutating func advance(to time: LogTime) {
    let time = max(now, time)
    while let due = nextDue, max(due.at, lastMoment) <= time { happen(due, at: max(due.at, lastMoment)) }
    now = time
  }

  var deadline: LogTime? { nextDue.map { max($0.at, lastMoment) } }

  /// When something was heard or happened last.
  private var lastMoment: LogTime { max(heard.last?.at ?? .zero, facts.last?.at ?? .zero) }

  mutating func note(_ fact: Fact, at time: LogTime) { facts.append((fact, time)) }

  // MARK: What time does

  /// What time alone will do next.
  private struct Due {
    enum What { case gone([MemberID]), turns(RoomStage) }
    let at: LogTime
    let what: What
  }

  /// The first of all that is due; what is overdue is due now. Of two at one moment the first in the list comes first.
  private var nextDue: Due? {
    var first: Due?
    for due in allDue where first.map({ max(due.at, lastMoment) < max($0.at, lastMoment) }) ?? true { first = due }
    return first
  }

  private var allDue: [Due] {
    switch stage {
    case .none, .over, .cancelled: return []
    case .countdown(let start): return [Due(at: start, what: .turns(.running(startsAt: start)))]
    case .running(let start):
      let end = start + terms!.span
      return [Due(at: end, what: .turns(.settling(startsAt: start, endedAt: end)))]
    case .settling(let start, let end): return [Due(at: end + .hours(24), what: .turns(.over(startsAt: start)))]
    case .gathering: return silences
    case .recruiting: return silences + (roster.count == 2 && isMatched ? [notReadyInTime] : []) + loneliness
    }
  }

  /// Members who are silent for ten minutes are gone, unless they are alone.
  private var silences: [Due] {
    let roster = roster
    guard roster.count >= 2 else { return [] }
    let pairing = lastTime(size: 2, after: 1)!
    return roster.map { member in
      let sign = heard.last { $0.entry.author == member && $0.isJudged }!.at
      return Due(at: max(sign, pairing) + .minutes(10), what: .gone([member]))
    }
  }

  /// Of two who were matched, those who are not ready half a minute later are gone.
  private var notReadyInTime: Due {
    let pairing = lastTime(size: 2, after: 1)!
    let hold = facts.last { if case .held = $0.fact { true } else { false } }?.at
    return Due(at: max(pairing, hold ?? pairing) + .seconds(30), what: .gone(roster.filter { !isReady($0) }))
  }

  /// A room with one member ends some time.
  private var loneliness: [Due] {
    guard roster.count == 1 else { return [] }
    if case .matched(_, let left) = terms!.kind {
      return [Due(at: openedAt! + left, what: .turns(.cancelled(.nobodyFound)))]
    }
    let since = max(lastTime(size: 1, after: 0)!, lastTime(size: 1, after: 2) ?? .zero)
    return [Due(at: since + .hours(24), what: .turns(.cancelled(.nobodyCame)))]
  }

  private mutating func happen(_ due: Due, at time: LogTime) {
    switch due.what {
    case .gone(let members): go(members, at: time)
    case .turns(let stage): note(.stage(stage), at: time)
    }
  }

  /// Members go, all at once.
  mutating func go(_ members: [MemberID], at time: LogTime) {
    for member in members { note(.went(member), at: time) }
    switch (stage, roster.count) {
    case (_, 0): note(.stage(.cancelled(.left)), at: time)
    case (.countdown, _), (.gathering, 1): goBack(at: time)
    default: break
    }
  }

  /// The room takes members in again.
  mutating func goBack(at time: LogTime) {
    note(.nobodyReady, at: time)
    note(.nobodyHere, at: time)
    note(.stage(.recruiting), at: time)
  }
}

extension BusDuration {
  fileprivate static func minutes(_ count: Int64) -> BusDuration { .seconds(count * 60) }
  fileprivate static func hours(_ count: Int64) -> BusDuration { .seconds(count * 3600) }
}
