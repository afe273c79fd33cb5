import RunBus
import RunScripts

/// Rooms as people read them.
enum RoomText {
  /// The first digits of a room's id, by which it is named.
  static func short(_ room: RoomID) -> String { String(room.description.prefix(8)) }

  /// What became of an ask.
  static func sentence(_ verdict: RoomVerdict, names: [MemberID: String] = [:]) -> String {
    switch verdict {
    case .opened: Tongue.say(.roomOpened)
    case .entered: Tongue.say(.roomEntered)
    case .noted: Tongue.say(.roomNoted)
    case .begun: Tongue.say(.roomBegun)
    case .held: Tongue.say(.roomHeld)
    case .left: Tongue.say(.roomLeft)
    case .removed: Tongue.say(.roomRemoved)
    case .closed: Tongue.say(.roomClosed)
    case .cancelled: Tongue.say(.roomCancelled)
    case .rejected(let refusal): sentence(refusal, names: names)
    }
  }

  static func sentence(_ refusal: RoomRefusal, names: [MemberID: String] = [:]) -> String {
    func list(_ members: [MemberID]) -> String {
      members.map { names[$0] ?? String($0.description.prefix(8)) }.joined(separator: ", ")
    }
    return switch refusal {
    case .known: Tongue.say(.refusedKnown)
    case .notYours: Tongue.say(.refusedNotYours)
    case .unsupported: Tongue.say(.refusedUnsupported)
    case .unknownRoom: Tongue.say(.refusedUnknownRoom)
    case .over: Tongue.say(.refusedOver)
    case .notIn: Tongue.say(.refusedNotIn)
    case .alreadyIn: Tongue.say(.refusedAlreadyIn)
    case .notRecruiting: Tongue.say(.refusedNotRecruiting)
    case .barred: Tongue.say(.refusedBarred)
    case .otherCircle: Tongue.say(.refusedOtherCircle)
    case .tooFar(let metres): tooFar(metres)
    case .unfit(let unfit): Tongue.say(.refusedUnfit, ["what": unfit.spoken])
    case .full: Tongue.say(.refusedFull)
    case .notOwner: Tongue.say(.refusedNotOwner)
    case .tooFew: Tongue.say(.refusedTooFew)
    case .notReady(let who): Tongue.say(.refusedNotReady, ["names": list(who)])
    case .notHere(let who): Tongue.say(.refusedNotHere, ["names": list(who)])
    case .notGathering: Tongue.say(.refusedNotGathering)
    case .notCounting: Tongue.say(.refusedNotCounting)
    case .tooLate: Tongue.say(.refusedTooLate)
    case .alreadyRunning: Tongue.say(.refusedRunning)
    case .matched: Tongue.say(.refusedMatched)
    case .notRunning: Tongue.say(.refusedNotRunning)
    case .implausible: Tongue.say(.refusedImplausible)
    case .tooMany: Tongue.say(.refusedTooMany)
    }
  }

  private static func tooFar(_ metres: Int?) -> String {
    guard let metres else { return Tongue.say(.tooFarUnknown) }
    return Tongue.say(.tooFar, ["metres": grouped(metres)])
  }

  private static func grouped(_ number: Int) -> String {
    number < 1000 ? "\(number)" : "\(grouped(number / 1000)),\(String(String(1000 + number % 1000).dropFirst()))"
  }

  static func sentence(_ denial: RoomDenial) -> String {
    switch denial {
    case .alone: Tongue.say(.deniedAlone)
    case .inRoom(let room): Tongue.say(.deniedInRoom, ["room": short(room)])
    case .noRoom: Tongue.say(.deniedNoRoom)
    case .runIsOn: Tongue.say(.deniedRunIsOn)
    case .tooFar(let metres): tooFar(metres)
    case .otherSpeed: Tongue.say(.deniedOtherSpeed)
    case .update: Tongue.say(.deniedUpdate)
    case .unknownRoom: Tongue.say(.refusedUnknownRoom)
    case .expired: Tongue.say(.deniedExpired)
    case .forbidden: Tongue.say(.deniedForbidden)
    case .busy: Tongue.say(.deniedBusy)
    case .seeking: Tongue.say(.deniedSeeking)
    case .notSeeking: Tongue.say(.deniedNotSeeking)
    case .outOfReach: Tongue.say(.deniedOutOfReach)
    }
  }

  /// Why a search is over.
  static func sentence(_ end: SearchEnd) -> String {
    switch end {
    case .nobodyFound: Tongue.say(.endNobodyFound)
    case .stopped: Tongue.say(.roomClosed)
    case .left: Tongue.say(.endLeft)
    case .broken: Tongue.say(.endBroken)
    }
  }

  static func reason(_ end: RoomEnd) -> String {
    switch end {
    case .owner: Tongue.say(.becauseOwner)
    case .closed: Tongue.say(.becauseClosed)
    case .left: Tongue.say(.becauseLeft)
    case .nobodyCame: Tongue.say(.becauseNobodyCame)
    case .nobodyFound: Tongue.say(.endNobodyFound)
    }
  }

