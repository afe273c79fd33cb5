/// What a ``MessageID`` identifies.
public enum MessageTag: Sendable {}
/// Identifies an app's message. The id stays the same when the message is sent again, so a handler can recognise a
/// repetition.
public typealias MessageID = Identifier<MessageTag>

/// A message of an app. RunBus delivers its body without reading it.
public struct AppMessage: Hashable, Sendable {
  /// The longest body, in bytes; it leaves room in a frame of 64 KiB.
  public static let bodyMax = 32_768
  /// The longest name or key, in bytes of UTF-8.
  public static let nameMax = 64

  /// Identifies the message.
  public let id: MessageID
  /// Tells the receiver what the message is about: 1 to 64 bytes without control characters.
  public let name: String
  /// The content, at most ``bodyMax`` bytes.
  public let body: [UInt8]
  /// Fields of a later version, as its bytes on the wire. This version passes them on with the value.
  package var unknown: [UInt8] = []

  /// A message from its parts. Nothing is checked here; the sending node refuses a name or a body that is too long.
  public init(id: MessageID, name: String, body: [UInt8]) {
    self.id = id
    self.name = name
    self.body = body
  }

  /// The same message under another id.
  package func renamed(to id: MessageID) -> AppMessage {
    var message = AppMessage(id: id, name: name, body: body)
    message.unknown = unknown
    return message
  }

  /// Whether the wire can carry it: the name is valid and the body not too long.
  public var isCarried: Bool { Self.isName(name) && body.count <= Self.bodyMax }

  /// Whether a text can be a name or a key: 1 to 64 bytes, no control characters.
  public static func isName(_ text: String) -> Bool {
    (1...nameMax).contains(text.utf8.count)
      && !text.unicodeScalars.contains(where: \.isControl)
  }
}

extension String {
  /// The text without control characters, cut to at most `bytesMax` bytes at the end of a scalar.
  func carried(bytesMax: Int) -> String {
    guard utf8.count > bytesMax || unicodeScalars.contains(where: \.isControl) else { return self }
    var text = UnicodeScalarView()
    var count = 0
    for scalar in unicodeScalars where !scalar.isControl {
      count += UTF8.width(scalar)
      guard count <= bytesMax else { break }
      text.append(scalar)
    }
    return String(text)
  }
}

extension Unicode.Scalar {
  /// Whether it is a C0 or C1 control character or DEL.
  package var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }
}

/// What RunBus promises for the delivery of a message.
public enum DeliveryClass: Hashable, Sendable {
  /// At most once, without storage. The sender learns at once when the receiver is not connected.
  case live
  /// The newest value of a key, durable. A newer value replaces one that is not yet delivered.
  case latest(key: String)
  /// Every message, in order, durable. A handler can receive it again after a crash; RunBus marks it processed once.
  case queued
}

/// A stage in the delivery of an app's message.
public enum DeliveryStage: Hashable, Sendable {
  /// Handed to the transport; the last stage of a live message, whose arrival is not reported.
  case sent
  /// Durable in the sender's store.
  case queued
  /// Received by the other device; its handler has not returned yet.
  case delivered
  /// The other device's handler has returned, and that is durable there; the last stage.
  case processed
  /// A newer value of its key replaced it before it was delivered; the last stage.
  case replaced
  /// It is not delivered, for this reason; the last stage.
  case rejected(RejectionReason)

  /// Whether no other stage follows.
  public var isLast: Bool {
    switch self {
    case .queued, .delivered: false
    case .sent, .processed, .replaced, .rejected: true
    }
  }
}

/// One stage of one message.
public struct MessageReceipt: Hashable, Sendable {
  /// The message.
  public let messageID: MessageID
  /// The stage that it has reached.
  public let stage: DeliveryStage

  /// A receipt from its parts.
  public init(messageID: MessageID, stage: DeliveryStage) {
    self.messageID = messageID
    self.stage = stage
  }
}

/// A message as its receiver gets it.
public struct ReceivedMessage: Hashable, Sendable {
  /// The message. Its id is the same when the node hands it to the handler again after a crash.
  public let message: AppMessage
  /// The device that it came from.
  public let from: DeviceID
  /// How it was sent.
  public let deliveryClass: DeliveryClass

  /// A received message from its parts.
  public init(message: AppMessage, from: DeviceID, deliveryClass: DeliveryClass) {
    self.message = message
    self.from = from
    self.deliveryClass = deliveryClass
  }
}

extension CommandID {
  /// The same 128 bits as a ``MessageID``: a ``StreamMark`` has one id type for commands and messages.
  var message: MessageID { MessageID(high: high, low: low) }
}
