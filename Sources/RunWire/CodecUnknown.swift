import SwiftProtobuf

// Fields of a later version, which values carry along, so that they are still there when a node of that version gets
// the value.
extension Codec {
  /// The most bytes of unknown fields that a command or a message of an app keeps. A later version adds short fields, and
  /// a wrong member must not make its hub keep more than that for a value.
  package static let unknownBytesMax = 256
  /// The most that a verdict or a reading keeps, many of which share a frame: 128 verdicts or 256 readings with so many
  /// fit into the smallest frame that a connection may have.
  package static let unknownInBatchBytesMax = 64

  /// The unknown fields of a message as bytes. All of them are left out when they are too many.
  static func unknown(in message: some Message, bytesMax: Int = unknownBytesMax) -> [UInt8] {
    let data = message.unknownFields.data
    guard !data.isEmpty, data.count <= bytesMax else { return [] }
    return [UInt8](data)
  }

  /// Adds unknown fields to a message that is encoded.
  static func add(_ unknown: [UInt8], to message: inout some Message) {
    guard !unknown.isEmpty else { return }
    // They were read from a message, so they can be read again.
    try? message.merge(serializedBytes: unknown)
  }
}
