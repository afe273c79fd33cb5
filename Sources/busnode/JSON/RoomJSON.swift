import RunBus

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
  struct Result: Codable, Equatable {
    struct Row: Codable, Equatable {
      let id: String
      let nickname: String
      let place: Int
      let distanceMeters: Double?
      let isConfirmed: Bool
      let isFinished: Bool?
      let outcome: String?
    }
    let standing: String
    let rows: [Row]
  }
  let room: String
  let stage: String
  let endedBecause: String?
  let goalSeconds: Double?
  let places: Int?
  let start: String?
  let startsInSeconds: Double?
  let clockErrorSeconds: Double?
  let isProvisional: Bool
  let isLost: Bool
  let entries: UInt64
  let digest: String?
  let members: [Member]
  let disputedBy: [String]
  let result: Result?

  init(_ report: RoomReport) {
    let state = report.state
    room = report.room.description
    stage = state.stage.word
    endedBecause = if case .cancelled(let end) = state.stage { end.rawValue } else { nil }
    goalSeconds = state.terms?.goal.seconds
    places = state.terms?.places
    start = state.terms?.start?.label
    startsInSeconds = report.startsIn?.seconds
    clockErrorSeconds = report.clockError?.seconds
    isProvisional = report.isProvisional
    isLost = report.isLost
    entries = report.count
    digest = report.digest?.description
    members = state.members.map { member in
      Member(
        id: member.id.nkey, nickname: member.card.nickname.text, level: member.card.level, isReady: member.isReady,
        isHere: member.isHere, isOwner: member.id == state.owner && state.terms?.isMatched == false,
        isYou: member.id == report.me)
    }
    disputedBy = state.disputes.sorted().map(\.nkey)
    result = RoomResult(state).map { result in
      Result(
        standing: result.standing.rawValue,
        rows: result.rows.map { row in
          Result.Row(
            id: row.member.nkey, nickname: state.member(row.member)?.card.nickname.text ?? "", place: row.place,
            distanceMeters: row.decimetres.map { Double($0) / 10 }, isConfirmed: row.isConfirmed,
            isFinished: row.isFinished, outcome: row.outcome?.rawValue)
        })
    }
  }
}

/// What became of an ask, under `--json`.
struct RoomAskJSON: Codable, Equatable {
  let ask: String
  let room: String?
  /// `done`, `rejected` or `queued`.
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
