import ArgumentParser
import RunBus

struct OutboxFlush: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "flush",
    abstract: "Deliver the presses that busnode send has left on this machine, now.",
    discussion: """
        busnode outbox flush

      Nodes do this by themselves: a hub when it starts, every other node within seconds of reaching the hub. Each press
      counts once, from the time when it was pressed, whichever node delivers it. What devices such as the watch have in
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
      if !json { Output.tell("nothing waits in the spool of bus \"\(location.displayName)\"") }
      return
    }
    if location.isWithoutHub { throw Failure.noBus(location) }
    let patience = timeout?.span ?? .seconds(5)
    // A press that is marked as sent cannot be cancelled. So mark none before the hub is in reach.
    let isThere = try await BusClient(location, device: DeviceID.role(.shell)).run { peer in
      try await within(patience) {
        for await state in await peer.reachabilities() where state.isReachable { return true }
        return false
      }
    }
    guard isThere == true else { throw Failure.noAnswer(location, within: patience) }
    for var press in presses where press.tries == 0 {
      press.tries = 1
      // If another node delivers the press just before this write, the hub knows its id and counts it once.
      if location.spool.exists(press.command.id) { try location.spool.write(press) }
    }
    // This peer reads the spool and delivers its presses, as every node does.
    let visit = try BusClient(location, device: DeviceID.role(.shell), services: LocalServices(spools: [location.spool]))
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
    throw Failure(
      code: "queued",
      message: "\(left) of \(presses.count) still wait: no verdict came within \(Sentence.seconds(patience))",
      exitStatus: ExitStatus.queued)
  }

  /// What became of one press.
  private enum Outcome {
    case judged(Receipt)
    /// The file is gone: another node has received the verdict.
    case settledElsewhere
    /// No verdict came in time; the press stays in the spool.
    case waiting
  }

  /// Waits for the verdict of a press and prints it. Returns as well when another node has received the verdict.
  private static func follow(
    _ press: SpooledCommand, _ receipts: AsyncStream<Receipt>, in spool: SpoolDirectory, asJSON: Bool
  ) async throws {
    let outcome = try await withThrowingTaskGroup(of: Outcome.self) { group in
      group.addTask {
        let verdict = await receipts.first { if case .verdict = $0.stage { true } else { false } }
        return verdict.map(Outcome.judged) ?? .waiting
      }
      group.addTask {
        // This peer removes the file at its own verdict, too. Wait a moment more, so that its receipt comes first.
        while spool.exists(press.command.id) { try await Task.sleep(for: .milliseconds(200)) }
        try await Task.sleep(for: .milliseconds(200))
        return .settledElsewhere
      }
      let first = try await group.next()
      group.cancelAll()
      return first ?? .waiting
    }
    switch outcome {
    case .judged(let verdict) where asJSON: Output.tell(json: EventJSON(verdict, of: press.deviceID))
    case .judged(let verdict): Output.tell("\(press.deviceID): \(Sentence.receipt(verdict))")
    case .settledElsewhere where !asJSON:
      Output.tell("\(press.deviceID): \(press.command.kind.rawValue) was delivered by another node")
    case .settledElsewhere, .waiting: break
    }
  }
}
