package import RunBus

/// What a phone of ``UpRunners`` has shown and told at the end.
package struct RunnerView: Hashable, Sendable {
  /// An ask of the phone, and its verdict.
  package struct Told: Hashable, Sendable {
    package var ask: String
    package var verdict: RoomVerdict

    package init(ask: String, verdict: RoomVerdict) { (self.ask, self.verdict) = (ask, verdict) }
  }
  package var nickname: String
  /// The room as the phone sees it; `nil` when it does not answer, or follows none.
  package var report: RoomReport?
  /// What it was asked, in that order.
  package var told: [Told]
  /// When its run began by the phone, in seconds of a clock that all phones share; `nil` when it has kept no run.
  package var startedAt: Double?

  package init(nickname: String, report: RoomReport?, told: [Told] = [], startedAt: Double? = nil) {
    (self.nickname, self.report, self.told, self.startedAt) = (nickname, report, told, startedAt)
  }
}

/// A room as this process reads it in the log, without any phone.
package struct RunnersLog: Hashable, Sendable {
  package var count: UInt64
  package var digest: LogHash?
  /// What became of each member's asks, in their order.
  package var verdicts: [MemberID: [RoomVerdict]]

  package init(count: UInt64, digest: LogHash?, verdicts: [MemberID: [RoomVerdict]]) {
    (self.count, self.digest, self.verdicts) = (count, digest, verdicts)
  }
}

/// Compares what the phones of a room have shown: all of them must have the same room.
package enum RunnersAgreement {
  /// By how much the starts may differ, seconds.
  package static let skewMax = 0.05

  /// The greatest difference of the phones' starts in seconds; `nil` while one of them is not known.
  package static func skew(of views: [RunnerView]) -> Double? {
    let starts = views.compactMap(\.startedAt)
    guard starts.count == views.count, let first = starts.min(), let last = starts.max() else { return nil }
    return last - first
  }

  /// What differs, a sentence each; empty when all agree.
  ///
  /// - Parameters:
  ///   - views: The phones; the others are compared with the first.
  ///   - log: The log; `nil` when it could not be read.
  package static func differences(of views: [RunnerView], log: RunnersLog?) -> [String] {
    var found: [String] = []
    for view in views where view.report == nil { found.append("\(view.nickname) has no room") }
    let first = views.first { $0.report != nil }
    if let first, let report = first.report {
      for view in views {
        if let other = view.report, view.nickname != first.nickname {
          found += compare(other, of: view.nickname, with: report, of: first.nickname)
        }
      }
      found += views.flatMap { flaws(of: $0, log: log) }
      if log == nil { found.append("the log could not be read") }
    }
    for view in views where view.startedAt == nil { found.append("\(view.nickname) has kept no run") }
    if let skew = skew(of: views), skew > skewMax {
      found.append("the starts are \(milliseconds(skew)) ms apart; at most \(milliseconds(skewMax)) ms")
    }
    return found
  }

  private static func compare(
    _ report: RoomReport, of name: String, with other: RoomReport, of otherName: String
  ) -> [String] {
    guard report.room == other.room else {
      return ["\(name) is in room \(report.room) and \(otherName) in \(other.room)"]
    }
    var found: [String] = []
    func roster(_ report: RoomReport) -> String {
      report.state.members.map(\.card.nickname.text).joined(separator: ", ")
    }
    let alike = zip(report.state.members, other.state.members).allSatisfy { $0.id == $1.id && $0.card == $1.card }
    if !alike || report.state.members.count != other.state.members.count || report.state.owner != other.state.owner {
      found.append("the roster of \(name) is \(roster(report)), that of \(otherName) \(roster(other)) (or they differ)")
    }
    if report.count != other.count {
      found.append("\(name) has read \(report.count) entries, \(otherName) \(other.count)")
    } else if report.digest != other.digest {
      found.append("\(name) has another digest than \(otherName) after \(report.count) entries")
    }
    if RoomResult(report.state) != RoomResult(other.state) {
      found.append("\(name) has another result than \(otherName)")
    }
    return found
  }

  private static func flaws(of view: RunnerView, log: RunnersLog?) -> [String] {
    guard let report = view.report else { return [] }
    var found: [String] = []
    if report.isLost { found.append("\(view.nickname) says that the log has lost entries") }
    if !report.warnings.isEmpty { found.append("\(view.nickname) says that somebody has changed the log") }
    for member in report.state.members where report.state.disputes.contains(member.id) {
      found.append("\(view.nickname) says that \(member.card.nickname) has read another log")
    }
    if let result = RoomResult(report.state) {
      if result.standing == .provisional { found.append("\(view.nickname) has no complete result") }
    } else {
      found.append("\(view.nickname) has no result")
    }
    guard let log else { return found }
    if report.count != log.count || report.digest != log.digest {
      found.append("\(view.nickname) has read \(report.count) entries, and the log has \(log.count) (or other ones)")
    }
    let judged = log.verdicts[report.me] ?? []
    if judged.count != view.told.count {
      found.append("\(view.nickname) has told \(view.told.count) of \(judged.count) verdicts that the log has")
    }
    for (told, verdict) in zip(view.told, judged) where told.verdict != verdict {
      found.append("\(view.nickname) has told another verdict of \(told.ask) than the log has")
    }
    return found
  }

  private static func milliseconds(_ seconds: Double) -> String {
    let tenths = Int((seconds * 10_000).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
  }
}
