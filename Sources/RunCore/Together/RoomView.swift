/// A room as the runner's devices and screens get it from the hub: who is in, what it waits for, when it starts, who is
/// ahead, what came out. It has no sentence for people.
///
/// Spans are real time and hold at the moment at which the hub made the view. A screen that shows it later adds what
/// has passed since: ``RunBoard/room`` keeps when it came.
public struct RoomView: Hashable, Sendable {
  /// Which of two views is newer.
  public struct Order: Hashable, Comparable, Sendable {
    /// The term of the hub.
    public var term: UInt64
    /// Counts the views of the term.
    public var number: UInt64
    /// An order from its parts.
    public init(term: UInt64, number: UInt64) { (self.term, self.number) = (term, number) }
    /// Newer views are larger.
    public static func < (left: Self, right: Self) -> Bool {
      (left.term, left.number) < (right.term, right.number)
    }
  }
  /// Where a room stands.
  public enum Stage: String, Hashable, Sendable, CaseIterable {
    /// Members come and get ready.
    case recruiting
    /// Members walk to the start.
    case gathering
    /// The start is set.
    case countdown
    /// The run is on.
    case running
    /// The run is over, and records come in.
    case settling
    /// Nothing changes any more.
    case over
    /// The room ended before its run.
    case cancelled
    /// A stage of a later version.
    case unknown
  }
  /// What stands between a room and its next stage.
  public enum Gate: String, Hashable, Sendable, CaseIterable {
    /// Nothing: the owner may begin or proceed.
    case open
    /// There are fewer than two.
    case tooFew
    /// Some are not ready; see ``Member/isReady``.
    case notReady
    /// Some are not at the start; see ``Member/isHere``.
    case notHere
  }
  /// How settled a result is.
  public enum Settled: String, Hashable, Sendable, CaseIterable {
    /// Records are missing.
    case provisional
    /// All records are in; a record may be amended until the room is over.
    case complete
    /// Nothing changes any more.
    case final
  }
  /// What a place in the result means.
  public enum Outcome: String, Hashable, Sendable, CaseIterable {
    case won, lost, drawn
  }
  /// How far a member's run has come, as its hub last said.
  public struct Standing: Hashable, Sendable {
    /// The place among those whose distance is known, from 1; equal distances share one.
    public var place: Int?
    /// Metres since the start; `nil` while unknown.
    public var meters: Double?
    /// Metres to the member before this one; `nil` for the first one and without a place.
    public var metersBehind: Double?
    /// Seconds per kilometre; `nil` while unknown.
    public var paceSecondsPerKilometer: Int?
    /// What its run does; `nil` before it was heard of.
    public var phase: RunPhase?
    /// How old the standing is; `nil` before the first one.
    public var age: BusDuration?
    /// Whether nothing was heard for so long that the standing says little.
    public var isStale: Bool

    /// A standing from its parts.
    public init(
      place: Int? = nil, meters: Double? = nil, metersBehind: Double? = nil, paceSecondsPerKilometer: Int? = nil,
      phase: RunPhase? = nil, age: BusDuration? = nil, isStale: Bool = true
    ) {
      self.place = place
      self.meters = meters
      self.metersBehind = metersBehind
      self.paceSecondsPerKilometer = paceSecondsPerKilometer
      self.phase = phase
      self.age = age
      self.isStale = isStale
    }
  }
  /// A member's line of the result.
  public struct Finish: Hashable, Sendable {
    /// The place, from 1; equal distances share one.
    public var place: Int
    /// Metres; `nil` if unknown.
    public var meters: Double?
    /// Whether the distance is that of a record; otherwise it is the last one that the member stated in the run.
    public var isConfirmed: Bool
    /// Won, lost or drawn; `nil` while that is open, and when nobody has a distance.
    public var outcome: Outcome?

