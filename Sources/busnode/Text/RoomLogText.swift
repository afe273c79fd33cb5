import RunBus
import RunScripts

/// The log of a room as people read it.
enum RoomLogText {
  /// The entries, a line each under a heading.
  static func lines(_ entries: [JudgedEntry]) -> [String] {
    let names = names(of: entries)
    return Columns.lines(
      ["ENTRY", "AT", "RUNNER", "ASK", "VERDICT"],
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
    case .ready(let isOn): isOn ? "ready" : "not ready"
    case .here(let isOn): isOn ? "at the start" : "not at the start"
    case .enter(_, let metres?, _): "enter, \(metres) m from the start"
    case .remove(let who): "remove \(names[who] ?? String(who.description.prefix(8)))"
    case .mark(let mark): "mark \(run(mark.elapsed, mark.decimetres))"
    case .record(let record):
      "record \(record.version): \(run(record.elapsed, record.decimetres))\(record.isFinished ? "" : ", stopped early")"
    case .open, .enter(_, nil, _), .leave, .close, .begin, .proceed, .hold, .cancel, .stay, .tick, .unknown: ask.word
    }
  }

  private static func run(_ elapsed: BusDuration, _ decimetres: Int?) -> String {
    let distance = decimetres.map { "\(RoomText.tenths(Double($0) / 10)) m" } ?? "distance unknown"
    return "\(DurationText.clock(elapsed)), \(distance)"
  }

  /// What became of an entry.
  static func sentence(_ judged: JudgedEntry, _ names: [MemberID: String]) -> String {
    switch judged.folded {
    case .verdict(.rejected(let refusal)): "rejected: \(RoomText.sentence(refusal, names: names))"
    case .verdict(let verdict): RoomText.sentence(verdict)
    case .known: "known: its number was used before"
    case .gap: "not judged: a number before it is missing"
    case .leftOut where judged.entry.number > RoomMachine.numberMax:
      "left out: its number is above \(RoomMachine.numberMax)"
    case .leftOut: "left out: too many strangers have written here"
    }
  }
}

extension RoomText {
  /// What came out of a room's run, for the bus's own runner, too.
  static func outcome(_ report: RoomReport, _ result: RoomResult, me: MemberID?) -> [String] {
    let own = result.rows.first { $0.member == me }
    let names = names(report.state)
    return lines(result, names) + missing(report.state, names)
      + (own.map { ["you       \($0.place). of \(result.rows.count)\($0.outcome.map { ", \($0.rawValue)" } ?? "")"] }
        ?? [])
  }
}
