import RunBus
import RunScripts

/// A room under `--json`.
struct RoomJSON: Codable, Equatable {
  struct Member: Codable, Equatable {
    let id: String
    let nickname: String
    let level: Int
    let isReady: Bool
    let isHere: Bool
    let isOwner: Bool
    let isYou: Bool
  }
  struct Result: Codable, Hashable {
    struct Row: Codable, Hashable {
      let id: String
      let nickname: String
      let place: Int
      @Explicit var distanceMeters: Double?
      let isConfirmed: Bool
      @Explicit var isFinished: Bool?
      @Explicit var outcome: String?
    }
    let standing: String
    let rows: [Row]

    init(_ result: RoomResult, _ state: RoomState) {
      standing = result.standing.rawValue
      rows = result.rows.map { row in
        Row(
          id: row.member.nkey, nickname: state.member(row.member)?.card.nickname.text ?? "", place: row.place,
          distanceMeters: row.decimetres.map { Double($0) / 10 }, isConfirmed: row.isConfirmed,
          isFinished: row.isFinished, outcome: row.outcome?.rawValue)
      }
    }
  }
  let room: String
  let stage: String
  @Explicit var endedBecause: String?
  @Explicit var goalSeconds: Double?
  @Explicit var places: Int?
  /// Whether it is a search for another runner, or of two who were matched.
  let isMatched: Bool
  @Explicit var start: String?
  @Explicit var startsInSeconds: Double?
  @Explicit var clockErrorSeconds: Double?
  let isProvisional: Bool
  let isLost: Bool
  let entries: UInt64
  @Explicit var digest: String?
  let members: [Member]
  let disputedBy: [String]
  let warnings: [String]
  @Explicit var result: Result?

  init(_ report: RoomReport) {
    let state = report.state
    room = report.room.description
    stage = state.stage.word
    let end: RoomEnd? = if case .cancelled(let end) = state.stage { end } else { nil }
    _endedBecause = Explicit(wrappedValue: end?.rawValue)
    _goalSeconds = Explicit(wrappedValue: state.terms?.goal.seconds)
    _places = Explicit(wrappedValue: state.terms?.places)
    isMatched = state.terms?.isMatched ?? false
    _start = Explicit(wrappedValue: state.terms?.start?.label)
    _startsInSeconds = Explicit(wrappedValue: report.startsIn?.seconds)
    _clockErrorSeconds = Explicit(wrappedValue: report.clockError?.seconds)
    isProvisional = report.isProvisional
    isLost = report.isLost
    entries = report.count
    _digest = Explicit(wrappedValue: report.digest?.description)
    members = state.members.map { member in
      Member(
        id: member.id.nkey, nickname: member.card.nickname.text, level: member.card.level, isReady: member.isReady,
        isHere: member.isHere, isOwner: member.id == state.owner && state.terms?.isMatched == false,
        isYou: member.id == report.me)
    }
    disputedBy = state.disputes.sorted().map(\.nkey)
    warnings = report.warnings.map(\.rawValue).sorted()
    _result = Explicit(wrappedValue: RoomResult(state).map { Result($0, state) })
  }
}

/// What became of an ask, under `--json`.
struct RoomAskJSON: Codable, Equatable {
  let ask: String
  @Explicit var room: String?
  /// `done`, `rejected`, `queued` or `outOfReach`.
  let outcome: String
  let message: String
}

extension RoomStage {
  /// The stage as a word, the same in text and JSON.
  var word: String {
    switch self {
    case .none: "unknown"
    case .recruiting: "recruiting"
    case .gathering: "gathering"
    case .countdown: "countdown"
    case .running: "running"
    case .settling: "settling"
    case .over: "over"
    case .cancelled: "cancelled"
    }
  }
}
