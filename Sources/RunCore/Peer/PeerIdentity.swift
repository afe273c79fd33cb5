/// Names the two ends of a peer's streams: this peer's store and the hub's store. It decides when the peer may give its
/// store a new id.
struct PeerIdentity: Sendable {
  /// A hub, by its store and its device.
  struct Hub: Hashable, Sendable {
    let storeID: StoreID
    let deviceID: DeviceID
  }

  private(set) var storeID: StoreID
  /// The hub that the streams go to; `nil` before the first welcome.
  private(set) var hub: Hub?
  private var renewedAt: BusTime?

  /// A hub that refuses every store must not make the peer write without end. It says the same hello again meanwhile.
  private static let renewalPatience = BusDuration.seconds(5)

  init(storeID: StoreID, hub: Hub?) {
    self.storeID = storeID
    self.hub = hub
  }

  /// The id of the hub's store; ``RunCore/Identifier/none`` before the first welcome.
  var receiver: StoreID { hub?.storeID ?? .none }

  /// Gives the store a new id, so that its streams cannot be confused with the old ones.
  ///
  /// - Returns: the write; `nil` when the last change of the id is too recent.
  mutating func renew(at now: BusTime, generator: inout SeededGenerator) -> StoreOperation? {
    if let renewedAt, now - renewedAt < Self.renewalPatience { return nil }
    renewedAt = now
    storeID = generator.identifier()
    return .setStoreID(storeID)
  }

  /// The streams go to this hub from now on.
  mutating func bind(to hub: Hub) -> StoreOperation {
    self.hub = hub
    return .setHub(hub.storeID, hub.deviceID)
  }
}
