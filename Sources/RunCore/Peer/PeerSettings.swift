extension PeerCore {
  /// How a peer is set up.
  public struct Settings: Sendable {
    /// The device's name.
    public var deviceID: DeviceID
    /// What kind of node it is.
    public var role: NodeRole
    /// The node.
    public var nodeID: NodeID
    /// Names its streams.
    public var storeID: StoreID
    /// What it wants to hear.
    public var topics: [Topic]
    /// A sender of one command, no member of the bus.
    public var isOneShot: Bool
    /// How long a hub may be silent while a run is on before that is an alarm, in real time; never less than three beats.
    public var hubLostAfter: BusDuration
    /// Nonces, jitter and new store ids follow from it; drawn at random for each life by whoever drives the machine.
    public var seed: UInt64

    /// Settings from their parts.
    public init(
      deviceID: DeviceID, role: NodeRole, nodeID: NodeID, storeID: StoreID, topics: [Topic], isOneShot: Bool,
      hubLostAfter: BusDuration = .seconds(600), seed: UInt64
    ) {
      self.hubLostAfter = hubLostAfter
      self.deviceID = deviceID
      self.role = role
      self.nodeID = nodeID
      self.storeID = storeID
      self.topics = topics
      self.isOneShot = isOneShot
      self.seed = seed
    }
  }
}
