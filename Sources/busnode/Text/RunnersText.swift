import RunBus
import RunScripts

extension RoomText {
  static func sentence(_ answer: RoomAnswer, names: [MemberID: String] = [:]) -> String {
    switch answer {
    case .pending: "the phone has stored it"
    case .judged(_, let verdict): sentence(verdict, names: names)
    case .refused(let denial): sentence(denial)
    case .seeking: "the search is on"
    case .matched(let room): "matched in room \(short(room))"
    case .unmatched(let end): sentence(end)
    }
  }

  /// What happens in `up --runners`, as lines.
  static func lines(_ news: RunnersNews) -> [String] {
    switch news {
    case .ready(let plan):
      return plan.runners.map { runner in
        "\(column(runner.nickname))phone of bus \(runner.bus), a runner of \(clock(Double(runner.pace))) /km"
      }
    case .asked(let nickname, let ask, let answer, let names):
      return ["\(column(nickname))\(ask): \(sentence(answer, names: names))"]
    case .roster(let report):
      let names = names(report.state)
      let members = report.state.members.map { member in
        var words = member.id == report.state.owner ? ["owner"] : []
        words.append(member.isReady ? "ready" : "not ready")
        return "\(names[member.id] ?? "?") (\(words.joined(separator: ", ")))"
      }
      return ["room \(short(report.room)): \(members.joined(separator: ", "))"]
    case .gathering(let missing):
      guard !missing.isEmpty else { return ["gathering: all are at the start"] }
      let names = missing.map { "\($0.nickname) \($0.metres) m" }
      return ["gathering: missing \(names.joined(separator: ", "))"]
    case .countdown(let span): return ["countdown: \(tenths(span.seconds)) s"]
    case .running(let elapsed, let report):
      var line = "running: \(clock(elapsed.seconds))\(report.state.terms.map { " of \(clock($0.goal.seconds))" } ?? "")"
      let marked = report.state.members.filter { $0.mark != nil }
      // The distances of one moment only, which is that of most members soon.
      if let moment = marked.compactMap({ $0.mark?.elapsed.seconds.rounded() }).max() {
        let there = marked.compactMap { member in member.mark.map { (member.card.nickname.text, $0) } }
          .filter { $0.1.elapsed.seconds.rounded() == moment }
          .sorted { ($1.1.decimetres, $0.0) < ($0.1.decimetres, $1.0) }
        line += "; at \(clock(moment)): "
        line += there.map { "\($0.0) \(tenths(Double($0.1.decimetres) / 10)) m" }.joined(separator: ", ")
      }
      return [line]
    case .result(let nickname, let report):
      let lines = RoomResult(report.state).map { self.lines($0, self.names(report.state)) } ?? ["no result"]
      return ["as \(nickname) sees it:"] + lines.map { "  \($0)" }
    }
  }

  /// The end of `up --runners`.
  static func lines(_ result: RunnersResult) -> [String] {
    let differences = result.differences
    var lines = differences.isEmpty ? ["All \(result.views.count) phones agreed."] : ["The phones did not agree:"]
    lines += differences.map { "  \($0)" }
    if let report = result.views.first?.report {
      let digest = report.digest.map { ", digest \($0.description.prefix(16))" } ?? ""
      lines.append("\(report.count) entries\(digest)")
    }
    if let skew = RunnersAgreement.skew(of: result.views) {
      lines.append("the starts were within \(tenths(skew * 1000)) ms")
    }
    return lines
  }

  private static func column(_ text: String) -> String { TextWidth.fitted(text, to: 8) }
  private static func clock(_ seconds: Double) -> String {
    let whole = Int(seconds)
    return "\(whole / 60):\(twoDigits(whole % 60))"
  }
}
