import RunCore

extension RoomWorld {
  /// A hub appends only what its next life would append, too.
  mutating func checkDurable(_ content: RoomContent, _ hub: Int) {
    let isDurable = (hubs[hub].disk[content.room] ?? []).contains { row in
      if case .own(content.number, content.ask, _, _, _) = row { true } else { false }
    }
    if !isDurable { fault("hub \(hub) appends what is not durable: \(content.ask)") }
  }
}
