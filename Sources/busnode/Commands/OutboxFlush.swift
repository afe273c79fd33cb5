import ArgumentParser
import RunBus
import RunScripts
import Synchronization

struct OutboxFlush: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "flush",
    abstract: "Deliver the presses that busnode send has left on this machine, now.",
    discussion: """
        busnode outbox flush

      Nodes do this by themselves: a hub when it starts, every other node within seconds of reaching the hub. Each press \
      counts once, from the time when it was pressed, whichever node delivers it. What devices such as the watch have in \
      their own stores is sent when their nodes run.

      --json writes each verdict as busnode monitor does.

      EXIT STATUS:
        0   nothing is left
        5   some still wait: no verdict came in time
        69  no such bus, or no hub answers
        74  the spool cannot be read
      """)

  @OptionGroup var bus: BusOptions

  @Option(help: ArgumentHelp("How long to wait, in real time (default: 5).", valueName: "time"))
  var timeout: TimeArgument?

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  func run() async throws {
    bus.startLog()
    let location = try bus.location()
    let (presses, notices) = try OutboxContents.spool(of: location)
    for notice in notices { Output.complain("busnode: \(notice)") }
    guard !presses.isEmpty else {
      if !json { Output.tell(Tongue.say(.spoolEmpty, ["bus": location.displayName])) }
      return
    }
    if location.isWithoutHub { throw Failure.noBus(location) }
    let patience = timeout?.span ?? .seconds(5)
    let requester = try location.requester()
    // A press that is marked as sent cannot be cancelled. So mark none before the hub is in reach.
    guard try await within(Duration(patience), { try await requester.state() }) != nil else {
      throw Failure.noAnswer(location, within: patience)
    }
    for var press in presses where press.tries == 0 {
      press.tries = 1
      // If another node delivers the press just before this write, the hub knows its id and counts it once.
      if location.spool.exists(press.command.id) { try location.spool.write(press) }
    }
    let judged = Mutex(0)
    let (json, spool) = (json, location.spool)
    _ = try await within(Duration(patience)) {
      for try await case .receipt(let receipt) in requester.send(presses.map { $0.forwarded() }) {
        guard case .verdict = receipt.stage,
          let press = presses.first(where: { $0.command.id == receipt.commandID })
        else { continue }
        judged.withLock { $0 += 1 }
        if json {
          Output.tell(json: EventLineJSON(.bus(.receipt(receipt, press.deviceID))))
        } else {
          Output.tell("\(press.deviceID): \(receipt.sentence)")
        }
        do { try spool.remove(receipt.commandID) } catch { Output.complain("busnode: \(error)") }
      }
    }
    let left = presses.count - judged.withLock { $0 }
    guard left > 0 else { return }
    throw Failure(
      code: "queued",
      message: Tongue.say(.flushLeft, ["left": left, "count": presses.count, "time": Sentence.seconds(patience)]),
      exitStatus: ExitStatus.queued)
  }
}
