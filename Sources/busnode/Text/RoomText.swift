import RunBus
import RunScripts

/// Rooms as people read them.
enum RoomText {
  /// The first digits of a room's id, by which it is named.
  static func short(_ room: RoomID) -> String { String(room.description.prefix(8)) }

  /// What became of an ask.
  static func sentence(_ verdict: RoomVerdict, names: [MemberID: String] = [:]) -> String {
    switch verdict {
    case .opened: "the room is open"
    case .entered: "you are in"
    case .noted: "noted"
    case .begun: "it begins"
    case .held: "the countdown is held: nobody is ready"
    case .left: "you have left"
    case .removed: "removed, for good"
    case .closed: "the search is over"
    case .cancelled: "the room is cancelled"
    case .rejected(let refusal): sentence(refusal, names: names)
    }
  }

  static func sentence(_ refusal: RoomRefusal, names: [MemberID: String] = [:]) -> String {
    func list(_ members: [MemberID]) -> String {
      members.map { names[$0] ?? String($0.description.prefix(8)) }.joined(separator: ", ")
    }
    return switch refusal {
    case .known: "the room is open already"
    case .notYours: "the room belongs to another runner"
    case .unsupported: "this room does not know that: use the version of RunBus that its opener has"
    case .unknownRoom: "there is no such room"
    case .over: "the room is over"
    case .notIn: "not in the room: enter it first"
    case .alreadyIn: "you are in already"
    case .notRecruiting: "the room takes nobody in now"
    case .barred: "the owner has removed you from this room"
    case .otherCircle: "the room is for another circle"
    case .tooFar(let metres): tooFar(metres)
    case .unfit(let unfit): "you do not fit: another \(unfit.rawValue)"
    case .full: "the room is full"
    case .notOwner: "only the owner may do that"
    case .tooFew: "it takes two to run together"
    case .notReady(let who): "not ready: \(list(who))"
    case .notHere(let who): "not at the start: \(list(who))"
    case .notGathering: "the room does not gather now"
    case .notCounting: "there is no countdown"
    case .tooLate: "too late: the run is on, or starts within a second"
    case .alreadyRunning: "the run is on: nobody leaves it; your own run ends when you stop it, the room at its goal"
    case .matched: "another runner was faster: you are matched"
    case .notRunning: "there is no run"
    case .implausible: "nobody runs that far in that time"
    case .tooMany: "you have said too much in this room"
    }
  }

  private static func tooFar(_ metres: Int?) -> String {
    guard let metres else { return "it is not known how far you are from the start; at most 1,000 m" }
    return "\(grouped(metres)) m from the start; at most 1,000 m"
  }

  private static func grouped(_ number: Int) -> String {
    number < 1000 ? "\(number)" : "\(grouped(number / 1000)),\(String(String(1000 + number % 1000).dropFirst()))"
  }

  static func sentence(_ denial: RoomDenial) -> String {
    switch denial {
    case .alone: "this phone takes no part in rooms: start it with --together NAME"
    case .inRoom(let room): "you are in room \(short(room)) until you leave it or its run is over"
    case .noRoom: "you are in no room: busnode room enter ROOM"
    case .runIsOn: "a run is on: stop it first"
    case .tooFar(let metres): tooFar(metres)
    case .otherSpeed: "the room's time passes at another speed than this phone's"
    case .update: "the room has later rules: update RunBus"
    case .unknownRoom: "there is no such room"
    case .expired: "the phone was out of reach for a minute: ask again"
    case .forbidden: "this device may not press as this source"
    case .busy: "too much waits already: try again"
    case .seeking: "a search is on: busnode match --stop ends it"
    case .notSeeking: "no search is on"
    case .outOfReach: "the log of the rooms is out of reach"
    }
  }

  /// Why a search is over.
  static func sentence(_ end: SearchEnd) -> String {
    switch end {
    case .nobodyFound: "nobody was found"
    case .stopped: "the search is over"
    case .left: "the search is over: you have left, or were not ready in time"
    case .broken: "the search is over: the log of the rooms does not answer, or has lost the room"
    }
  }

  static func reason(_ end: RoomEnd) -> String {
    switch end {
    case .owner: "by its owner"
    case .closed: "the search was ended"
    case .left: "everybody left"
    case .nobodyCame: "nobody came"
    case .nobodyFound: "nobody was found"
    }
  }

  /// What a phone that ends leaves undone in a room; `nil` for nothing.
  static func unfinished(_ report: RoomReport) -> String? {
    guard !report.isLost, let me = report.state.member(report.me) else { return nil }
    switch report.state.stage {
    case .running:
      return "the run of room \(short(report.room)) is not over: start the phone again, so that its distance counts"
    case .settling where me.record == nil:
      return "room \(short(report.room)) has no record of this phone's run yet, and its result stays provisional: "
        + "start the phone again within a day"
    case .none, .recruiting, .gathering, .countdown, .settling, .over, .cancelled: return nil
    }
  }

