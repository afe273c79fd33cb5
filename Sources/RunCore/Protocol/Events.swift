/// A snapshot as the hub sends it, with its age at the moment of sending.
public struct StateMessage: Hashable, Sendable {
  /// The snapshot.
  public var snapshot: Snapshot
  /// Bus time from the capture of the snapshot to its sending.
  public var age: BusDuration

  /// A state message from its parts.
  public init(snapshot: Snapshot, age: BusDuration) {
    self.snapshot = snapshot
    self.age = age
  }
}

/// Whether a device is reachable, published when that changes.
public struct Presence: Hashable, Sendable {
  /// The device.
  public var deviceID: DeviceID
  /// What kind of node it is.
  public var role: NodeRole
  /// Whether it answers the hub.
  public var isReachable: Bool

  /// A presence from its parts.
  public init(deviceID: DeviceID, role: NodeRole, isReachable: Bool) {
    self.deviceID = deviceID
    self.role = role
    self.isReachable = isReachable
  }
}

/// Says that the receiver of an app's message has processed it durably. The hub publishes it to all peers, without the
/// message's body.
public struct MessageEvent: Hashable, Sendable {
  /// The message.
  public var id: MessageID
  /// The name of the message.
  public var name: String
  /// The device that sent it.
  public var from: DeviceID
  /// The device whose handler has processed it. One of the two devices is the hub's.
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

  /// The event for a processed message.
  public init(_ message: AppMessage, from: DeviceID, to: DeviceID) {
    self.init(id: message.id, name: message.name, from: from, to: to, size: message.body.count)
  }
}

/// What the hub publishes to all subscribers.
public enum BusEvent: Hashable, Sendable {
  /// A snapshot; the only event on its topic.
  indirect case snapshot(StateMessage)
  /// A command was accepted, with the device it came from.
  case command(Command, DeviceID)
  /// A command reached a stage; with the device it came from.
  indirect case receipt(Receipt, DeviceID)
  /// A device became reachable or unreachable.
  case presence(Presence)
  /// The receiver of a message has processed it.
  indirect case message(MessageEvent)
  /// Points of the route are new or have changed; the only event on its topic.
  case route(RoutePart)
  /// What lock screens show; the only event on its topic.
  indirect case live(LiveMessage)
  /// The room in which the runner is; the only event on its topic.
  indirect case room(RoomView)
  /// Something in the room that the runner should notice.
  indirect case cue(RoomCue)

  /// The topic on which the hub publishes the event.
  public var topic: Topic {
    switch self {
    case .snapshot: .snapshots
    case .command, .receipt, .presence, .message, .cue: .feed
    case .route: .route
    case .live: .live
    case .room: .rooms
    }
  }
}

/// A topic of the hub's XPUB socket, one byte on the wire.
public enum Topic: String, Hashable, Sendable, CaseIterable {
  /// Snapshots.
  case snapshots = "s"
  /// Everything else that happens, the route excepted.
  case feed = "f"
  /// The route, as it grows and changes. The hub does not repeat earlier parts for a new subscriber, which has to ask
  /// for them with ``RunBus/Node/route()``.
  case route = "r"
  /// What lock screens show, at the pace that ``LivePolicy`` allows. A peer with this topic and without ``snapshots``
  /// asks the hub for its state with each push, so its snapshots are as old as the pushes.
  case live = "l"
  /// The room in which the runner is, each time that it changes and every 3 s in its run; a new subscriber gets the last
  /// one again. Silent for a runner who is in no room.
  case rooms = "t"
}
