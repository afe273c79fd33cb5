/// What a ``MessageID`` identifies.
public enum MessageTag: Sendable {}
/// Identifies an app's message, however often it is sent: what a handler recognises a repetition by.
public typealias MessageID = Identifier<MessageTag>

/// A message of an app, which RunBus carries and does not read.
public struct AppMessage: Hashable, Sendable, Codable {
  /// Bodies are at most this long, in bytes: a frame holds 64 KiB.
  public static let bodyMax = 32_768
  /// Names and keys are at most this long, in bytes of UTF-8.
  public static let nameMax = 64

  /// Identifies it.
  public let id: MessageID
  /// What it is about, for the receiver: 1 to 64 bytes.
  public let name: String
  /// What it says: at most ``bodyMax`` bytes.
  public let body: [UInt8]

  /// A message from its parts; nothing is checked here, the node that sends it refuses what is too long.
  public init(id: MessageID, name: String, body: [UInt8]) {
    self.id = id
    self.name = name
    self.body = body
  }

  /// Whether it fits what the wire carries.
  public var isCarried: Bool { Self.isName(name) && body.count <= Self.bodyMax }

  /// Whether a text can be a name or a key: 1 to 64 bytes, no control characters.
  public static func isName(_ text: String) -> Bool {
    (1...nameMax).contains(text.utf8.count)
      && !text.unicodeScalars.contains(where: \.isControl)
  }
}

extension String {
  /// The text as the wire carries it: without control characters, cut before the scalar that would exceed a bound.
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
  /// One of the two ranges of control characters.
  package var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }
}

/// What is promised for the delivery of a message.
public enum DeliveryClass: Hashable, Sendable, Codable {
  /// At most once, now or never: the sender learns at once that nobody is there.
  case live
  /// The newest value of a key, durable; older ones are replaced.
  case latest(key: String)
  /// Every one, in order; what RunBus stores of it happens once.
  case queued
}

/// How far an app's message is.
public enum DeliveryStage: Hashable, Sendable, Codable {
  /// Handed to the link, for now or never: the last stage that is known of a live one.
  case sent
  /// Durable here.
  case queued
  /// The other device has it, and its handler has not returned yet.
  case delivered
  /// The other device's handler has returned, and that is durable there: the last stage.
  case processed
  /// A newer value of its key took its place before it was delivered: the last stage of this one.
  case replaced
  /// It is not delivered, and why: the last stage.
  case rejected(RejectionReason)

  /// Nothing comes after it.
  public var isLast: Bool {
    switch self {
    case .queued, .delivered: false
    case .sent, .processed, .replaced, .rejected: true
    }
  }
}

/// One stage of one message.
public struct MessageReceipt: Hashable, Sendable, Codable {
  /// The message.
  public let messageID: MessageID
  /// How far it is.
  public let stage: DeliveryStage

  /// A receipt from its parts.
  public init(messageID: MessageID, stage: DeliveryStage) {
    self.messageID = messageID
    self.stage = stage
  }
}

/// A message as its receiver gets it.
public struct ReceivedMessage: Hashable, Sendable {
  /// The message. Its id is the same when it is handed over again after a crash.
  public let message: AppMessage
  /// The device that it came from.
  public let from: DeviceID
  /// What was promised for it.
  public let deliveryClass: DeliveryClass

  /// A received message from its parts.
  public init(message: AppMessage, from: DeviceID, deliveryClass: DeliveryClass) {
    self.message = message
    self.from = from
    self.deliveryClass = deliveryClass
  }
}

extension CommandID {
  /// The same 128 bits, as marks of streams name what stands at a sequence.
  var message: MessageID { MessageID(high: high, low: low) }
}
