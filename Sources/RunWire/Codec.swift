package import RunCore
import SwiftProtobuf

/// Encodes what nodes say to each other into the bytes of the published schema (`runbus.proto`), and decodes it.
///
/// Decoding trusts nothing: for any bytes the result is a value that keeps every rule of the schema, or a
/// ``WireError``. Encoding a value that keeps the rules never fails.
package enum Codec {
  /// The largest frame in bytes. The transport refuses longer ones before they are read (ZMQ_MAXMSGSIZE).
  package static let frameBytesMax = ConnectionLimits.frameBytes.upperBound
  /// The most samples in a frame: with every field at its longest, 512 of them stay below ``frameBytesMax``.
  package static let samplesMax = 512

  /// Encodes a peer's frame.
  package static func encode(_ frame: PeerFrame) -> [UInt8] { serialize(message(frame)) }
  /// Encodes a hub's frame for a connection. An answer is cut by the limits; batches were cut before.
  package static func encode(_ frame: HubFrame, within limits: ConnectionLimits = .full) -> [UInt8] {
    serialize(message(frame, within: limits))
  }
  /// Encodes an event.
  package static func encode(_ event: BusEvent) -> [UInt8] { serialize(message(event)) }

  /// Decodes a frame that a peer sent.
  package static func peerFrame(_ bytes: [UInt8]) throws(WireError) -> PeerFrame {
    try value(try parse(bytes) as WirePeerFrame)
  }
  /// Decodes a frame that the hub sent.
  package static func hubFrame(_ bytes: [UInt8]) throws(WireError) -> HubFrame {
    try value(try parse(bytes) as WireHubFrame)
  }
  /// Decodes an event that the hub published.
  package static func busEvent(_ bytes: [UInt8]) throws(WireError) -> BusEvent {
    try value(try parse(bytes) as WireBusEvent)
  }

  /// Reads the command of a frame that failed with ``WireError/unsupportedKind(_:)``; `nil` for any other frame. The
  /// hub answers it with the verdict `rejected(unsupported)`, which echoes kind and source unread, because only the
  /// sender knows what they mean.
  package static func unsupportedCommand(in bytes: [UInt8], term: UInt64, revision: UInt64) -> UnsupportedCommand? {
    guard let frame = try? parse(bytes) as WirePeerFrame else { return nil }
    let command: WireCommand
    var place: UInt64?
    switch frame.message {
    case .command(let transmission):
      command = transmission.command
      guard let number = try? sequence(transmission.sequence) else { return nil }
      place = number
    case .request(let request):
      // A sender of another version is told of the version instead.
      guard request.version == wireVersion else { return nil }
      command = request.command.command
    case .hello, .samples, .ping, .query, .goodbye, .delivery, .inquiry, .fetchRecord, .pairing, .announceKey, .room,
      nil:
      return nil
    }
    guard case .UNRECOGNIZED = command.kind, let id: CommandID = try? identifier(command.id, "command id") else {
      return nil
    }
    var rejected = WireRejected()
    rejected.reason = .unsupported
    var verdict = WireVerdict()
    verdict.outcome = .rejected(rejected)
    verdict.term = term
    verdict.revision = revision
    var receipt = WireReceipt()
    receipt.commandID = data(id)
    receipt.kind = command.kind
    receipt.source = command.source
    receipt.stage = .verdict(verdict)
    var reply = WireHubFrame()
    reply.session = frame.session
    reply.message = .receipt(receipt)
    return UnsupportedCommand(session: frame.session, sequence: place, reply: serialize(reply))
  }

  static func serialize(_ message: some Message) -> [UInt8] { OnePassEncoder.encode(message) }

  static func parse<Frame: Message>(_ bytes: [UInt8]) throws(WireError) -> Frame {
    guard bytes.count <= frameBytesMax else { throw .malformed("frame of \(bytes.count) bytes: too long") }
    do {
      return try Frame(serializedBytes: bytes)
    } catch {
      throw .malformed("not a protobuf message of this schema")
    }
  }
}
