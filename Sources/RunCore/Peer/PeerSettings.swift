extension PeerCore {
  /// The settings of a peer.
  public struct Settings: Sendable {
    /// The name of the peer's device.
    public var deviceID: DeviceID
    /// The kind of node.
    public var role: NodeRole
    /// The id of the node.
    public var nodeID: NodeID
    /// The id of the node's store, which names its streams.
    public var storeID: StoreID
    /// The topics that it subscribes to.
    public var topics: [Topic]
    /// What its connection to the hub carries.
    public var limits: ConnectionLimits
    /// How long the hub may be silent while a run is on before an alarm is raised, in real time; at least three beats.
    public var hubLostAfter: BusDuration
    /// The seed of nonces, jitter and new ids; the driver draws it at random for each incarnation.
    public var seed: UInt64

    /// Creates the settings of a peer.
    public init(
      deviceID: DeviceID, role: NodeRole, nodeID: NodeID, storeID: StoreID, topics: [Topic],
      limits: ConnectionLimits = .full, hubLostAfter: BusDuration = .seconds(600), seed: UInt64
    ) {
      self.hubLostAfter = hubLostAfter
      self.deviceID = deviceID
      self.role = role
      self.nodeID = nodeID
      self.storeID = storeID
      self.topics = topics
      self.limits = limits
      self.seed = seed
    }
  }
}
