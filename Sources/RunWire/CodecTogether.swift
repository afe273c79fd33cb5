#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
package import RunCore
import SwiftProtobuf

// The messages of rooms (`together.proto`). A reader keeps the bytes that came, because signature and hash are theirs.
extension Codec {
  /// The largest message of a room with its signature, in bytes. Logs take no longer one.
  package static let roomBytesMax = 2048
  /// How many bytes a signature has.
  package static let roomSignatureByteCount = 64

  // MARK: With a signature

  /// A content and its signature as one message.
  package static func signed(_ content: [UInt8], signature: [UInt8]) -> [UInt8] {
    var message = WireRoomSigned()
    message.content = Data(content)
    message.signature = Data(signature)
    return serialize(message)
  }

  /// Takes a message apart. It has to be as ``signed(_:signature:)`` writes it: otherwise who keeps a log could give
  /// each reader other bytes with the same signature, and the readers would hash different entries.
  package static func signedParts(_ bytes: [UInt8]) throws(WireError) -> (content: [UInt8], signature: [UInt8]) {
    let message: WireRoomSigned = try parseOfRoom(bytes)
    guard message.signature.count == roomSignatureByteCount else {
      throw .malformed("a signature is \(message.signature.count) bytes long, not \(roomSignatureByteCount)")
    }
    let (content, signature) = (Array(message.content), Array(message.signature))
    guard signed(content, signature: signature) == bytes else {
      throw .malformed("a signed message in another form than the only one")
    }
    return (content, signature)
  }

  // MARK: Their contents

  /// Encodes the content of an entry. Those that consist of the same numbers and characters have the same bytes.
  package static func encode(_ content: RoomContent) -> [UInt8] { serialize(message(content)) }
  /// Encodes an advert.
  package static func encode(_ advert: RoomAdvert) -> [UInt8] { serialize(message(advert)) }
  /// Encodes a live message; its time is cut to whole milliseconds.
  package static func encode(_ live: RoomLive) -> [UInt8] { serialize(message(live)) }

  /// Decodes the content of an entry.
  package static func roomContent(_ bytes: [UInt8]) throws(WireError) -> RoomContent {
    try value(try parseOfRoom(bytes) as WireRoomContent)
  }
  /// Decodes an advert.
  package static func roomAdvert(_ bytes: [UInt8]) throws(WireError) -> RoomAdvert {
    try value(try parseOfRoom(bytes) as WireRoomAdvert)
  }
  /// Decodes a live message.
  package static func roomLive(_ bytes: [UInt8]) throws(WireError) -> RoomLive {
    try value(try parseOfRoom(bytes) as WireRoomLive)
  }

  private static func parseOfRoom<Part: Message>(_ bytes: [UInt8]) throws(WireError) -> Part {
    guard bytes.count <= roomBytesMax else { throw .malformed("message of a room of \(bytes.count) bytes: too long") }
    do {
      return try Part(serializedBytes: bytes)
    } catch {
      throw .malformed("not a protobuf message of this schema")
    }
  }

  // MARK: Entries

  static func message(_ content: RoomContent) -> WireRoomContent {
    var message = WireRoomContent()
    message.fleet = data(content.fleet)
    message.room = data(content.room)
    message.author = data(content.author)
    message.number = content.number
    if content.seen != .nothing {
      message.seen.count = content.seen.count
      message.seen.digest = withUnsafeBytes(of: content.seen.digest.bigEndian) { Data($0) }
    }
    message.ask = ask(content.ask, nonce: content.nonce)
    return message
  }

  static func value(_ message: WireRoomContent) throws(WireError) -> RoomContent {
    let ask: RoomAskKind = isUnknown(message.ask) ? .unknown : try value(message.ask)
    var content = RoomContent(
      fleet: try identifier(message.fleet, "fleet"), room: try identifier(message.room, "room"),
      author: try bytes32(message.author, "member"), number: try roomNumber(message.number),
      seen: message.hasSeen ? try value(message.seen) : .nothing, ask: ask)
    if case .open(let open) = message.ask, case .open = ask { content.nonce = try identifier(open.nonce, "nonce") }
    return content
  }

  private static func value(_ message: WireRoomSeen) throws(WireError) -> Seen {
    guard message.digest.count == 8 else {
      throw .malformed("a digest is \(message.digest.count) bytes long, not 8")
    }
    return Seen(
      count: try counter(message.count, "count of entries"),
      digest: message.digest.reduce(0) { $0 << 8 | UInt64($1) })
  }

  /// Checks a number of a member's messages: they start at 1.
  static func roomNumber(_ value: UInt64) throws(WireError) -> UInt64 {
    guard value >= 1 else { throw .malformed("number is missing") }
    return try counter(value, "number")
  }

  static func data<Kind>(_ value: Bytes32<Kind>) -> Data { Data(value.bytes) }

  static func bytes32<Kind>(_ data: Data, _ name: String) throws(WireError) -> Bytes32<Kind> {
    guard let value = Bytes32<Kind>(data) else {
      throw .malformed("\(name) is \(data.count) bytes long, not \(Bytes32<Kind>.byteCount)")
    }
    return value
  }
}
