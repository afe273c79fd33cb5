import RunCore
import SwiftProtobuf

// Streams and their sequences.
extension Codec {
  /// The longest range of one tombstone.
  static let tombstonePlacesMax: UInt64 = 1 << 20

  static func word(_ kind: StreamID.Kind) -> WireStreamKind {
    switch kind {
    case .commands: .commands
    case .samples: .samples
    case .messages: .messages
    case .verdicts: .verdicts
    }
  }

  static func kind(_ word: WireStreamKind) throws(WireError) -> StreamID.Kind {
    switch word {
    case .commands: .commands
    case .samples: .samples
    case .messages: .messages
    case .verdicts: .verdicts
    case .unspecified: throw .malformed("stream kind is missing")
    case .UNRECOGNIZED: throw .unknown("a kind of stream")
    }
  }

  /// Ordered by kind, so that the same marks always give the same bytes.
  static func messages(_ marks: [StreamID.Kind: StreamMark]) -> [WireStreamMark] {
    StreamID.Kind.allCases.compactMap { kind in
      marks[kind].map { mark in
        var message = WireStreamMark()
        message.kind = word(kind)
        message.sequence = mark.sequence
        if let id = mark.id, mark.sequence > 0 { message.id = data(id) }
        return message
      }
    }
  }

  static func messages(_ sequences: [StreamID.Kind: UInt64]) -> [WireStreamMark] {
    messages(sequences.mapValues { StreamMark(sequence: $0) })
  }

  static func marks(_ messages: [WireStreamMark]) throws(WireError) -> [StreamID.Kind: StreamMark] {
    var marks: [StreamID.Kind: StreamMark] = [:]
    for message in messages {
      // The mark of a stream of a later version says nothing about the streams that are known.
      if case .UNRECOGNIZED = message.kind { continue }
      let kind = try kind(message.kind)
      guard marks[kind] == nil else { throw .malformed("two marks of one stream") }
      guard message.sequence > 0 || !message.hasID else { throw .malformed("mark with an id before the first place") }
      marks[kind] = StreamMark(
        sequence: try counter(message.sequence, "mark"),
        id: message.hasID ? try identifier(message.id, "mark id") : nil)
    }
    return marks
  }

  static func message(tombstones kind: StreamID.Kind, from: UInt64, through: UInt64) -> WireTombstones {
    var message = WireTombstones()
    message.kind = word(kind)
    message.from = from
    message.through = through
    return message
  }

  static func value(_ message: WireTombstones) throws(WireError) -> DeliveryMessage {
    let (from, through) = (try sequence(message.from), try sequence(message.through))
    guard from <= through else { throw .malformed("tombstones end before they begin") }
    guard through - from < tombstonePlacesMax else {
      throw .malformed("tombstones for more than \(tombstonePlacesMax) places")
    }
    return .tombstones(try kind(message.kind), from: from, through: through)
  }
}
