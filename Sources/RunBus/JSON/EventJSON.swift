public import RunCore

/// The event as a line of `busnode monitor --json`, without the time of day, which ``DatedEvent`` adds.
///
/// `event` says what it is, with the event's keys beside it. The `text` of a message is always `null` here: only the
/// node that has received the message knows its body.
extension BusEvent: Codable {
  private enum CodingKeys: String, CodingKey {
    case event, deviceId, ageSeconds
    // A command.
    case commandId, command, source, runId, baseRevision, baseCommandId, offsetSeconds, goalSeconds, ifRevision
    // A presence.
    case role, reachable
    // A message.
    case messageId, name, fromDeviceId, toDeviceId, bytes, text
    // A part of the route.
    case term, number, from, total, points
  }

  /// Reads an event that ``encode(to:)`` or `busnode` has written.
  ///
  /// - Throws: `DecodingError`, also for an event that this version does not know, and for a command, a receipt or a cue of
  ///   an unknown kind. A reader of lines passes over such an event, as a node passes over it on the wire.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    switch try container.decode(String.self, forKey: .event) {
    case "snapshot":
      self = .snapshot(
        StateMessage(snapshot: try Snapshot(from: decoder), age: try container.readSeconds(.ageSeconds) ?? .zero))
    case "command": self = .command(try Self.command(container), try container.need(.deviceId))
    case "receipt", "verdict": self = .receipt(try Receipt(from: decoder), try container.need(.deviceId))
    case "presence":
      self = .presence(
        Presence(
          deviceID: try container.need(.deviceId), role: NodeRole(rawValue: try container.need(.role)),
          isReachable: try container.need(.reachable)))
    case "message":
      self = .message(
        MessageEvent(
          id: try container.need(.messageId), name: try container.need(.name), from: try container.need(.fromDeviceId),
          to: try container.need(.toDeviceId), size: try container.need(.bytes)))
    case "route":
      self = .route(
        RoutePart(
          runID: try container.need(.runId), term: try container.need(.term), number: try container.need(.number),
          from: try container.need(.from), points: try container.need(.points), total: try container.need(.total)))
    case "live": self = .live(try LiveMessage(from: decoder))
    case "room": self = .room(try RoomView(from: decoder))
    case "cue": self = .cue(try RoomCue(from: decoder))
    case let word: throw container.flaw(.event, "no event that this version knows: \(word)")
    }
  }

  private static func command(_ container: KeyedDecodingContainer<CodingKeys>) throws -> Command {
    let revision: UInt64? = try container.read(.baseRevision)
    let author: CommandID? = try container.read(.baseCommandId)
    var command = Command(
      id: try container.need(.commandId), kind: try container.need(.command),
      source: ControlSource(rawValue: try container.need(.source)), runID: try container.read(.runId),
      base: revision.map { ObservedRevision(revision: $0, commandID: author) },
      runOffset: try container.readSeconds(.offsetSeconds))
    if let goal = try container.readGoal(.goalSeconds), !command.aim(at: goal) {
      throw container.flaw(.goalSeconds, "only a start has a goal")
    }
    command.ifRevision = try container.read(.ifRevision)
    return command
  }

  /// Writes the event in the form that `docs/json.md` in the repository of the package describes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .snapshot(let state):
      try container.write("snapshot", .event)
      try container.write(seconds: state.age, .ageSeconds)
      try state.snapshot.encode(to: encoder)
    case .command(let command, let device):
      try container.write("command", .event)
      try container.write(device, .deviceId)
      try container.write(command.id, .commandId)
      try container.write(command.kind, .command)
      try container.write(command.source.rawValue, .source)
      try container.write(command.runID, .runId)
      try container.write(command.base?.revision, .baseRevision)
      try container.write(command.base?.commandID, .baseCommandId)
      try container.write(seconds: command.runOffset, .offsetSeconds)
      try container.write(seconds: command.goal?.time, .goalSeconds)
      if let revision = command.ifRevision { try container.write(revision, .ifRevision) }
    case .receipt(let receipt, let device):
      try container.write(receipt.isVerdict ? "verdict" : "receipt", .event)
      try container.write(device, .deviceId)
      try receipt.encode(to: encoder)
    case .presence(let presence):
      try container.write("presence", .event)
      try container.write(presence.deviceID, .deviceId)
      try container.write(presence.role.rawValue, .role)
      try container.write(presence.isReachable, .reachable)
    case .message(let message):
      try container.write("message", .event)
      try container.write(message.id, .messageId)
      try container.write(message.name, .name)
      try container.write(message.from, .fromDeviceId)
      try container.write(message.to, .toDeviceId)
      try container.write(message.size, .bytes)
      try container.encodeNil(forKey: .text)
    case .route(let part):
      try container.write("route", .event)
      try container.write(part.runID, .runId)
      try container.write(part.term, .term)
      try container.write(part.number, .number)
      try container.write(part.from, .from)
      try container.write(part.total, .total)
      try container.write(part.points, .points)
    case .live(let message):
      try container.write("live", .event)
      try message.encode(to: encoder)
    case .room(let view):
      try container.write("room", .event)
      try view.encode(to: encoder)
    case .cue(let cue):
      try container.write("cue", .event)
      try cue.encode(to: encoder)
    }
  }
}

extension Receipt {
  fileprivate var isVerdict: Bool { if case .verdict = stage { true } else { false } }
}
