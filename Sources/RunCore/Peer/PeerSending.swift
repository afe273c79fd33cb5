// Routes presses, and what the hub says about the streams between both stores.
extension PeerCore {
  /// Handles a press.
  mutating func press(_ command: Command, in turn: inout Turn) {
    if outbox.press(command, shown: view.hub, over: session.number, in: &turn) { noteNews(in: &turn) }
  }

  /// Handles what the hub sends on its streams, or says about this peer's streams.
  mutating func receive(_ message: DeliveryMessage, in turn: inout Turn) {
    switch message {
    case .acknowledge(.messages, _), .goBack(.messages, _, _), .tombstones(.messages, _, _), .messages, .delivered,
      .latest, .acknowledgeLatest, .refuseLatest, .live:
      mail.receive(message, over: session.number, in: &turn)
    case .acknowledge, .goBack, .tombstones, .verdicts:
      outbox.receive(message, shown: view.authoritative.order, over: session.number, in: &turn)
    }
  }

  /// Schedules an early retry, because the link's queue was full and frames were dropped.
  mutating func postpone(in turn: inout Turn) {
    let soon = turn.now + turn.generator.jittered(.milliseconds(200))
    outbox.postpone(to: soon)
    mail.postpone(to: soon)
  }
}

// What always holds between two events. Each part states its own rules in `check()`.
extension PeerCore {
  /// What is wrong with the peer by its own rules, whatever its hub sends; empty when it is good.
  package func check() -> [String] {
    outbox.check() + mail.check()
  }
}
