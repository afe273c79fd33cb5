// Messages of the app, carried by one courier for each store of a device.
extension HubCore {
  /// Posts a message of the app to a device.
  mutating func post(
    _ message: AppMessage, _ deliveryClass: DeliveryClass, to device: DeviceID, at now: BusTime,
    into actions: inout [Action]
  ) {
    if let refusal = give(message, deliveryClass, to: device, at: now, into: &actions) {
      actions.append(.refusePost(message.id, refusal))
    }
  }

  /// Gives a message to the store that the device last said hello with.
  ///
  /// - Returns: why the message is refused; `nil` if it is accepted.
  mutating func give(
    _ message: AppMessage, _ deliveryClass: DeliveryClass, to device: DeviceID, at now: BusTime,
    into actions: inout [Action]
  ) -> PostRefusal? {
    guard let known = mail.devices[device] else { return .unknownDevice }
    if case .latest(let key) = deliveryClass {
      // A message that would be refused must not move the value that it would have replaced.
      guard message.isCarried, AppMessage.isName(key) else { return .tooLong }
      mail.moveValue(of: key, to: known)
    }
    var refusal: PostRefusal?
    withCourier(of: known.storeID, at: now, into: &actions) {
      refusal = $0.post(message, by: deliveryClass, at: $3, into: &$2)
    }
    return refusal
  }

  /// Tells the couriers whether the app has a message handler.
  mutating func setHandling(_ value: Bool, at now: BusTime, into actions: inout [Action]) {
    mail.setHandling(value)
    for store in mail.stores {
      withCourier(of: store, at: now, into: &actions) { courier, _, wanted, _ in
        courier.setHandling(value, into: &wanted)
      }
    }
  }

  /// Calls the courier of a store and carries out the actions that it returns.
  mutating func withCourier(
    of store: StoreID, at now: BusTime, into actions: inout [Action],
    _ body: (inout Courier, inout SeededGenerator, inout [Courier.Action], BusTime) -> Void
  ) {
    var wanted: [Courier.Action] = []
    let real = monotonic(at: now)
    guard mail.with(store, { body(&$0, &generator, &wanted, real) }) != nil else { return }
    for action in wanted {
      switch action {
      case .send(let message):
        guard let (connection, session) = sessions.session(of: store) else { continue }
        actions.append(.send(HubFrame(session: session.number, message: .delivery(message)), to: connection))
      case .write(let operations, let isUrgent, let effect):
        quarantine.note(operations)
        commits.add(
          operations, then: effect.map { [.courier(store, $0)] } ?? [], dueAt: isUrgent ? nil : now + writeDelayMax)
      case .hand(let handlerCall): actions.append(.hand(handlerCall))
      case .processed(let message, let isIncoming):
        guard let device = mail.device(of: store) else { continue }
        let (from, to) = isIncoming ? (device, settings.deviceID) : (settings.deviceID, device)
        actions.append(.publish(.message(MessageEvent(message, from: from, to: to))))
      case .receipt(let receipt): actions.append(.messageReceipt(receipt))
      case .note(let text): actions.append(.note(text))
      }
    }
  }

  /// ``CommitTiming/writeDelayMax`` in bus time.
  var writeDelayMax: BusDuration { settings.clock.speed.bus(fromReal: CommitTiming.writeDelayMax) }
}
