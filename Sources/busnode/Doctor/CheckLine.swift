/// The line of `busnode check`: the worst finding, and how many more are not as they should be.
struct CheckLine: Codable, Hashable, Sendable {
  let status: Finding.Level
  let subject: String?
  let message: String
  /// How many findings there are beside it that are not as they should be.
  let more: Int

  init(_ findings: [Finding]) {
    let wrong = findings.filter { $0.level != .ok }.sorted { $0.level > $1.level }
    (status, subject, more) = (wrong.first?.level ?? .ok, wrong.first?.subject, max(0, wrong.count - 1))
    message = wrong.first?.text ?? Tongue.say(.checksDone, ["count": findings.count])
  }

  /// The line for people and monitoring systems.
  var text: String {
    let word =
      switch status {
      case .ok: "OK"
      case .warn: "WARNING"
      case .bad: "CRITICAL"
      }
    return "\(word): \(subject.map { "\(Finding.spoken(subject: $0)): " } ?? "")\(message)"
      + (more == 0 ? "" : Tongue.say(.checksMore, ["count": more]))
  }
}