    /// A line from its parts.
    public init(place: Int, meters: Double?, isConfirmed: Bool, outcome: Outcome?) {
      self.place = place
      self.meters = meters
      self.isConfirmed = isConfirmed
      self.outcome = outcome
    }
  }
  /// A member and all that is known of it.
  public struct Member: Hashable, Sendable, Identifiable {
    /// The member's public key: 64 lowercase hexadecimal digits.
    public var id: String
    /// The name that others see.
    public var nickname: String
    /// How strong the runner says that it is, from 1 to 10.
    public var level: Int
    /// Whether it is the runner of the devices that get the view.
    public var isSelf: Bool
    /// Whether it may begin the room; nobody may in a matched one.
    public var isOwner: Bool
    /// Whether it is ready to begin.
    public var isReady: Bool
    /// Whether it is at the start; means something while the room gathers.
    public var isHere: Bool
    /// How far it has come; `nil` before the start.
    public var standing: Standing?
    /// What came out for it; `nil` before the end of the run.
    public var finish: Finish?

    /// A member from its parts.
    public init(
      id: String, nickname: String, level: Int = 1, isSelf: Bool = false, isOwner: Bool = false, isReady: Bool = false,
      isHere: Bool = false, standing: Standing? = nil, finish: Finish? = nil
    ) {
      self.id = id
      self.nickname = nickname
      self.level = level
      self.isSelf = isSelf
      self.isOwner = isOwner
      self.isReady = isReady
      self.isHere = isHere
      self.standing = standing
      self.finish = finish
    }
  }

  /// Which of two views is newer.
  public var order: Order
  /// Which room: 32 lowercase hexadecimal digits.
  public var room: String
  /// How long the run lasts, in bus time; `nil` while the hub has not read what the room is for.
  public var goal: BusDuration?
  /// How many may be in.
  public var places: Int
  /// Whether two runners were matched in it.
  public var isMatched: Bool
  /// What the start is called; `nil` for a room without one.
  public var startLabel: String?
  /// How far the runner is from the start, whole metres, by a good fix of the last 30 s; `nil` without one.
  public var metersToStart: Int?
  /// Where it stands.
  public var stage: Stage
  /// What stands between it and its next stage; `nil` where only time does.
  public var gate: Gate?
  /// Until the start of the run, negative once it is on; `nil` before the countdown, and while the hub does not know the
  /// log's time.
  public var startsIn: BusDuration?
  /// How settled the result is; `nil` before the end of the run.
  public var settled: Settled?
  /// The members, longest there first; at most 32.
  public var members: [Member]
  /// Whether the view rests on the hub's own estimate of the log's time: an entry that is not read yet may change it.
  public var isProvisional: Bool
  /// Whether the log has lost what the hub had read: before the countdown the room is void, from it on the hub's own
  /// copy counts.
  public var isLost: Bool

  /// A view from its parts.
  public init(
    order: Order, room: String, goal: BusDuration?, places: Int, isMatched: Bool = false, startLabel: String? = nil,
    metersToStart: Int? = nil, stage: Stage, gate: Gate? = nil, startsIn: BusDuration? = nil, settled: Settled? = nil,
    members: [Member], isProvisional: Bool = false, isLost: Bool = false
  ) {
    self.order = order
    self.room = room
    self.goal = goal
    self.places = places
    self.isMatched = isMatched
    self.startLabel = startLabel
    self.metersToStart = metersToStart
    self.stage = stage
    self.gate = gate
    self.startsIn = startsIn
    self.settled = settled
    self.members = members
    self.isProvisional = isProvisional
    self.isLost = isLost
  }

  /// The runner of the devices that get the view; `nil` without a place.
  public var own: Member? { members.first(where: \.isSelf) }
  /// The members in the order of a table: by the result, else by the standings, else as they came.
  public var ranked: [Member] {
    func key(_ index: Int) -> (Int, Int, Int) {
      (members[index].finish?.place ?? .max, members[index].standing?.place ?? .max, index)
    }
    return members.indices.sorted { key($0) < key($1) }.map { members[$0] }
  }

  /// The view as it stands so much real time after it was told.
  package func later(by span: BusDuration) -> RoomView {
    var view = self
    view.startsIn = startsIn.map { $0 - span }
    for index in members.indices {
      view.members[index].standing?.age = members[index].standing?.age.map { $0 + span }
    }
    return view
  }

  /// Whether a screen that goes on by itself shows the same for both: spans pass, and standings come by themselves.
  package func looks(like other: RoomView) -> Bool {
    var (one, two) = (self, other)
    one.order = two.order
    (one.startsIn, two.startsIn) = (nil, nil)
    for index in one.members.indices { one.members[index].standing = nil }
    for index in two.members.indices { two.members[index].standing = nil }
    return one == two
  }

