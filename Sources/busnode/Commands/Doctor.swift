import ArgumentParser
import RunBus

struct Doctor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Look for what is wrong with RunBus on this machine, and say what to do.",
    discussion: """
        busnode doctor                          this machine, and the bus
        busnode doctor --listen 'tcp://*:7070'  also whether a phone could listen
                                                there

      Looks at the versions, the check of keys, the limit of open files, the clock, free space, who may enter the \
      directories, the key files, each store of the bus, what phone, watch, widget and join ask before they start, whether \
      a phone that runs here answers, whether the phone of a paired machine lets this one in, and the logs of all rooms of \
      this machine. It changes nothing, and may be used while nodes run.

      EXIT STATUS:
        0    all is well
        1    something should be looked at (warn)
        2    something does not work or is not safe (bad)
      """)

  @OptionGroup var bus: BusOptions

  @Option(
    help: ArgumentHelp("Where a phone would listen: tcp://HOST:PORT, with the next two ports.", valueName: "address"))
  var listen: String?

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  func run() async throws {
    bus.startLog()
    let findings = await Finding.all(of: try bus.hubLocation(), listener: try listener())
    for finding in findings {
      if json {
        try Output.jsonLine(finding)
      } else {
        let (level, subject) = (
          finding.levelWord.padding(to: 6), Finding.spoken(subject: finding.subject).padding(to: 13)
        )
        try Output.line(level + subject + finding.text)
      }
    }
    let worst = findings.map(\.level).max() ?? .ok
    guard worst == .ok else { throw QuietExit(exitStatus: worst.exitStatus) }
  }
}

extension Doctor {
  /// Where a phone would listen.
  private func listener() throws(Failure) -> RemoteListener? {
    guard let listen else { return nil }
    do {
      return try RemoteListener(listen)
    } catch {
      throw Failure(code: "usage", message: error.message, exitStatus: ExitStatus.usage)
    }
  }
}

extension String {
  /// The text with blanks behind it, up to a width.
  fileprivate func padding(to width: Int) -> String {
    self + String(repeating: " ", count: max(1, width - TextWidth.of(self)))
  }
}
