import ArgumentParser
import RunBus

struct OutboxFlush: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "flush",
    abstract: "Deliver what busnode send has left on this machine, now.",
    discussion: """
        busnode outbox flush

      Nodes do this by themselves: a hub when it starts, and every node within seconds of reaching the hub. Each press
      counts from the moment it was pressed, and once, whoever delivers it. What the watch, the widget and their like have
      in stores of their own goes out when they run.

      --json writes each verdict as busnode monitor does.

      EXIT STATUS:
        0   nothing is left
        5   some wait still: no verdict came in time
        69  no such bus, or no hub answers
      """)

  @OptionGroup var bus: BusOptions

  @Option(help: ArgumentHelp("How long to wait, in real time (default: 5).", valueName: "time"))
  var timeout: TimeArgument?

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  func run() async throws {
    bus.startLog()
    let location = try bus.location()
    let (presses, notices) = location.spool.list()
    for notice in notices { Output.complain("busnode: \(notice)") }
    guard !presses.isEmpty else { return }
    if location.isWithoutHub { throw Failure.noBus(location) }
    for var press in presses where press.tries == 0 {
      press.tries = 1
      // It goes out now, and cannot be cancelled from here on. One that was delivered meanwhile is known by its id.
      if location.spool.exists(press.command.id) { try location.spool.write(press) }
    }
    let patience = timeout?.span ?? .seconds(5)
    // A node like any other, which looks into the spool, for as long as it takes.
    let visit = try Visit(location, device: DeviceID.role(.shell), place: NodePlace(spool: location.spool))
    let json = json
    let isMet = try await visit.run { peer in
      _ = try await within(patience) {
        try await withThrowingDiscardingTaskGroup { group in
          for press in presses {
            let receipts = await peer.receipts(for: press.command.id)
            group.addTask { try await Self.follow(press, receipts, in: location.spool, asJSON: json) }
          }
        }
      }
      return await peer.reachability.lastHeardAge != nil
    }
    let left = presses.count { location.spool.exists($0.command.id) }
    guard left > 0 else { return }
    guard isMet else { throw Failure.noAnswer(location, within: patience) }
    Output.complain(
      "busnode: \(left) of \(presses.count) wait still: no verdict came within \(Sentence.seconds(patience))")
    throw QuietExit(exitStatus: ExitStatus.queued)
  }

  /// Waits for a press's verdict and says it; comes back, too, when another node has settled it.
  private static func follow(
    _ press: SpooledCommand, _ receipts: AsyncStream<Receipt>, in spool: SpoolDirectory, asJSON: Bool
  ) async throws {
    let verdict = try await withThrowingTaskGroup(of: Receipt?.self) { group in
      group.addTask { await receipts.first { if case .verdict = $0.stage { true } else { false } } }
      group.addTask {
        // Our own verdict takes the file away, too: it is given the time to be heard.
        while spool.exists(press.command.id) { try await Task.sleep(for: .milliseconds(200)) }
        try await Task.sleep(for: .milliseconds(200))
        return nil
      }
      let first = try await group.next()
      group.cancelAll()
      return first.flatMap { $0 }
    }
    if asJSON {
      if let verdict { try Output.jsonLine(EventJSON(verdict, of: press.deviceID)) }
    } else {
      let device = press.deviceID
      let word = verdict.map(Sentence.receipt) ?? "\(press.command.kind.rawValue) was delivered by another node"
      try Output.line("\(device): \(word)")
    }
  }
}
