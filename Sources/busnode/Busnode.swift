import ArgumentParser
import RunBus
import SystemC

@main
struct Busnode: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "busnode",
    abstract: "One run on phone, watch and widget: control it from each of them, see the same state on all.",
    discussion: """
      A bus is the set of devices of one runner. The phone is its hub and holds the run; the others join it.

      Try it, all in one command:
        busnode up --synthetic --duration 5m --speed 10

      The same by hand, each in a terminal of its own:
        busnode phone --synthetic
        busnode watch
        busnode send start
        busnode top              a screen with keys for the buttons
        busnode web              the same as a page, and all runs that are kept

      A recorded run, twenty times as fast as it was, or as a record at once:
        busnode phone --replay run.gpx --speed 20
        busnode records import run.gpx

      A press is kept while the hub is away, and counts from the time when it was pressed:
        busnode send pause || busnode outbox

      Every command finds its bus by --bus NAME (default "default"; environment RUNBUS_BUS) or by \
      --address tcp://127.0.0.1:PORT (RUNBUS_ADDRESS); an option wins over the environment, that over the settings (busnode \
      config) and their named contexts (--context NAME, before the command or behind it). An address has no keys and \
      needs --insecure (RUNBUS_INSECURE=1): every user of this machine can then control the run.

      What people read is English or Korean: --language ko, RUNBUS_LANGUAGE=ko or busnode config set language ko; without \
      these a terminal has the language and the units of its locale, and a pipe is English and metric.

      Three machines, and nobody else: the phone listens beyond its machine, each device is paired once:
        busnode phone --listen 'tcp://*:7070'  and, on the same machine: busnode
                                               pair
        busnode join --device watch-1          on the watch's machine

      EXIT STATUS:
        0    success: the command was applied or coalesced (send --wait received:
             the hub has it; --wait none: it was handed over)
        1    another failure
        3    the command was rejected (outbox: it may have been sent and cannot be
             cancelled; post: the node refused it; ask: the app refused it)
        4    the command was superseded: undone by a later press (post: replaced by
             a newer value)
        5    queued: stored here, delivered when the hub is back (outbox flush: some
             still wait)
        6    the hub has the command, but no verdict came in time (wait: the
             condition did not hold in time)
        7    state --field: the value is not known
        64   wrong usage; help for a command that there is not
        65   a bad input file, or a store of another version of RunBus or of another
             role (phone, or watch and widget)
        69   no such bus, or no hub answers (post, ask: or no device in reach)
        74   standard output or a file cannot be written, or a store, keys or the
             spool cannot be read (send: the press could not be stored and was not
             sent)
        75   the bus is held by another process, or a store by one that does not
             answer, or the spool is full
        78   the file of settings cannot be used (busnode config path)
        130  Ctrl-C while following

      A command is not undone when its output cannot be written: the exit status of busnode send always tells the \
      verdict. With --json an error is one object on standard error, {"error": {code, message, exitCode}}; log lines \
      and notices there are for people.
      """,
    version: BuildVersion.text,
    groupedSubcommands: [
      CommandGroup(name: "Node", subcommands: [Phone.self, Watch.self, Widget.self, Up.self, ShellNode.self]),
      CommandGroup(name: "Control", subcommands: [Send.self, Recover.self, Outbox.self, Wait.self]),
      CommandGroup(
        name: "Messages", subcommands: [Post.self, Listen.self, Latest.self, Ask.self, AnswerQuestions.self]),
      CommandGroup(
        name: "Display", subcommands: [Top.self, Web.self, State.self, Route.self, Peers.self, Monitor.self]),
      CommandGroup(name: "Together", subcommands: [Room.self, Match.self, RankingList.self, BadgeList.self]),
      CommandGroup(name: "Record", subcommands: [Records.self, Measure.self]),
      CommandGroup(name: "Pairing", subcommands: [Pair.self, Join.self, Devices.self, Keys.self]),
      CommandGroup(
        name: "Machine",
        subcommands: [Config.self, Doctor.self, Check.self, Backup.self, Restore.self, Erase.self]),
    ])

  @OptionGroup var context: ContextOption

  /// The entry. It runs on the main thread, so that it needs no other one until it is known that others can be started.
  @MainActor static func main() async {
    // Before anything else opens a file.
    StandardDescriptors.occupyClosed()
    // Before anything is started, which would take the service's manager for its own.
    _ = ServiceManager.ofThisProcess
    if let limit = MachineLimits.obstacleToCommands {
      var failure = Failure(limit)
      // doctor has statuses of its own: 2 for what does not work.
      let words = ContextOption.dropped(from: Array(CommandLine.arguments.dropFirst()))
      if words.first == "doctor" { failure.exitStatus = 2 }
      Output.complain(failure)
      endProcess(failure.exitStatus)
    }
    let arguments = Array(CommandLine.arguments.dropFirst())
    if Completions.isAsked(by: arguments) { endProcess(complete(arguments)) }
    await runCommand()
  }

  /// Answers a shell that completes a word. A shell shows no error in the midst of a line: there is none.
  private static func complete(_ arguments: [String]) -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    StandardDescriptors.silenceErrors()
    do {
      _ = try parseAsRoot(arguments)
    } catch {
      // An empty line would be offered as a word.
      if exitCode(for: error) == .success, !fullMessage(for: error).isEmpty { _ = report(error) }
    }
    return ExitStatus.success
  }

  private nonisolated static func runCommand() async {
    // Without SIGPIPE, a write to a closed pipe fails with EPIPE instead of ending the process.
    signal(SIGPIPE, SIG_IGN)
    // Likewise, a write beyond the file size limit (`ulimit -f`) fails with EFBIG.
    signal(SIGXFSZ, SIG_IGN)
    FileLimit.raise()
    Signals.letEnd()
    var status = ExitStatus.success
    let arguments = Array(CommandLine.arguments.dropFirst())
    // What is wrong with the settings is said in the language of the option or of the locale.
    Tongue.settle(.chosen(by: arguments, settings: nil))
    Tongue.settle(.chosen(by: arguments, settings: Settings.present))
    var running: (any ParsableCommand.Type)?
    do {
      if let wrong = WrongUsage(helpFor: ContextOption.dropped(from: arguments)) {
        status = report(wrong)
      } else {
        var command = try parseAsRoot(arguments)
        running = type(of: command)
        if var command = command as? any AsyncParsableCommand {
          try await command.run()
        } else {
          try command.run()
        }
      }
    } catch {
      status = report(error, of: running)
    }
    LogLines.standardError.flush()
    do {
      try Output.close()
    } catch {
      // A command that failed has already reported its error.
      if status == ExitStatus.success { status = report(error) }
    }
    endProcess(status)
  }
}

/// `exit(3)` under a name that `ParsableCommand` does not use itself.
private func endProcess(_ status: Int32) -> Never { exit(status) }
