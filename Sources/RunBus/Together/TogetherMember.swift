package import RunCore

/// A runner in a fleet: the log of the fleet, the runner's key, and what the others see.
package struct TogetherMember: Sendable {
  /// The log of the fleet.
  package var log: any SharedLog
  /// The runner's key.
  package var key: MemberKey
  /// The fleet.
  package var fleet: FleetID
  /// What the others see.
  package var card: RoomCard

  /// A runner from its parts.
  package init(log: any SharedLog, key: MemberKey, fleet: FleetID, card: RoomCard) {
    self.log = log
    self.key = key
    self.fleet = fleet
    self.card = card
  }

  func settings(speed: BusSpeed) -> TogetherDesk.Settings {
    TogetherDesk.Settings(fleet: fleet, member: key.id, card: card, speed: speed)
  }
}

extension Identifier where Kind == FleetTag {
  /// The fleet of a name on this machine: the first 16 bytes of SHA-256("fleet" ‖ name).
  package static func made(name: BusName) -> Self {
    Self(firstHalfOf: "fleet", Array(name.rawValue.utf8))
  }
}

extension Nickname {
  /// Whether a text is a way to write the name, which a fleet has once: letters of either case.
  package func isWritten(like text: String) -> Bool { Nickname(text)?.logKey == logKey }
}
