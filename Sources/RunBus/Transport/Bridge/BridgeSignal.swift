import RunCore

/// A message on the link of a bridge: a byte that says what it is, then its content.
///
/// A link keeps the order of what it delivers, so that a message needs no connection number: what arrives before the
/// answer to a knock belongs to an earlier connection.
enum BridgeSignal: Hashable, Sendable {
  // From the peer's end.
  /// Asks for a connection. The token tells the answer to this knock from that to an earlier one.
  case knock(UInt64)
  case frame([UInt8])
  /// All topics that the peer wants from now on.
  case subscribe([Topic])
  /// The peer has closed the connection.
  case leave

  // From the hub's end.
  /// A hub listens: the peer knocks.
  case call
  /// Opens the connection that a knock asked for.
  case answer(UInt64)
  case reply([UInt8])
  case event(Topic, [UInt8])
  /// There is no connection, or none any more.
  case bye

  /// Raised by an incompatible change of the messages; ends of two versions do not connect.
  static let version: UInt8 = 1
  /// How many bytes a message has more than the frame or event in it.
  static let prefixBytesMax = 2
  /// More topics than any version knows, so that a wrong message stays cheap.
  private static let topicsMax = 64

  private enum Prefix: UInt8 {
    case knock = 1
    case frame, subscribe, leave, call, answer, reply, event, bye
  }

  /// Reads a message; `nil` when it is none. Topics of a later version are passed over.
  init?(_ bytes: [UInt8]) {
    guard let first = bytes.first, let prefix = Prefix(rawValue: first) else { return nil }
    let content = bytes.dropFirst()
    switch prefix {
    case .knock:
      guard let token = Self.token(content) else { return nil }
      self = .knock(token)
    case .answer:
      guard let token = Self.token(content) else { return nil }
      self = .answer(token)
    case .frame:
      guard !content.isEmpty else { return nil }
      self = .frame(Array(content))
    case .reply:
      guard !content.isEmpty else { return nil }
      self = .reply(Array(content))
    case .subscribe:
      guard content.count <= Self.topicsMax else { return nil }
      self = .subscribe(content.compactMap(Self.topic))
    case .event:
      guard content.count >= 2, let topic = content.first.flatMap(Self.topic) else { return nil }
      self = .event(topic, Array(content.dropFirst()))
    case .leave, .call, .bye:
      guard content.isEmpty else { return nil }
      self = prefix == .leave ? .leave : prefix == .call ? .call : .bye
    }
  }

  /// The message as it goes over the link.
  var bytes: [UInt8] {
    switch self {
    case .knock(let token): Self.message(.knock, Self.bytes(of: token))
    case .frame(let bytes): Self.message(.frame, bytes)
    case .subscribe(let topics): Self.message(.subscribe, topics.flatMap { Array($0.rawValue.utf8) })
    case .leave: Self.message(.leave, [])
    case .call: Self.message(.call, [])
    case .answer(let token): Self.message(.answer, Self.bytes(of: token))
    case .reply(let bytes): Self.message(.reply, bytes)
    case .event(let topic, let bytes): Self.message(.event, Array(topic.rawValue.utf8), bytes)
    case .bye: Self.message(.bye, [])
    }
  }

  private static func message(_ prefix: Prefix, _ content: [UInt8]...) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(content.reduce(1) { $0 + $1.count })
    bytes.append(prefix.rawValue)
    for part in content { bytes += part }
    return bytes
  }

  private static func topic(_ byte: UInt8) -> Topic? { Topic(rawValue: String(UnicodeScalar(byte))) }

  private static func bytes(of token: UInt64) -> [UInt8] {
    [version] + withUnsafeBytes(of: token.bigEndian) { Array($0) }
  }

  private static func token(_ bytes: ArraySlice<UInt8>) -> UInt64? {
    guard bytes.count == 9, bytes.first == version else { return nil }
    return bytes.dropFirst().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
