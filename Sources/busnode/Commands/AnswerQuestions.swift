import ArgumentParser
import RunBus
import RunScripts

struct AnswerQuestions: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "answer",
    abstract: "Answer questions of other devices with a command.",
    discussion: """
        busnode answer battery --exec 'cat /sys/class/power_supply/BAT0/capacity'
        busnode ask battery --of phone --from watch   asks it

      The command gets a question's body on its standard input and writes the answer to its standard output, at most \
      32,751 bytes. Questions are answered one at a time, until Ctrl-C. After another exit status than 0, and when it is \
      ended because it takes longer than --exec-timeout, who asks is told so. RUNBUS_MESSAGE_NAME, _ID and _FROM are in \
      its environment. An answer is complete when the command and all that it has started have closed its output.

      EXIT STATUS:
        0    --count questions are answered
        69   the node does not run on this machine, or has ended
        75   the node has a handler for this name, or 16 listeners
        130  Ctrl-C
      """)

  @Argument(help: "The name of the questions.")
  var name: MessageNameArgument

  @Option(help: ArgumentHelp("Run this by sh -c for each question.", valueName: "command"))
  var exec: String

  @Option(
    help: ArgumentHelp("End after this many answers; a command that fails gives none.", valueName: "number"))
  var count: NumberArgument?

  @OptionGroup var execution: ExecOptions

  @Option(
    help: ArgumentHelp("The device that answers.", valueName: "name"),
    completion: Completions.devices)
  var device = DeviceID.role(.phone)

  @OptionGroup var bus: BusOptions

  func run() async throws {
    bus.startLog()
    let location = try bus.location()
    let listener = Listener(at: device, on: location, .questions(name.name), endsWithReader: false)
    let (command, device) = (execution.command(exec), device)
    try await listener.run(countMax: count?.number) { handed in
      let received = handed.received
      let variables = ShellCommand.variables(received, at: device, on: location)
      switch await command.run(
        received.message.body, variables: variables, output: .caller(max: Reply.contentMax))
      {
      case .succeeded(let output): return .answer(output)
      case .failed(let reason): return .failed(reason)
      }
    }
  }
}
