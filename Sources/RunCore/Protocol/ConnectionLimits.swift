/// What a connection carries. The transport states it, and both ends of a connection state the same.
///
/// ```swift
/// // A link on which each message costs energy, and which is too slow for records.
/// ConnectionLimits(frameBytesMax: 60_000, heartbeatMin: .seconds(15), carriesRecords: false)
/// ```
public struct ConnectionLimits: Hashable, Sendable {
  /// The bounds of ``frameBytesMax``. Every single item fits into the smallest frame: a message with the longest body, a
  /// part of a record, a part of a route. So no item waits for another connection, with others behind it.
  public static let frameBytes = 40_960...65_536
  /// The intervals between two pings, in real time, that a connection may ask for. A shorter one would load the hub; with
  /// a longer one, an unreachable device would be shown as reachable for more than three minutes.
  public static let heartbeatIntervals = BusDuration.seconds(1)...BusDuration.seconds(60)
  /// What TCP, IPC and connections within a process carry: everything.
  public static let full = ConnectionLimits()

  /// The largest frame in bytes, in each direction. Batches are cut by it.
  public let frameBytesMax: Int
  /// The shortest real time between two pings. The hub counts three times as long as silence.
  public let heartbeatMin: BusDuration
  /// Whether a peer fetches copies of the hub's records over the connection.
  public let carriesRecords: Bool

  /// Limits of a connection. Values outside ``frameBytes`` and ``heartbeatIntervals`` become the nearest allowed one.
  public init(
    frameBytesMax: Int = frameBytes.upperBound, heartbeatMin: BusDuration = heartbeatIntervals.lowerBound,
    carriesRecords: Bool = true
  ) {
    self.frameBytesMax = min(max(frameBytesMax, Self.frameBytes.lowerBound), Self.frameBytes.upperBound)
    self.heartbeatMin = min(max(heartbeatMin, Heartbeat.intervals.lowerBound), Heartbeat.intervals.upperBound)
    self.carriesRecords = carriesRecords
  }

  /// The bytes of messages in a frame; the rest is for the fields around up to 512 of them.
  var messageBytesMax: Int { frameBytesMax - 16_384 }

  /// The time between two pings where `interval` is wanted.
  func heartbeat(_ interval: BusDuration) -> BusDuration { max(interval, heartbeatMin) }
}
