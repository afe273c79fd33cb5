import ArgumentParser
import Foundation
import RunBus

struct Join: AsyncParsableCommand, NamesBus, Logs {
  static let configuration = CommandConfiguration(
    commandName: "join",
    abstract: "Pair this machine with a phone of another machine.",
    discussion: """
        busnode join --device watch-1  asks for the line that busnode pair shows on
                                       the phone's machine
        busnode join --device watch-1 < line
        busnode watch                  afterwards: the bus is found by its name, and
                                       connections have keys

      The line is a secret, so it is read from the terminal or from standard input, never from an argument. Both sides \
      show six digits; the person at the phone compares them and confirms.

      Afterwards every command with this bus's name uses the keys. The outbox and everything else \
      that a device keeps is named by the bus itself: a phone that changes its address is found again at any address \
      that it has told. Behind a firewall or ssh -L give the addresses here: --control and --events-port.

      A node that runs here meanwhile does not know the keys: it is named, and has to be started again.

      The keys are kept in $XDG_STATE_HOME/runbus/_keys, readable for you only. busnode keys show prints the public ones.

      EXIT STATUS:
        0    this machine is paired
        64   --sources: a source that is not known, without --force
        65   the line is wrong, or the phone refused
        69   no phone answered within two minutes
        75   a phone of that bus runs on this machine
      """)

  @Option(
    help: ArgumentHelp(
      "The name that this machine wants (default: its role; the phone adds a number when another device has the name).",
      valueName: "name"))
  var device: DeviceID?

  @Option(help: ArgumentHelp("What kind of node it is: watch, widget, or another word.", valueName: "role"))
  var role = "watch"

  @Option(
    help: ArgumentHelp(
      "What it wants to press: any of \(SourceList.known) (default: its role's button, and shell).",
      valueName: "sources"))
  var sources: SourceList?

  @Flag(help: "Take other words as --sources, too: sources that an app has of its own.")
  var force = false

  @OptionGroup var context: ContextOption

  @Option(help: .bus, completion: Completions.buses)
  var bus: String?

  @Option(
    help: ArgumentHelp(
      "Where the phone's control port is reached, tcp://HOST:PORT (default: the line's host, two ports below).",
      valueName: "address"))
  var control: String?

  @Option(help: ArgumentHelp("The port for events at that host (default: the one the phone names).", valueName: "port"))
  var eventsPort: PortArgument?

  @Option(help: .logLevel)
  var logLevel: LogLevel?

  @Option(help: .logFormat)
  var logFormat: LogFormat?

  @Flag(help: "Write JSON, one object a step.")
  var json = false

  func validate() throws {
    if !force { try sources?.check() }
  }

  func run() async throws {
    startLog()
    let bus = try busName()
    // Before the person is asked for the line, which is good for one attempt.
    for obstacle in StartChecks.obstacles(toJoining: bus, keys: KeyFiles()) { throw obstacle }
    let role = NodeRole(rawValue: role)
    guard let device = device ?? DeviceID(role.rawValue) else {
      throw Failure(code: "usage", message: Tongue.say(.joinNoName, ["role": role]), exitStatus: ExitStatus.usage)
    }
    if let reason = device.reasonNotToPair {
      throw Failure(code: "badInput", message: "\(reason) (--device)", exitStatus: ExitStatus.badInput)
    }
    let line = try readPairingLine()
    let former = try DeviceKeyring(bus, in: KeyFiles())?.value
    let (json, loop) = (json, try Loop())
    let wanted = sources?.sources ?? [Self.button(of: role), .shell]
    let (control, eventsPort) = (control, eventsPort?.port)
    let location = try await within(.seconds(130)) {
      try await BusLocation.join(
        line, as: device, role: role, sources: wanted, bus: bus, control: control, eventsPort: eventsPort, loop: loop
      ) { step in
        guard case .compare(let digits) = step else { return }
        if json { return Output.tell(json: PairStepJSON(step: "compare", digits: digits)) }
        Output.tell(Tongue.say(.joinDigits, ["digits": digits]))
        Output.tell(Tongue.say(.joinWaits))
      }
    }
    guard let location else {
      throw Failure(
        code: "noBus", message: Tongue.say(.joinNoAnswer),
        exitStatus: ExitStatus.noBus)
    }
    let name = location.keyring?.value.enrolment?.deviceID ?? device
    let present = location.keyring?.value
    let isSame = former?.hubKey == present?.hubKey && former?.own.publicKey == present?.own.publicKey
    let outsiders = isSame ? [] : await Self.running(at: [BusLocation(bus: bus), location])
    if json {
      Output.tell(json: PairStepJSON(step: "paired", device: name))
      return outsiders.forEach { Output.tell(json: PairStepJSON(step: "restart", device: $0)) }
    }
    if name != device { Output.tell(Tongue.say(.joinOtherName, ["device": device, "name": name])) }
    Output.tell(Tongue.say(.joinDone, ["name": name, "bus": bus, "flag": location.flag]))
    for device in outsiders { Output.tell(Tongue.say(.joinRestart, ["device": device])) }
  }

  /// The devices whose nodes run on this machine: a node reads its keys when it starts.
  private static func running(at locations: [BusLocation]) async -> [DeviceID] {
    var running: [DeviceID] = []
    for location in locations {
      let devices = LocalDevices(location: location)
      for device in (try? devices.all()) ?? [] where !running.contains(device) {
        let answer = (try? await devices.askRunning(.outbox, of: device)).flatMap { $0 }
        if answer != nil { running.append(device) }
      }
    }
    return running
  }

  private static func button(of role: NodeRole) -> ControlSource {
    role == .widget ? .liveActivity : ControlSource(rawValue: role.rawValue)
  }

  /// Reads the line from standard input, or asks for it at the terminal.
  private func readPairingLine() throws -> String {
    let line = StandardInput.isTerminal ? Prompt.answer(Tongue.say(.joinAskLine)) : readLine()
    guard let line, !line.isEmpty else {
      throw Failure(
        code: "badInput", message: Tongue.say(.joinNoLine),
        exitStatus: ExitStatus.badInput)
    }
    return line
  }
}
