// Messages of the app, carried by one courier for each store of a device.
extension HubCore {
  /// Posts a message of the app to a device.
  mutating func post(
    _ message: AppMessage, _ deliveryClass: DeliveryClass, to device: DeviceID, in turn: inout Turn
  ) {
    if let refusal = give(message, deliveryClass, to: device, in: &turn) {
      turn.act(.refusePost(message.id, refusal))
    }
  }

  /// Gives a message to the store that the device last said hello with.
  ///
  /// - Returns: why the message is refused; `nil` if it is accepted.
  mutating func give(
    _ message: AppMessage, _ deliveryClass: DeliveryClass, to device: DeviceID, in turn: inout Turn
  ) -> PostRefusal? {
    guard let known = mail.devices[device] else { return .unknownDevice }
    if case .latest(let key) = deliveryClass {
      // A message that would be refused must not move the value that it would have replaced.
      guard message.isCarried, AppMessage.isName(key) else { return .tooLong }
      mail.moveValue(of: key, to: known)
    }
    var refusal: PostRefusal?
    withCourier(of: known.storeID, in: &turn) {
      refusal = $0.post(message, by: deliveryClass, over: $1, in: &$2)
    }
    return refusal
  }

  /// Tells the couriers whether the app has a message handler.
  mutating func setHandling(_ value: Bool, in turn: inout Turn) {
    mail.setHandling(value)
    for store in mail.stores {
      withCourier(of: store, in: &turn) { $0.setHandling(value, over: $1, in: &$2) }
    }
  }

  /// Handles messages, values or acknowledgements that a store sends.
  mutating func receiveMail(
    _ message: DeliveryMessage, from store: StoreID, room: LatestValues.Room = LatestValues.Room(), in turn: inout Turn
  ) {
    var quarantined: QuarantinedMessage?
    withCourier(of: store, in: &turn) { quarantined = $0.receive(message, room: room, over: $1, in: &$2) }
    if let quarantined { mail.quarantine(quarantined) }
  }

  /// Calls the courier of a store, if there is one, with the store's session.
  mutating func withCourier(
    of store: StoreID, in turn: inout Turn, _ body: (inout Courier, Action.Link?, inout Turn) -> Void
  ) {
    let link = sessions.link(to: store)
    _ = mail.with(store) { body(&$0, link, &turn) }
  }
}

extension HubCore.Action: CourierAction {
  /// The session of a peer, and its connection.
  struct Link: Sendable {
    let connection: ConnectionID
    let session: UInt64
  }

  static func deliver(_ message: DeliveryMessage, over link: Link, at now: BusTime) -> Self {
    .send(HubFrame(session: link.session, message: .delivery(message)), to: link.connection)
  }

  static func announce(_ event: MessageEvent) -> Self? { .publish(.message(event)) }
}
