/// A snapshot on its way, with its age restated.
public struct StateMessage: Hashable, Sendable {
  /// The snapshot.
  public var snapshot: Snapshot
  /// Bus time since it was captured, at the moment of sending.
  public var age: BusDuration

  /// A state message from its parts.
  public init(snapshot: Snapshot, age: BusDuration) {
    self.snapshot = snapshot
    self.age = age
  }
}

/// A device came or went.
public struct Presence: Hashable, Sendable {
  /// The device.
  public var deviceID: DeviceID
  /// What kind of node it is.
  public var role: NodeRole
  /// It answers.
  public var isReachable: Bool

  /// A presence from its parts.
  public init(deviceID: DeviceID, role: NodeRole, isReachable: Bool) {
    self.deviceID = deviceID
    self.role = role
    self.isReachable = isReachable
  }
}

/// A message of an app was processed by its receiver, and that is durable there. Everybody on the bus hears of it; its body
/// is between the two devices.
public struct MessageEvent: Hashable, Sendable {
  /// The message.
  public var id: MessageID
  /// What it is about.
  public var name: String
  /// The device that gave it.
  public var from: DeviceID
  /// The device whose handler has taken it. One of the two is the hub's.
  public var to: DeviceID
  /// How many bytes its body has.
  public var size: Int

  /// An event from its parts.
  public init(id: MessageID, name: String, from: DeviceID, to: DeviceID, size: Int) {
    self.id = id
    self.name = name
    self.from = from
    self.to = to
    self.size = size
  }

  /// The event of a message.
  public init(_ message: AppMessage, from: DeviceID, to: DeviceID) {
    self.init(id: message.id, name: message.name, from: from, to: to, size: message.body.count)
  }
}

/// What the hub publishes to all.
public enum BusEvent: Hashable, Sendable {
  /// A snapshot, on the topic of snapshots.
  indirect case snapshot(StateMessage)
  /// A command was accepted, with the device it came from.
  case command(Command, DeviceID)
  /// A command reached a stage.
  indirect case receipt(Receipt, DeviceID)
  /// A device came or went.
  case presence(Presence)
  /// A message was processed by its receiver.
  indirect case message(MessageEvent)
  /// Points of the route are new or have changed, on the topic of the route.
  case route(RoutePart)

  /// The topic that it is published on.
  public var topic: Topic {
    switch self {
    case .snapshot: .snapshots
    case .command, .receipt, .presence, .message: .feed
    case .route: .route
    }
  }
}

/// What a peer can subscribe to. Topics are one byte: few and short.
public enum Topic: String, Hashable, Sendable, CaseIterable {
  /// Snapshots.
  case snapshots = "s"
  /// Everything else that happens, the route excepted.
  case feed = "f"
  /// The route, as it grows and changes. What was published before a subscription does not come again: who wants it asks
  /// (``Inquiry/route(from:)``).
  case route = "r"
}
