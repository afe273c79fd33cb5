/// When a room changes by itself.
struct RoomClocks: Hashable {
  /// What happens.
  enum Rule: Hashable {
    /// A member was silent for too long.
    case silent(MemberID)
    /// Those of a pair who are not ready go.
    case notReady
    /// Nobody came.
    case nobodyCame
    /// The room is at another stage.
    case stage(RoomStage)
  }
  /// After how long a silent member is gone.
  static let silence = BusDuration.seconds(600)
  /// How long a pair has to get ready.
  static let readyWithin = BusDuration.seconds(30)
  /// How long a lone owner waits.
  static let solitude = BusDuration.seconds(24 * 3600)
  /// How long records are waited for.
  static let settling = BusDuration.seconds(24 * 3600)
  /// How long before the start nobody can stop it any more: whoever is cut off in that time starts like the others.
  static let freeze = BusDuration.seconds(1)

  /// When the room was opened.
  var openedAt = LogTime.zero
  /// Since when one member is alone.
  var aloneAt = LogTime.zero
  /// When the room last went from one member to two.
  var pairAt = LogTime.zero
  /// From when on a pair has time to get ready.
  var readyFrom = LogTime.zero
  /// The last entry of each member.
  var signs: [MemberID: LogTime] = [:]

  /// What is due first, and when; `nil` when nothing ever is. What is overdue is due now.
  func due(_ state: RoomState) -> (at: LogTime, rule: Rule)? {
    func clamp(_ due: (at: LogTime, rule: Rule)?) -> (at: LogTime, rule: Rule)? {
      due.map { (max($0.at, state.time), $0.rule) }
    }
    switch state.stage {
    case .none, .over, .cancelled: return nil
    case .recruiting where state.members.count < 2: return clamp(nobodyCame(state))
    case .recruiting:
      let (silence, notReady) = (clamp(silence(state)), clamp(notReady(state)))
      guard let silence, let notReady else { return silence ?? notReady }
      return notReady.at < silence.at ? notReady : silence
    case .gathering: return clamp(silence(state))
    case .countdown(let startsAt): return clamp((startsAt, .stage(.running(startsAt: startsAt))))
    case .running(let startsAt):
      guard let terms = state.terms else { return nil }
      let endsAt = startsAt + terms.span
      return clamp((endsAt, .stage(.settling(startsAt: startsAt, endedAt: endsAt))))
    case .settling(let startsAt, let endedAt):
      return clamp((endedAt + Self.settling, .stage(.over(startsAt: startsAt))))
    }
  }

  private func silence(_ state: RoomState) -> (at: LogTime, rule: Rule)? {
    guard state.members.count >= 2 else { return nil }
    var first: (at: LogTime, rule: Rule)?
    for member in state.members {
      let at = max(max(signs[member.id] ?? .zero, pairAt) + Self.silence, state.time)
      if first.map({ at < $0.at }) ?? true { first = (at, .silent(member.id)) }
    }
    return first
  }

  private func notReady(_ state: RoomState) -> (at: LogTime, rule: Rule)? {
    guard state.terms?.isMatched == true else { return nil }
    return (readyFrom + Self.readyWithin, .notReady)
  }

  private func nobodyCame(_ state: RoomState) -> (at: LogTime, rule: Rule)? {
    guard let terms = state.terms else { return nil }
    let at = if case .matched(_, let left) = terms.kind { openedAt + left } else { aloneAt + Self.solitude }
    return (at, .nobodyCame)
  }
}

extension RoomStage {
  /// Whether nothing happens any more.
  package var isEnd: Bool {
    switch self {
    case .over, .cancelled: true
    case .none, .recruiting, .gathering, .countdown, .running, .settling: false
    }
  }
  /// Whether the room stands when its log loses what led there: what is not counting down yet can be agreed anew.
  var outlivesLoss: Bool {
    switch self {
    case .countdown, .running, .settling, .over, .cancelled: true
    case .none, .recruiting, .gathering: false
    }
  }
  /// Whether marks and records are taken.
  var takesRecords: Bool {
    switch self {
    case .running, .settling: true
    case .none, .recruiting, .gathering, .countdown, .over, .cancelled: false
    }
  }
  /// Whether the owner may remove members.
  var isOpenToRemoval: Bool { self == .recruiting || self == .gathering }

  /// Why a member cannot go any more; `nil` if it can.
  func refusesLeaving(at time: LogTime) -> RoomRefusal? {
    switch self {
    case .countdown(let startsAt): time < startsAt - RoomClocks.freeze ? nil : .tooLate
    case .running, .settling: .alreadyRunning
    case .none, .recruiting, .gathering, .over, .cancelled: nil
    }
  }
}

extension RoomAskKind {
  /// Whether it is judged of an author who has written too much: nobody is held in a room, and no result is lost.
  var isAlwaysJudged: Bool {
    switch self {
    case .leave, .record: true
    case .open, .enter, .ready, .here, .close, .begin, .proceed, .hold, .cancel, .remove, .stay, .tick, .mark, .unknown:
      false
    }
  }
}

extension BusDuration {
  /// How long a decimetre takes at least; the fastest man ran 100 m at 10.4 m/s.
  private static let nanosecondsPerDecimetre: Int64 = 10_000_000

  /// Whether a runner can have come so far in this time; an unknown distance says nothing.
  func isEnough(toRun decimetres: Int?) -> Bool {
    guard let decimetres else { return true }
    let (least, overflow) = Int64(decimetres).multipliedReportingOverflow(by: Self.nanosecondsPerDecimetre)
    return !overflow && least <= nanoseconds
  }
}
