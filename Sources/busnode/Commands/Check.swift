import ArgumentParser
import RunBus

struct Check: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Say in one line whether the phone runs and all is well, for monitoring systems.",
    discussion: """
        busnode check
        busnode check --bus race

      Looks at what busnode doctor looks at, and that a phone runs on this machine, or answers, where this machine is \
      paired with it. The line begins with OK, WARNING or CRITICAL, then says the worst that was found. It changes nothing.

      EXIT STATUS:
        0    OK
        1    WARNING: something should be looked at
        2    CRITICAL: no phone runs, or something does not work or is not safe
      """)

  @OptionGroup var bus: BusOptions

  @Flag(help: "Write one JSON object.")
  var json = false

  func run() async throws {
    bus.startLog()
    let location = try bus.hubLocation()
    var findings = await Finding.all(of: location)
    let isPaired = (try? bus.location().keyring) != nil
    if !isPaired, HubLock.holder(of: location) == nil {
      findings.append(
        .bad("phone", "no phone of bus \"\(location.displayName)\" runs here: start it with busnode phone"))
    }
    let line = CheckLine(findings)
    if json { try Output.jsonLine(line) } else { try Output.line(line.text) }
    guard line.status == .ok else { throw QuietExit(exitStatus: line.status.exitStatus) }
  }
}

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
    message = wrong.first?.text ?? "\(findings.count) checks"
  }

  /// The line for people and monitoring systems.
  var text: String {
    let word =
      switch status {
      case .ok: "OK"
      case .warn: "WARNING"
      case .bad: "CRITICAL"
      }
    return "\(word): \(subject.map { "\($0): " } ?? "")\(message)"
      + (more == 0 ? "" : " (and \(more) more: busnode doctor)")
  }
}
