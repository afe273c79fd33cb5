/// The actions of a core that a courier needs. Hub and peer have them in common.
protocol CourierAction: Sendable {
  /// A session with another node.
  associatedtype Link: Sendable

  /// Sends to the other node.
  static func deliver(_ message: DeliveryMessage, over link: Link, at now: BusTime) -> Self
  /// Hands a message to the app; see ``HandlerCall``.
  static func hand(_ handlerCall: HandlerCall) -> Self
  /// A message that this node's app posted has reached a stage.
  static func messageReceipt(_ receipt: MessageReceipt) -> Self
  /// A line for the log.
  static func note(_ text: String) -> Self
  /// Tells everybody that a message is processed; `nil` at a node that does not do that.
  static func announce(_ event: MessageEvent) -> Self?
}

/// The ways out of a courier in one turn: to the other node, to the app, and to everybody on the bus.
struct Way<Action: CourierAction>: Sendable {
  /// The session with the other node; `nil` without one.
  let link: Action.Link?
  /// Whether the streams are open in it.
  let isOpen: Bool
  /// This node's device.
  let own: DeviceID
  /// The other node's device; `nil` on a peer that has not met its hub.
  let other: DeviceID?
  /// The other node's store.
  let store: StoreID
  /// Grows whenever messages that were handed to the app will be handed over again.
  let handlerGeneration: UInt64

  /// Sends to the other node, if there is a session.
  func send(_ message: DeliveryMessage, in turn: inout Turn<Action>) {
    if let link { turn.act(.deliver(message, over: link, at: turn.now)) }
  }

  /// Hands a message to the app.
  ///
  /// - Parameter sequence: Its sequence number if it is in the stream of messages.
  func hand(
    _ message: AppMessage, _ deliveryClass: DeliveryClass, _ sequence: UInt64? = nil, in turn: inout Turn<Action>
  ) {
    guard let other else { return }
    turn.act(
      .hand(
        HandlerCall(
          received: ReceivedMessage(message: message, from: other, deliveryClass: deliveryClass),
          stream: StreamID(sender: store, kind: .messages), sequence: sequence, handlerGeneration: handlerGeneration)))
  }

  /// Tells the app that a message which it posted has reached a stage.
  func report(_ id: MessageID, _ stage: DeliveryStage, in turn: inout Turn<Action>) {
    turn.act(.messageReceipt(MessageReceipt(messageID: id, stage: stage)))
  }

  /// Tells everybody that a handler has processed a message durably: this device's, or the other one's.
  func announce(_ message: AppMessage, isIncoming: Bool, in turn: inout Turn<Action>) {
    guard let other else { return }
    let event = MessageEvent(message, from: isIncoming ? other : own, to: isIncoming ? own : other)
    if let action = Action.announce(event) { turn.act(action) }
  }
}