  /// What a phone that ends leaves undone in a room; `nil` for nothing.
  static func unfinished(_ report: RoomReport) -> String? {
    guard !report.isLost, let me = report.state.member(report.me) else { return nil }
    switch report.state.stage {
    case .running:
      return Tongue.say(.unfinishedRun, ["room": short(report.room)])
    case .settling where me.record == nil:
      return Tongue.say(.unfinishedRecord, ["room": short(report.room)])
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
    var stage = state.stage.spoken
    if state.terms?.isMatched == true, state.stage == .recruiting {
      stage += state.members.count < 2 ? Tongue.say(.stageSearching) : Tongue.say(.stageMatched)
    }
    if case .cancelled(let end) = state.stage { stage += ", \(reason(end))" }
    if let startsIn = report.startsIn, case .countdown = state.stage, startsIn > .zero {
      stage += Tongue.say(.stageStartsIn, ["seconds": tenths(startsIn.seconds)])
    }
    if report.isProvisional { stage += Tongue.say(.stageByClock) }
    if report.isLost { stage += Tongue.say(.stageLost) }
    var lines =
      [row(Tongue.say(.labelRoom), short(report.room))] + (passing ? [row(Tongue.say(.labelStage), stage)] : [])
    if let terms = state.terms {
      lines.append(row(Tongue.say(.labelGoal), DurationText.clock(terms.goal)))
      if let start = terms.start { lines.append(row(Tongue.say(.labelStart), start.label)) }
      lines.append(
        row(Tongue.say(.labelPlaces), Tongue.say(.placesOf, ["count": state.members.count, "places": terms.places])))
    }
    for member in state.members {
      var words: [String] = []
      if member.id == report.me { words.append(Tongue.say(.memberYou)) }
      if member.id == state.owner, state.terms?.isMatched == false { words.append(Tongue.say(.memberOwner)) }
      if state.stage == .recruiting {
        words.append(member.isReady ? Tongue.say(.memberReady) : Tongue.say(.memberNotReady))
      }
      if state.stage == .gathering {
        words.append(member.isHere ? Tongue.say(.memberHere) : Tongue.say(.memberNotHere))
      }
      let roles = words.isEmpty ? "" : "  (\(words.joined(separator: ", ")))"
      lines.append(row(Tongue.say(.labelMember), (names[member.id] ?? "?") + roles))
    }
    if let trouble = report.trouble {
      lines.append(row(Tongue.say(.labelWarning), Tongue.say(.logOutOfReach, ["reason": trouble])))
    }
    for warning in RoomWarning.allCases where report.warnings.contains(warning) {
      lines.append(row(Tongue.say(.labelWarning), warning.spoken))
    }
    for who in state.disputes.sorted() {
      lines.append(
        row(Tongue.say(.labelWarning), Tongue.say(.readAnotherLog, ["name": names[who] ?? Tongue.say(.aMember)])))
    }
    if passing, let hold = hold(report) { lines.append(row(Tongue.say(.memberYou), hold)) }
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
    return Tongue.say(.heldUntil, ["time": time])
  }

  /// Whose records a provisional result waits for.
  static func missing(_ state: RoomState, _ names: [MemberID: String]) -> [String] {
    guard case .settling = state.stage else { return [] }
    let who = state.members.filter { $0.record == nil }.map { names[$0.id] ?? "?" }
    guard !who.isEmpty else { return [] }
    let list = who.joined(separator: ", ")
    let what =
      who.count == 1
      ? Tongue.say(.missingRecord, ["names": list]) : Tongue.say(.missingRecords, ["names": list])
    return [row(Tongue.say(.labelMissing), Tongue.say(.missingSince, ["what": what]))]
  }

  /// A result, a line each member.
  static func lines(_ result: RoomResult, _ names: [MemberID: String]) -> [String] {
    [row(Tongue.say(.labelResult), result.standing.spoken)]
      + result.rows.map { row in
        var text = "\(row.place).  \(names[row.member] ?? "?")"
        text += row.decimetres.map { "  \(tenths(Double($0) / 10)) m" } ?? "  " + Tongue.say(.distanceUnknown)
        if row.decimetres != nil, !row.isConfirmed { text += Tongue.say(.unconfirmed) }
        if row.isFinished == false { text += Tongue.say(.stoppedEarly) }
        if let outcome = row.outcome { text += "  \(outcome.spoken)" }
        return "          " + text
      }
  }

  /// A text behind what it is. The texts of all rows begin in one column, behind Korean words, too.
  static func row(_ label: String, _ text: String) -> String {
    TextWidth.fitted(label, to: max(10, TextWidth.of(label) + 1)) + text
  }

  static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
  static func tenths(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }
}