  /// The names of members; two alike have the first digits of their keys.
  static func names(_ state: RoomState) -> [MemberID: String] { names(state.members.map { ($0.id, $0.card.nickname) }) }

  /// The names of runners, each of them once; two alike have the first digits of their keys.
  static func names(_ runners: [(id: MemberID, nickname: Nickname)]) -> [MemberID: String] {
    let counts = runners.reduce(into: [Nickname: Int]()) { $0[$1.nickname, default: 0] += 1 }
    return runners.reduce(into: [:]) { names, runner in
      let isDouble = counts[runner.nickname, default: 0] > 1
      names[runner.id] = runner.nickname.text + (isDouble ? " (\(runner.id.description.prefix(4)))" : "")
    }
  }

  /// A room, a line each for what is known.
  static func lines(_ report: RoomReport) -> [String] { lines(report, passing: true) }

  /// The lines of a room but for those that change with time alone.
  static func lasting(_ report: RoomReport) -> [String] { lines(report, passing: false) }

  /// - Parameter passing: Whether there are lines that change with time alone.
  private static func lines(_ report: RoomReport, passing: Bool) -> [String] {
    let (state, names) = (report.state, names(report.state))
    var stage = state.stage.word
    if state.terms?.isMatched == true, state.stage == .recruiting {
      stage += state.members.count < 2 ? " (a search for another runner)" : " (matched)"
    }
    if case .cancelled(let end) = state.stage { stage += ", \(reason(end))" }
    if let startsIn = report.startsIn, case .countdown = state.stage, startsIn > .zero {
      stage += ", starts in \(tenths(startsIn.seconds)) s"
    }
    if report.isProvisional { stage += " (by the clock; the log does not say so yet)" }
    if report.isLost { stage += "; the log has lost this room" }
    var lines = ["room      \(short(report.room))"] + (passing ? ["stage     \(stage)"] : [])
    if let terms = state.terms {
      lines.append("goal      \(DurationText.clock(terms.goal))")
      if let start = terms.start { lines.append("start     \(start.label)") }
      lines.append("places    \(state.members.count) of \(terms.places)")
    }
    for member in state.members {
      var words: [String] = []
      if member.id == report.me { words.append("you") }
      if member.id == state.owner, state.terms?.isMatched == false { words.append("owner") }
      if state.stage == .recruiting { words.append(member.isReady ? "ready" : "not ready") }
      if state.stage == .gathering { words.append(member.isHere ? "at the start" : "not at the start") }
      lines.append("member    \(names[member.id] ?? "?")\(words.isEmpty ? "" : "  (\(words.joined(separator: ", ")))")")
    }
    if let trouble = report.trouble { lines.append("warning   the log is out of reach: \(trouble)") }
    for warning in RoomWarning.allCases where report.warnings.contains(warning) {
      lines.append("warning   \(warning.message)")
    }
    for who in state.disputes.sorted() { lines.append("warning   \(names[who] ?? "a member") has read another log") }
    if passing, let hold = hold(report) { lines.append("you       \(hold)") }
    if let result = RoomResult(state) { lines += self.lines(result, names) + missing(state, names) }
    return lines
  }

  /// What keeps the runner in a room whose run is on; `nil` for one who is not held.
  private static func hold(_ report: RoomReport) -> String? {
    guard case .running = report.state.stage, report.state.member(report.me) != nil, !report.isLost,
      let terms = report.state.terms, let startsIn = report.startsIn
    else { return nil }
    let left = max(.zero, terms.span + startsIn)
    let time = DurationText.countdown(left)
    return "in it until its run is over, in \(time), also when your own is: then another takes you"
  }

  /// Whose records a provisional result waits for.
  static func missing(_ state: RoomState, _ names: [MemberID: String]) -> [String] {
    guard case .settling = state.stage else { return [] }
    let who = state.members.filter { $0.record == nil }.map { names[$0.id] ?? "?" }
    guard !who.isEmpty else { return [] }
    let list = who.joined(separator: ", ")
    let what =
      who.count == 1
      ? "the record of \(list): it comes from its phone" : "the records of \(list): they come from their phones"
    return ["missing   \(what), a minute of the run after its end"]
  }

  /// A result, a line each member.
  static func lines(_ result: RoomResult, _ names: [MemberID: String]) -> [String] {
    ["result    \(result.standing.rawValue)"]
      + result.rows.map { row in
        var text = "\(row.place).  \(names[row.member] ?? "?")"
        text += row.decimetres.map { "  \(tenths(Double($0) / 10)) m" } ?? "  distance unknown"
        if row.decimetres != nil, !row.isConfirmed { text += " (unconfirmed)" }
        if row.isFinished == false { text += "  stopped early" }
        if let outcome = row.outcome { text += "  \(outcome.rawValue)" }
        return "          " + text
      }
  }

  static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
  static func tenths(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }
}
