extension PeerCore {
  /// The settings of a peer.
  package struct Settings: Sendable {
    /// The name of the peer's device.
    package var deviceID: DeviceID
    /// The kind of node.
    package var role: NodeRole
    /// The id of the node.
    package var nodeID: NodeID
    /// The id of the node's store, which names its streams.
    package var storeID: StoreID
    /// The topics that it subscribes to.
    package var topics: [Topic]
    /// What its connection to the hub carries.
    package var limits: ConnectionLimits
    /// How long the hub may be silent while a run is on before an alarm is raised, in real time; at least three beats.
    package var hubLostAfter: BusDuration
    /// What a paired device was told last; `nil` for a peer without a key.
    package var enrolment: Enrolment?
    /// Whether the store is in memory and gone with the node.
    package var isEphemeral: Bool
    /// The seed of nonces, jitter and new ids; the driver draws it at random for each incarnation.
    package var seed: UInt64

    /// Creates the settings of a peer.
    package init(
      deviceID: DeviceID, role: NodeRole, nodeID: NodeID, storeID: StoreID, topics: [Topic],
      limits: ConnectionLimits = .full, hubLostAfter: BusDuration = .seconds(600), enrolment: Enrolment? = nil,
      isEphemeral: Bool = false, seed: UInt64
    ) {
      self.enrolment = enrolment
      self.isEphemeral = isEphemeral
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
