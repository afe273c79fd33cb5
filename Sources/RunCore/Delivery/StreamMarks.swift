/// How far the hub has received the streams of its peers, which part of that is durable, and which acknowledgements are
/// due.
///
/// The marks of message streams are kept by the ``InboundStream`` that receives them.
struct StreamMarks: Sendable {
  private var received: [StreamID: Watermark]
  /// The durable part of ``received``. A welcome states nothing beyond it.
  private var durable: [StreamID: StreamMark]
  /// Streams whose senders are due an acknowledgement. It is sent at the end of the event, after what follows a
  /// commit.
  private var due: Set<StreamID> = []

  /// Marks from those in the store.
  init(_ marks: [StreamID: StreamMark]) {
    received = marks.mapValues { Watermark($0) }
    durable = marks
  }

  /// How many streams have a mark.
  var count: Int { received.count }

  /// Whether a stream has begun. The commands of requests belong to no such stream.
  func hasBegun(_ stream: StreamID) -> Bool { received[stream] != nil }

  /// The durable mark of a stream; ``StreamMark/start`` for one that has not begun.
  func durableMark(of stream: StreamID) -> StreamMark { durable[stream] ?? .start }

  /// Whether more of a stream was received than is durable.
  func isBehind(_ stream: StreamID) -> Bool { received[stream]?.sequence ?? 0 > durable[stream]?.sequence ?? 0 }

  // MARK: Receiving

  /// Where an item with a sequence number stands.
  func position(of sequence: UInt64, in stream: StreamID) -> Watermark.Position {
    received[stream, default: Watermark()].position(of: sequence)
  }

  /// Says where an item stands and, if it is the next one, moves the mark to it.
  mutating func receive(_ mark: StreamMark, in stream: StreamID) -> Watermark.Position {
    received[stream, default: Watermark()].receive(mark)
  }

  /// The result of received tombstones.
  enum Skip: Hashable, Sendable {
    /// The mark has passed over them. This is its new value.
    case moved(StreamMark)
    /// They were received before.
    case known
    /// An item before them is missing.
    case gap
  }

  /// Moves a mark over tombstones.
  mutating func skip(_ stream: StreamID, from: UInt64, through: UInt64) -> Skip {
    var watermark = received[stream, default: Watermark()]
    guard through > watermark.sequence else { return .known }
    guard watermark.reaches(from) else { return .gap }
    watermark.skip(through: through)
    received[stream] = watermark
    return .moved(watermark.mark)
  }

  /// Forgets a stream; `false` if it is unknown.
  mutating func forget(_ stream: StreamID) -> Bool {
    due.remove(stream)
    let isKnown = received.removeValue(forKey: stream) != nil
    return durable.removeValue(forKey: stream) != nil || isKnown
  }

  // MARK: Durable and acknowledged

  /// Notes that a mark is durable. If the stream was forgotten meanwhile and has begun anew, the mark belongs to the old
  /// one and is ignored.
  mutating func makeDurable(_ mark: StreamMark, of stream: StreamID) {
    guard let sequence = received[stream]?.sequence, mark.sequence <= sequence,
      mark.sequence > durable[stream]?.sequence ?? 0
    else { return }
    durable[stream] = mark
  }

  /// Notes that the sender of a stream is due an acknowledgement.
  mutating func acknowledge(_ stream: StreamID) { due.insert(stream) }

  /// Notes that the sender gets the verdict of a command. It acknowledges the command and all before it, but no
  /// tombstones after it. When the mark stands at that command, no further acknowledgement is needed.
  mutating func noteVerdict(of id: MessageID, in stream: StreamID) {
    if let mark = received[stream], mark.stands(at: id), durable[stream] == mark.mark { due.remove(stream) }
  }

  /// Removes and returns the acknowledgements that are due, in a fixed order.
  mutating func takeAcknowledgements() -> [(stream: StreamID, sequence: UInt64)] {
    guard !due.isEmpty else { return [] }
    let streams = due.sorted { $0.precedes($1) }
    due = []
    return streams.compactMap { stream in durable[stream].map { (stream, $0.sequence) } }
  }

  /// What is wrong by its own rules; empty when it is good.
  func check() -> [String] {
    durable.compactMap { stream, mark in
      let sequence = received[stream]?.sequence ?? 0
      return mark.sequence <= sequence ? nil : "\(stream): durable through \(mark.sequence), received \(sequence)"
    }
  }
}

extension StreamID {
  /// The order in which acknowledgements are sent.
  func precedes(_ other: StreamID) -> Bool { (sender, kind.rawValue) < (other.sender, other.kind.rawValue) }
}
