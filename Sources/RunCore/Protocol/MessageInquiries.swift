/// What a listener's id identifies.
package enum ListenerTag: Sendable {}
/// Identifies a listener: a shell that takes messages in the place of a node's app. It draws its id at random.
package typealias ListenerID = Identifier<ListenerTag>

/// What a shell on a node's machine does with messages in the place of the node's app.
package enum MessageInquiry: Hashable, Sendable {
  /// Sends a message. With a patience the answer waits for the message's last stage, at most as long as that.
  case send(AppMessage, DeliveryClass, to: DeviceID?, patience: BusDuration?)
  /// Asks another device's app a question, and waits so long for its answer.
  case ask(AppMessage, of: DeviceID?, patience: BusDuration)
  /// A listener asks for its next message, and says what became of the one before. The first question registers it.
  case take(ListenerID, ListenerTopic, ListenerReport?)
  /// A listener ends. A message of which it does not report is given to another reader.
  case leave(ListenerID, ListenerReport?)
  /// Asks which values others have sent in the class `latest`, from an index on.
  case values(from: Int)
  /// Asks for one of them; without a device for the only one of that key.
  case value(key: String, from: DeviceID?)
}

/// What a listener takes.
package enum ListenerTopic: Hashable, Sendable {
  /// Messages of a name; `nil` for all names that have no other reader.
  case messages(String?)
  /// Questions of a name, which it answers.
  case questions(String)
}

/// What became of a message that a listener was given.
package struct ListenerReport: Hashable, Sendable {
  /// What a listener says of its message.
  package enum Outcome: Hashable, Sendable {
    /// It is still at work.
    case working
    /// The message counts as processed.
    case processed
    /// It could not be processed, for this reason.
    case failed(String)
    /// The answer to a question.
    case answer([UInt8])
  }
  /// The number of ``HandedMessage``.
  package let number: UInt64
  /// What became of it.
  package let outcome: Outcome

  /// A report from its parts.
  package init(_ number: UInt64, _ outcome: Outcome) { (self.number, self.outcome) = (number, outcome) }
}

/// A message that a listener is given.
package struct HandedMessage: Hashable, Sendable {
  /// Differs for each message that a node hands to listeners.
  package let number: UInt64
  /// The message.
  package let received: ReceivedMessage

  /// A message from its parts.
  package init(_ number: UInt64, _ received: ReceivedMessage) { (self.number, self.received) = (number, received) }
}

/// The newest value of a key, without its content.
package struct ValueReport: Hashable, Sendable {
  /// The key.
  package let key: String
  /// The device that sent it.
  package let from: DeviceID
  /// The name of the message that brought it.
  package let name: String
  /// How many bytes its content has.
  package let bytes: UInt64
  /// Real time since it came; `nil` when that was before the node began.
  package let age: BusDuration?

  /// A report from its parts.
  package init(key: String, from: DeviceID, name: String, bytes: UInt64, age: BusDuration?) {
    (self.key, self.from, self.name, self.bytes, self.age) = (key, from, name, bytes, age)
  }
}

/// The answer to a ``MessageInquiry``.
package enum MessageAnswer: Hashable, Sendable {
  /// How far the message has come.
  case stage(DeliveryStage)
  /// The other app's answer.
  case reply([UInt8])
  /// The listener's next message.
  case handed(HandedMessage)
  /// No message for the listener now.
  case nothing
  /// Values by device and key, as many as fit an answer, and how many there are in all.
  case values([ValueReport], total: Int)
  /// The message that brought a value, and its sender.
  case value(AppMessage, from: DeviceID)
}

extension Question where Answer == DeliveryStage {
  /// Sends a message as the node's own app would; how far it has come.
  package static func send(
    _ message: AppMessage, by deliveryClass: DeliveryClass, to device: DeviceID?, patience: BusDuration?
  ) -> Self {
    Self(about: .send(message, deliveryClass, to: device, patience: patience)) {
      if case .stage(let stage) = $0 { stage } else { nil }
    }
  }
}

extension Question where Answer == [UInt8] {
  /// Asks another device's app; its answer.
  package static func ask(_ message: AppMessage, of device: DeviceID?, patience: BusDuration) -> Self {
    Self(about: .ask(message, of: device, patience: patience)) {
      if case .reply(let content) = $0 { content } else { nil }
    }
  }
}

extension Question where Answer == HandedMessage? {
  /// A listener's next message; `nil` when none came in time.
  package static func take(_ listener: ListenerID, _ topic: ListenerTopic, _ report: ListenerReport?) -> Self {
    Self(about: .take(listener, topic, report)) {
      switch $0 {
      case .handed(let message): .some(message)
      case .nothing: .some(nil)
      case .stage, .reply, .values, .value: nil
      }
    }
  }

  /// A listener ends.
  package static func leave(_ listener: ListenerID, _ report: ListenerReport?) -> Self {
    Self(about: .leave(listener, report)) { if case .nothing = $0 { .some(nil) } else { nil } }
  }
}

/// Newest values, as many as fit an answer, and how many there are in all.
package struct ValuePage: Hashable, Sendable {
  /// By device and key.
  package let values: [ValueReport]
  /// How many there are in all.
  package let total: Int
}

extension Question where Answer == ValuePage {
  /// The values that others have sent in the class `latest`, from an index on.
  package static func values(from: Int) -> Self {
    Self(about: .values(from: from)) {
      if case .values(let values, let total) = $0 { ValuePage(values: values, total: total) } else { nil }
    }
  }
}

extension Question where Answer == ReceivedMessage {
  /// The newest value of a key, as the message that brought it.
  package static func value(of key: String, from device: DeviceID?) -> Self {
    Self(about: .value(key: key, from: device)) {
      guard case .value(let message, let from) = $0 else { return nil }
      return ReceivedMessage(message: message, from: from, deliveryClass: .latest(key: key))
    }
  }
}
