import RunBus
import RunScripts

extension RoomAnswer {
  /// Whether the phone has done what it was asked.
  var isDone: Bool {
    guard case .judged(_, let verdict) = self else { return false }
    if case .rejected = verdict { return false }
    return true
  }
}

extension RoomText {
  static func sentence(_ answer: RoomAnswer, names: [MemberID: String] = [:]) -> String {
    switch answer {
    case .pending: "the phone has stored it"
    case .judged(_, let verdict): sentence(verdict, names: names)
    case .refused(let denial): sentence(denial)
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
      let goal = report.state.terms.map { " of \(clock($0.goal.seconds))" } ?? ""
      let marks = report.state.members.compactMap { member in
        member.mark.map {
          "\(member.card.nickname) \(tenths(Double($0.decimetres) / 10)) m at \(clock($0.elapsed.seconds))"
        }
      }
      return ["running: \(clock(elapsed.seconds))\(goal)"]
        + (marks.isEmpty ? [] : ["  " + marks.joined(separator: ", ")])
    case .result(let nickname, let report):
      let lines = RoomResult(report.state).map { self.lines($0, self.names(report.state)) } ?? ["no result"]
      return ["as \(nickname) sees it:"] + lines.map { "  \($0)" }
    }
  }

  /// The end of `up --runners`.
  static func lines(_ result: RunnersResult) -> [String] {
    let summary = RunnersJSON.Summary(result)
    var lines =
      summary.agreed ? ["All \(summary.runners) phones agreed."] : ["The phones did not agree:"]
    lines += summary.differences.map { "  \($0)" }
    if let entries = summary.entries {
      lines.append("\(entries) entries\(summary.digest.map { ", digest \($0.prefix(16))" } ?? "")")
    }
    if let skew = summary.startSkewSeconds { lines.append("the starts were within \(tenths(skew * 1000)) ms") }
    return lines
  }

  private static func column(_ text: String) -> String { TextWidth.fitted(text, to: 8) }
  private static func clock(_ seconds: Double) -> String {
    let whole = Int(seconds)
    return "\(whole / 60):\(twoDigits(whole % 60))"
  }
}
