import Foundation
import RunBus
import RunScripts

/// The content of a message: as text where it is UTF-8, else in base64.
struct MessageBodyJSON {
  let text: String?
  let base64: String?

  init(_ body: [UInt8]) {
    text = String(validating: body, as: UTF8.self)
    base64 = text == nil ? Data(body).base64EncodedString() : nil
  }
}

/// A message as `listen --json` writes it.
struct ListenedJSON: Codable, Hashable, Sendable {
  var messageId: String
  var name: String
  var fromDeviceId: String
  var `class`: String
  @Explicit var key: String?
  var bytes: Int
  @Explicit var text: String?
  @Explicit var base64: String?

  init(_ received: ReceivedMessage) {
    let body = MessageBodyJSON(received.message.body)
    (messageId, name) = (received.message.id.description, received.message.name)
    (fromDeviceId, `class`) = (received.from.rawValue, received.deliveryClass.word)
    if case .latest(let key) = received.deliveryClass { self.key = key } else { key = nil }
    bytes = received.message.body.count
    text = body.text
    base64 = body.base64
  }
}

/// A newest value as `latest --json` lists it.
struct ValueJSON: Codable, Hashable, Sendable {
  var key: String
  var fromDeviceId: String
  var name: String
  var bytes: UInt64
  @Explicit var ageSeconds: Double?

  init(_ report: ValueReport) {
    (key, fromDeviceId, name, bytes) = (report.key, report.from.rawValue, report.name, report.bytes)
    ageSeconds = report.age?.seconds
  }
}

/// An answer as `ask --json` writes it.
struct AnswerJSON: Codable, Hashable, Sendable {
  var name: String
  @Explicit var fromDeviceId: String?
  var bytes: Int
  @Explicit var text: String?
  @Explicit var base64: String?

  init(_ content: [UInt8], to name: String, from device: DeviceID?) {
    let body = MessageBodyJSON(content)
    self.name = name
    fromDeviceId = device?.rawValue
    bytes = content.count
    text = body.text
    base64 = body.base64
  }
}

/// What became of a message, as `post --json` writes it.
struct PostJSON: Codable, Hashable, Sendable {
  var act = OutboxActJSON.Act.posted
  var deviceId: String
  var id: String
  @Explicit var newId: String?
  var message: String
  /// How far it has come.
  var stage: String
  /// Why it was rejected.
  @Explicit var reason: String?
}

extension DeliveryClass {
  /// The word for it.
  var word: String {
    switch self {
    case .live: "live"
    case .latest: "latest"
    case .queued: "queued"
    }
  }
}

extension DeliveryStage {
  /// The word for it, and the reason of a rejection.
  var words: (stage: String, reason: String?) {
    switch self {
    case .sent: ("sent", nil)
    case .queued: ("queued", nil)
    case .delivered: ("delivered", nil)
    case .processed: ("processed", nil)
    case .replaced: ("replaced", nil)
    case .rejected(let reason): ("rejected", reason.code)
    }
  }
}
