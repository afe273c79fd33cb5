import RunBus
import RunScripts

extension RoomText {
  static func sentence(_ answer: RoomAnswer, names: [MemberID: String] = [:]) -> String {
    switch answer {
    case .pending: Tongue.say(.answerPending)
    case .judged(_, let verdict): sentence(verdict, names: names)
    case .refused(let denial): sentence(denial)
    case .seeking: Tongue.say(.answerSeeking)
    case .matched(let room): Tongue.say(.answerMatched, ["room": short(room)])
    case .unmatched(let end): sentence(end)
    }
  }

  /// What happens in `up --runners`, as lines.
  static func lines(_ news: RunnersNews) -> [String] {
    switch news {
    case .ready(let plan):
      return plan.runners.map { runner in
        column(runner.nickname)
          + Tongue.say(.runnersPhone, ["bus": runner.bus, "pace": clock(Double(runner.pace))])
      }
    case .asked(let nickname, let ask, let answer, let names):
      return ["\(column(nickname))\(ask): \(sentence(answer, names: names))"]
    case .roster(let report):
      let names = names(report.state)
      let members = report.state.members.map { member in
        var words = member.id == report.state.owner ? [Tongue.say(.memberOwner)] : []
        words.append(member.isReady ? Tongue.say(.memberReady) : Tongue.say(.memberNotReady))
        return "\(names[member.id] ?? "?") (\(words.joined(separator: ", ")))"
      }
      return [Tongue.say(.roomSays, ["room": short(report.room), "sentence": members.joined(separator: ", ")])]
    case .gathering(let missing):
      guard !missing.isEmpty else { return [Tongue.say(.gatheringAll)] }
      let names = missing.map { "\($0.nickname) \($0.metres) m" }
      return [Tongue.say(.gatheringMissing, ["names": names.joined(separator: ", ")])]
    case .countdown(let span): return [Tongue.say(.countdownOf, ["seconds": tenths(span.seconds)])]
    case .running(let elapsed, let report):
      var line = Tongue.say(.runningFor, ["time": clock(elapsed.seconds)])
      line += report.state.terms.map { Tongue.say(.runningOf, ["time": clock($0.goal.seconds)]) } ?? ""
      let marked = report.state.members.filter { $0.mark != nil }
      // The distances of one moment only, which is that of most members soon.
      if let moment = marked.compactMap({ $0.mark?.elapsed.seconds.rounded() }).max() {
        let there = marked.compactMap { member in member.mark.map { (member.card.nickname.text, $0) } }
          .filter { $0.1.elapsed.seconds.rounded() == moment }
          .sorted { ($1.1.decimetres, $0.0) < ($0.1.decimetres, $1.0) }
        line += Tongue.say(.runningAt, ["time": clock(moment)])
        line += there.map { "\($0.0) \(tenths(Double($0.1.decimetres) / 10)) m" }.joined(separator: ", ")
      }
      return [line]
    case .result(let nickname, let report):
      let lines = RoomResult(report.state).map { self.lines($0, self.names(report.state)) } ?? [Tongue.say(.noResult)]
      return [Tongue.say(.asSeenBy, ["name": nickname])] + lines.map { "  \($0)" }
    }
  }

  /// The end of `up --runners`.
  static func lines(_ result: RunnersResult) -> [String] {
    let differences = result.differences
    var lines =
      differences.isEmpty ? [Tongue.say(.phonesAgreed, ["count": result.views.count])] : [Tongue.say(.phonesDisagreed)]
    lines += differences.map { "  \($0)" }
    if let report = result.views.first?.report {
      let digest = report.digest.map { Tongue.say(.digestIs, ["digest": $0.description.prefix(16)]) } ?? ""
      lines.append(Tongue.say(.entriesIs, ["count": report.count, "digest": digest]))
    }
    if let skew = RunnersAgreement.skew(of: result.views) {
      lines.append(Tongue.say(.startsWithin, ["count": tenths(skew * 1000)]))
    }
    return lines
  }

  private static func column(_ text: String) -> String { TextWidth.fitted(text, to: 8) }
  private static func clock(_ seconds: Double) -> String {
    let whole = Int(seconds)
    return "\(whole / 60):\(twoDigits(whole % 60))"
  }
}
