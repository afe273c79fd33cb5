import RunBus
import RunScripts

/// The log of a room as people read it.
enum RoomLogText {
  /// The entries, a line each under a heading.
  static func lines(_ entries: [JudgedEntry]) -> [String] {
    let names = names(of: entries)
    return Columns.lines(
      [
        Tongue.say(.headingEntry), Tongue.say(.headingAt), Tongue.say(.headingRunner), Tongue.say(.headingAsk),
        Tongue.say(.headingVerdict),
      ],
      entries.map { judged in
        let entry = judged.entry
        return [
          "\(entry.position)", DayTime.text(unixSeconds: entry.time.unixSeconds),
          names[entry.author] ?? String(entry.author.description.prefix(8)), ask(entry.ask, names),
          sentence(judged, names),
        ]
      })
  }

  /// The names of those who write, each by the last card that it shows.
  static func names(of entries: [JudgedEntry]) -> [MemberID: String] {
    let last = entries.reduce(into: [MemberID: Nickname]()) { $0[$1.entry.author] = $1.nickname }
    return RoomText.names(last.map { (id: $0.key, nickname: $0.value) })
  }

  private static func ask(_ ask: RoomAskKind, _ names: [MemberID: String]) -> String {
    switch ask {
    case .ready(let isOn): isOn ? Tongue.say(.memberReady) : Tongue.say(.memberNotReady)
    case .here(let isOn): isOn ? Tongue.say(.memberHere) : Tongue.say(.memberNotHere)
    case .enter(_, let metres?, _): Tongue.say(.askEnterAt, ["metres": metres])
    case .remove(let who): Tongue.say(.askRemove, ["name": names[who] ?? String(who.description.prefix(8))])
    case .mark(let mark): Tongue.say(.askMark, ["run": run(mark.elapsed, mark.decimetres)])
    case .record(let record):
      Tongue.say(.askRecord, ["version": record.version, "run": run(record.elapsed, record.decimetres)])
        + (record.isFinished ? "" : Tongue.say(.askStoppedEarly))
    case .open, .enter(_, nil, _), .leave, .close, .begin, .proceed, .hold, .cancel, .stay, .tick, .unknown: word(ask)
    }
  }

  /// An ask about which there is nothing more to say.
  private static func word(_ ask: RoomAskKind) -> String {
    switch ask {
    case .open: Tongue.say(.askOpen)
    case .enter: Tongue.say(.askEnter)
    case .ready: Tongue.say(.memberReady)
    case .here: Tongue.say(.askHere)
    case .leave: Tongue.say(.askLeave)
    case .close: Tongue.say(.askClose)
    case .begin: Tongue.say(.askBegin)
    case .proceed: Tongue.say(.askProceed)
    case .hold: Tongue.say(.askHold)
    case .cancel: Tongue.say(.askCancel)
    case .stay: Tongue.say(.askStay)
    case .tick: Tongue.say(.askTick)
    case .unknown, .remove, .mark, .record: Tongue.say(.askUnknown)
    }
  }

  private static func run(_ elapsed: BusDuration, _ decimetres: Int?) -> String {
    let distance = decimetres.map { "\(RoomText.tenths(Double($0) / 10)) m" } ?? Tongue.say(.distanceUnknown)
    return "\(DurationText.clock(elapsed)), \(distance)"
  }

  /// What became of an entry.
  static func sentence(_ judged: JudgedEntry, _ names: [MemberID: String]) -> String {
    switch judged.folded {
    case .verdict(.rejected(let refusal)):
      Tongue.say(.judgedRejected, ["reason": RoomText.sentence(refusal, names: names)])
    case .verdict(let verdict): RoomText.sentence(verdict)
    case .known: Tongue.say(.judgedKnown)
    case .gap: Tongue.say(.judgedGap)
    case .leftOut where judged.entry.number > RoomMachine.numberMax:
      Tongue.say(.judgedTooHigh, ["number": RoomMachine.numberMax])
    case .leftOut: Tongue.say(.judgedStranger)
    }
  }
}

extension RoomText {
  /// What came out of a room's run, for the bus's own runner, too.
  static func outcome(_ report: RoomReport, _ result: RoomResult, me: MemberID?) -> [String] {
    let own = result.rows.first { $0.member == me }
    let names = names(report.state)
    return lines(result, names) + missing(report.state, names)
      + (own.map { own in
        let outcome = own.outcome.map { ", \($0.spoken)" } ?? ""
        return [
          row(
            Tongue.say(.memberYou), Tongue.say(.ownPlace, ["place": own.place, "count": result.rows.count]) + outcome)
        ]
      } ?? [])
  }
}
