import ArgumentParser
import RunBus
import RunScripts

struct Listen: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "listen",
    abstract: "Receive messages of an app, at a node on this machine.",
    discussion: """
        busnode listen                          messages to the phone, a line each
        busnode listen photo --exec ./show      runs it for each, body on its
                                                standard input
        busnode listen --device watch --count 1 the watch's next message

      It takes the messages in the place of the node's app, one at a time and in order, until Ctrl-C. A message that is \
      printed, or whose command ends with exit status 0, is processed. After another status its sender sends it again \
      after 1, 2, 4 and 8 s and then sets it aside (busnode outbox quarantine).

      The body is on the command's standard input, never in its arguments; RUNBUS_MESSAGE_NAME, _ID, _FROM, _CLASS \
      and _KEY are in its environment. When listen is killed or stopped, or the machine fails, before the node has \
      stored the end, the message comes again with the same id: a command may run twice for one message. One that takes \
      longer than --exec-timeout is ended: SIGTERM, 2 s later SIGKILL, to it and all that it has started.

      --json writes messageId, name, fromDeviceId, class, key, bytes, text (null unless it is UTF-8) and base64 (null \
      if it is).

      EXIT STATUS:
        0    --count messages are processed, or its reader has gone
        69   the node does not run on this machine, or has ended
        74   a line cannot be written; its message is not processed
        75   another listener has these messages, or 16 are there already
        130  Ctrl-C
      """)

  @Argument(help: "The name of the messages (default: all without another reader).")
  var name: MessageNameArgument?

  @Option(help: ArgumentHelp("Run this by sh -c for each message.", valueName: "command"))
  var exec: String?

  @Option(
    help: ArgumentHelp("End after this many messages; one whose command fails does not count.", valueName: "number"))
  var count: NumberArgument?

  @OptionGroup var execution: ExecOptions

  @Option(
    help: ArgumentHelp("The device whose messages to receive.", valueName: "name"),
    completion: Completions.devices)
  var device = DeviceID.role(.phone)

  @OptionGroup var bus: BusOptions

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  func run() async throws {
    bus.startLog()
    let location = try bus.location()
    let listener = Listener(at: device, on: location, .messages(name?.name), endsWithReader: exec == nil)
    let (command, device, json) = (exec.map { execution.command($0) }, device, json)
    try await listener.run(countMax: count?.number) { handed in
      guard let command else {
        try Self.show(handed.received, json: json)
        return .processed
      }
      let received = handed.received
      let variables = ShellCommand.variables(received, at: device, on: location)
      switch await command.run(received.message.body, variables: variables, output: .standardOutput) {
      case .succeeded: return .processed
      case .failed(let reason): return .failed(reason)
      }
    }
  }

  private static func show(_ received: ReceivedMessage, json: Bool) throws {
    guard !json else { return try Output.jsonLine(ListenedJSON(received)) }
    let (message, count) = (received.message, received.message.body.count)
    let text = String(validating: message.body, as: UTF8.self).map { $0.isEmpty ? "" : ": \($0)" } ?? ""
    try Output.line(
      Tongue.say(
        .messageFrom,
        [
          "name": message.name, "device": received.from,
          "size": count == 1 ? Tongue.say(.bytesOne) : Tongue.say(.bytesMany, ["count": count]), "text": text,
        ]))
  }
}
