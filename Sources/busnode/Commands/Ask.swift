import ArgumentParser
import RunBus

struct Ask: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ask",
    abstract: "Ask an app on another device a question, through a node on this machine.",
    discussion: """
        busnode ask battery --of watch     the phone asks the watch
        busnode ask route 5km              the watch asks the phone
        busnode ask scan - < plan.json     the question is standard input

      The answer is written as it is. A question is sent now or not at all, and is never repeated; who answers may have \
      done what it asks for although no answer came. Apps answer with replies(to:), scripts with busnode answer.

      --json writes name, fromDeviceId (null for the hub), bytes, text (null unless it is UTF-8) and base64 (null if it \
      is).

      EXIT STATUS:
        0   the answer is written
        3   the other app answered that it cannot, or the node refused to ask
        64  the name is not 1 to 64 bytes without control characters, or the body
            has more than 32,768 bytes
        69  the asking node does not run here, the other device is not in reach, or
            no answer came in time
        75  64 questions of shells wait at the node already
      """)

  @Argument(help: "The question's name.")
  var name: MessageNameArgument

  @Argument(help: "The question's text, or - for standard input; empty by default.")
  var body = ""

  @Option(
    help: ArgumentHelp("The device that is asked (default: the hub).", valueName: "device"),
    completion: Completions.devices)
  var of: DeviceID?

  @Option(
    help: ArgumentHelp("The device that asks (default: the watch; with --of the phone).", valueName: "device"),
    completion: Completions.devices)
  var from: DeviceID?

  @Option(help: ArgumentHelp("How long to wait for the answer (default: 10).", valueName: "time"))
  var timeout: TimeArgument?

  @OptionGroup var bus: BusOptions

  @Flag(help: "Write one JSON object.")
  var json = false

  func run() async throws {
    bus.startLog()
    let location = try bus.location()
    let asker = from ?? DeviceID.role(of == nil ? .watch : .phone)
    let question = AppMessage(id: .random(), name: name.name, body: try MessageBody.bytes(body))
    let patience = timeout?.span ?? .seconds(10)
    let answer: [UInt8]
    do {
      answer = try await AdminClient.ask(
        .ask(question, of: of, patience: patience), of: asker, on: location, within: patience + LocalDevices.patience)
    } catch {
      throw Self.failure(error)
    }
    if json { return try Output.jsonLine(AnswerJSON(answer, to: name.name, from: of)) }
    try Output.content(answer)
  }

  private static func failure(_ error: RunBusError) -> Failure {
    guard let reason = error.failure else { return Failure(error) }
    let status =
      switch reason.code {
      case .unreachable, .timeout, .closed: ExitStatus.noBus
      case .full: ExitStatus.busHeld
      default: ExitStatus.rejected
      }
    return Failure(code: "noAnswer", message: reason.message, exitStatus: status)
  }
}
