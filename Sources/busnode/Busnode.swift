import ArgumentParser
import RunBus

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

@main
struct Busnode: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "busnode",
    abstract: "One run on phone, watch and live widget: control it from any of them, see the same on all.",
    discussion: """
      A bus is one runner's set of devices. The phone is its hub and holds the run; the others join it.

      See it work, all in one command:
        busnode up --synthetic --duration 5m --speed 10

      The same by hand, each in a terminal of its own:
        busnode phone --synthetic
        busnode watch
        busnode send start
        busnode state --follow

      What is pressed while the hub is away is kept and counts from when it was pressed:
        busnode send pause || busnode outbox

      Every command finds its bus by --bus NAME (default "default"; environment RUNBUS_BUS) or by
      --address tcp://127.0.0.1:PORT (RUNBUS_ADDRESS); a flag wins over the environment.

      EXIT STATUS:
        0    it worked: the command was applied or coalesced (send --wait received: the hub has it;
             --wait none: it was handed over)
        1    another failure
        3    the command was rejected (outbox: it may have been sent, and cannot be taken back; post: it was not taken)
        4    the command was superseded: undone by a later press
        5    queued: durable here, delivered when the hub is back (outbox flush: some wait still)
        6    the hub has the command, no verdict came in time
        64   wrong usage
        65   a bad input file
        69   no such bus, or no hub answers
        74   standard output or a file cannot be written, or stores or the spool cannot be read (send: the disk takes nothing, and
             nothing was sent)
        75   held by another process: the bus, or a store that does not answer; or the spool is full
        130  Ctrl-C while following

      What a command did stands, whatever becomes of its output: busnode send tells the verdict by its exit status alone,
      too. With --json an error is one object on standard error, {"error": {code, message, exitCode}}; log lines and
      notices there are for people.
      """,
    version: runBusVersion,
    subcommands: [
      Phone.self, Watch.self, Widget.self, Up.self, Send.self, State.self, Route.self, Monitor.self,
      Post.self, Peers.self, Outbox.self, Records.self, Recover.self, Measure.self,
    ])

  static func main() async {
    StandardDescriptors.occupyClosed()
    // A reader that goes away is an error of `write`, not a reason to die.
    signal(SIGPIPE, SIG_IGN)
    // So is a file that may not grow any more (`ulimit -f`).
    signal(SIGXFSZ, SIG_IGN)
    FileLimit.raise()
    var status = ExitStatus.success
    do {
      var command = try parseAsRoot(Array(CommandLine.arguments.dropFirst()))
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      status = report(error)
    }
    LogLines.standardError.flush()
    do {
      try Output.close()
    } catch {
      // A command that has failed anyway has said why.
      if status == ExitStatus.success { status = report(error) }
    }
    endProcess(status)
  }
}

/// `exit(3)` under a name that `ParsableCommand` does not use itself.
private func endProcess(_ status: Int32) -> Never { exit(status) }