  /// What is wrong with the view; `nil` when everything that always holds does.
  package func check() -> String? {
    if Set(members.map(\.id)).count != members.count { return "a member is in the roster twice" }
    if members.count > RoomTerms.placesBounds.upperBound { return "more members than places" }
    if members.count(where: \.isOwner) > 1 { return "there are two owners" }
    if members.count(where: \.isSelf) > 1 { return "two members are this runner" }
    switch gate {
    case .notReady: return members.allSatisfy(\.isReady) ? "the gate waits for nobody of the roster" : nil
    case .notHere: return members.allSatisfy(\.isHere) ? "the gate waits for nobody of the roster" : nil
    case .open, .tooFew, nil: return nil
    }
  }
}

extension RoomView {
  /// The view of a folded room.
  ///
  /// - Parameters:
  ///   - report: The room as the hub has it.
  ///   - standings: Who is ahead, at a moment of the hub's own clock.
  package init(
    _ report: RoomReport, order: Order, standings: (table: StandingsTable, now: BusTime)?, metersToStart: Int? = nil
  ) {
    let state = report.state
    let terms = state.terms
    let isRun = if case .running = state.stage { true } else { false }
    let result = isRun ? nil : RoomResult(state)
    let isOn =
      switch state.stage {
      case .running, .settling, .over: true
      case .none, .recruiting, .gathering, .countdown, .cancelled: false
      }
    let rows = isOn ? standings.map { $0.table.rows(at: $0.now) } ?? [] : []
    let members = state.members.prefix(RoomTerms.placesBounds.upperBound).map { member in
      Member(
        id: "\(member.id)", nickname: member.card.nickname.text, level: member.card.level,
        isSelf: member.id == report.me, isOwner: terms?.isMatched == false && member.id == state.owner,
        isReady: member.isReady, isHere: member.isHere,
        standing: rows.first { $0.member == member.id }.map(Standing.init),
        finish: result?.rows.first { $0.member == member.id }.map(Finish.init))
    }
    self.init(
      order: order, room: "\(report.room)", goal: terms?.goal, places: terms?.places ?? 0,
      isMatched: terms?.isMatched ?? false, startLabel: terms?.start?.label, metersToStart: metersToStart,
      stage: Stage(state.stage), gate: Gate(state), startsIn: report.startsIn,
      settled: result.flatMap { Settled(rawValue: $0.standing.rawValue) }, members: members,
      isProvisional: report.isProvisional, isLost: report.isLost)
  }
}

extension RoomView.Stage {
  /// The stage of a fold.
  init(_ stage: RoomStage) {
    switch stage {
    case .none, .recruiting: self = .recruiting
    case .gathering: self = .gathering
    case .countdown: self = .countdown
    case .running: self = .running
    case .settling: self = .settling
    case .over: self = .over
    case .cancelled: self = .cancelled
    }
  }
}

extension RoomView.Gate {
  /// What stands between a room and its next stage; `nil` where only time does.
  init?(_ state: RoomState) {
    switch state.stage {
    case .recruiting where state.members.count < 2: self = .tooFew
    case .recruiting: self = state.notReady.isEmpty ? .open : .notReady
    case .gathering: self = state.notHere.isEmpty ? .open : .notHere
    case .none, .countdown, .running, .settling, .over, .cancelled: return nil
    }
  }
}

extension RoomView.Standing {
  /// The line of a table.
  init(_ row: StandingsTable.Row) {
    func meters(_ decimetres: Int?) -> Double? { decimetres.map { Double($0) / 10 } }
    self.init(
      place: row.place, meters: meters(row.standing?.decimetres),
      metersBehind: row.place == 1 ? nil : meters(row.behindNext),
      paceSecondsPerKilometer: row.standing?.paceSecondsPerKilometre, phase: row.standing?.phase, age: row.age,
      isStale: row.isStale)
  }
}

extension RoomView.Finish {
  /// The line of a result.
  init(_ row: RoomResult.Row) {
    self.init(
      place: row.place, meters: row.decimetres.map { Double($0) / 10 }, isConfirmed: row.isConfirmed,
      outcome: row.outcome.flatMap { RoomView.Outcome(rawValue: $0.rawValue) })
  }
}
