import ArgumentParser
import RunBus

struct Check: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
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
        .bad("phone", Tongue.say(.checkNoPhone, ["bus": location.displayName])))
    }
    let line = CheckLine(findings)
    if json { try Output.jsonLine(line) } else { try Output.line(line.text) }
    guard line.status == .ok else { throw QuietExit(exitStatus: line.status.exitStatus) }
  }
}
