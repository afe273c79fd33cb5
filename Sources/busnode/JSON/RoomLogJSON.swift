import RunBus
import RunScripts

/// What came out of a room's run, under `room result --json`.
struct RoomResultJSON: Codable, Equatable {
  let room: String
  let stage: String
  let standing: String
  let rows: [RoomJSON.Result.Row]
  /// Of the bus's own runner; `null` for one who has no place in the room.
  @Explicit var ownPlace: Int?
  @Explicit var ownOutcome: String?

  init(_ report: RoomReport, _ result: RoomResult, me: MemberID?) {
    let form = RoomJSON.Result(result, report.state)
    let own = result.rows.first { $0.member == me }
    room = report.room.description
    stage = report.state.stage.word
    (standing, rows) = (form.standing, form.rows)
    _ownPlace = Explicit(wrappedValue: own?.place)
    _ownOutcome = Explicit(wrappedValue: own?.outcome?.rawValue)
  }
}

/// An entry of a room's log, under `room log --json`.
struct RoomEntryJSON: Codable, Equatable {
  let position: UInt64
  let at: String
  let id: String
  @Explicit var nickname: String?
  let number: UInt64
  let ask: String
  /// A verdict; `known`, `gap` or `leftOut` for an entry that was not judged.
  let verdict: String
  @Explicit var refusal: String?
  let message: String
  /// Of `ready` and `here`.
  @Explicit var isOn: Bool?
  /// Of `enter`.
  @Explicit var metersToStart: Int?
  /// Of `remove`.
  @Explicit var who: String?
  /// Of `mark` and `record`.
  @Explicit var elapsedSeconds: Double?
  @Explicit var distanceMeters: Double?
  /// Of `record`.
  @Explicit var isFinished: Bool?

  /// - Parameter message: What became of it, for people.
  init(_ judged: JudgedEntry, message: String) {
    let entry = judged.entry
    position = entry.position
    at = DayTime.text(unixSeconds: entry.time.unixSeconds)
    id = entry.author.nkey
    _nickname = Explicit(wrappedValue: judged.nickname?.text)
    number = entry.number
    ask = entry.ask.word
    (verdict, self.message) = (judged.folded.word, message)
    _refusal = Explicit(wrappedValue: judged.folded.refusal?.word)
    let isOn: Bool? =
      if case .ready(let isReady) = entry.ask { isReady } else if case .here(let isHere) = entry.ask { isHere } else {
        nil
      }
    _isOn = Explicit(wrappedValue: isOn)
    let metres: Int? = if case .enter(_, let metres, _) = entry.ask { metres } else { nil }
    _metersToStart = Explicit(wrappedValue: metres)
    let who: MemberID? = if case .remove(let who) = entry.ask { who } else { nil }
    _who = Explicit(wrappedValue: who?.nkey)
    let run = entry.ask.run
    _elapsedSeconds = Explicit(wrappedValue: run?.elapsed.seconds)
    _distanceMeters = Explicit(wrappedValue: run?.decimetres.map { Double($0) / 10 })
    let record: RoomRecord? = if case .record(let record) = entry.ask { record } else { nil }
    _isFinished = Explicit(wrappedValue: record?.isFinished)
  }
}

extension RoomAskKind {
  /// The ask as a word, the same in text and JSON.
  var word: String {
    switch self {
    case .open: "open"
    case .enter: "enter"
    case .ready: "ready"
    case .here: "here"
    case .leave: "leave"
    case .close: "close"
    case .begin: "begin"
    case .proceed: "proceed"
    case .hold: "hold"
    case .cancel: "cancel"
    case .remove: "remove"
    case .stay: "stay"
    case .tick: "tick"
    case .mark: "mark"
    case .record: "record"
    case .unknown: "unknown"
    }
  }

  /// How far the run has come; `nil` for other asks.
  var run: (elapsed: BusDuration, decimetres: Int?)? {
    switch self {
    case .mark(let mark): (mark.elapsed, mark.decimetres)
    case .record(let record): (record.elapsed, record.decimetres)
    case .open, .enter, .ready, .here, .leave, .close, .begin, .proceed, .hold, .cancel, .remove, .stay, .tick,
      .unknown:
      nil
    }
  }
}

extension Folded {
  /// What became of an entry, as a word.
  var word: String {
    switch self {
    case .verdict(let verdict): verdict.word
    case .known: "known"
    case .gap: "gap"
    case .leftOut: "leftOut"
    }
  }

  /// Why it was rejected.
  var refusal: RoomRefusal? { if case .verdict(.rejected(let refusal)) = self { refusal } else { nil } }
}

extension RoomVerdict {
  fileprivate var word: String {
    switch self {
    case .opened: "opened"
    case .entered: "entered"
    case .noted: "noted"
    case .begun: "begun"
    case .held: "held"
    case .left: "left"
    case .removed: "removed"
    case .closed: "closed"
    case .cancelled: "cancelled"
    case .rejected: "rejected"
    }
  }
}

extension RoomRefusal {
  /// The refusal as a word, as in docs/together.md.
  var word: String {
    switch self {
    case .known: "known"
    case .notYours: "notYours"
    case .unsupported: "unsupported"
    case .unknownRoom: "unknownRoom"
    case .over: "over"
    case .notIn: "notIn"
    case .alreadyIn: "alreadyIn"
    case .notRecruiting: "notRecruiting"
    case .barred: "barred"
    case .otherCircle: "otherCircle"
    case .tooFar: "tooFar"
    case .unfit: "unfit"
    case .full: "full"
    case .notOwner: "notOwner"
    case .tooFew: "tooFew"
    case .notReady: "notReady"
    case .notHere: "notHere"
    case .notGathering: "notGathering"
    case .notCounting: "notCounting"
    case .tooLate: "tooLate"
    case .alreadyRunning: "alreadyRunning"
    case .matched: "matched"
    case .notRunning: "notRunning"
    case .implausible: "implausible"
    case .tooMany: "tooMany"
    }
  }
}
