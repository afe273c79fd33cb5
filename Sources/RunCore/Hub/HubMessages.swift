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
      refusal = $0.post(message, by: deliveryClass, at: $3, into: &$2)
    }
    return refusal
  }

  /// Tells the couriers whether the app has a message handler.
  mutating func setHandling(_ value: Bool, in turn: inout Turn) {
    mail.setHandling(value)
    for store in mail.stores {
      withCourier(of: store, in: &turn) { courier, _, wanted, _ in
        courier.setHandling(value, into: &wanted)
      }
    }
  }

  /// Calls the courier of a store and carries out the actions that it returns.
  mutating func withCourier(
    of store: StoreID, in turn: inout Turn,
    _ body: (inout Courier, inout SeededGenerator, inout [Courier.Action], BusTime) -> Void
  ) {
    var wanted: [Courier.Action] = []
    let real = monotonic(at: turn.now)
    guard mail.with(store, { body(&$0, &turn.generator, &wanted, real) }) != nil else { return }
    for action in wanted {
      switch action {
      case .send(let message):
        guard let (connection, session) = sessions.session(of: store) else { continue }
        turn.act(.send(HubFrame(session: session.number, message: .delivery(message)), to: connection))
      case .write(let operations, let isUrgent, let effect):
        quarantine.note(operations)
        turn.write(
          operations, then: effect.map { [.courier(store, $0)] } ?? [], isUrgent: isUrgent)
      case .hand(let handlerCall): turn.act(.hand(handlerCall))
      case .processed(let message, let isIncoming):
        guard let device = mail.device(of: store) else { continue }
        let (from, to) = isIncoming ? (device, settings.deviceID) : (settings.deviceID, device)
        turn.act(.publish(.message(MessageEvent(message, from: from, to: to))))
      case .receipt(let receipt): turn.act(.messageReceipt(receipt))
      case .note(let text): turn.act(.note(text))
      }
    }
  }
}
