import DequeModule

/// One numbered stream of messages at its receiver: each is taken in order, handed to the app, and processed once the
/// app's handler has returned and that is durable.
///
///     taken ≥ handled ≥ durable
struct InboundStream: Sendable {
  /// What comes of messages that came in.
  enum Outcome: Hashable, Sendable {
    /// Hand these to the app, in order.
    case taken([MessageTransmission])
    /// Nothing new; the sender may not have heard how far it is.
    case known
    /// Something before it is missing: the sender is to go back to this place.
    case gap(UInt64)
    /// The same, and the sender was asked already: once is enough, whatever else was under way.
    case asked
  }

  let stream: StreamID
  private var taken: Watermark
  private(set) var handled: StreamMark
  private(set) var durable: StreamMark
  /// The last gap that the sender was asked about.
  private var askedFor: UInt64 = 0
  /// Taken and not handled, in order; without a message it is a tombstone.
  private var waiting: Deque<(mark: StreamMark, message: AppMessage?)> = []

  /// A stream as its store kept it.
  init(_ stream: StreamID, durable: StreamMark = .start) {
    self.stream = stream
    self.durable = durable
    handled = durable
    taken = Watermark(durable)
  }

  /// Nothing was taken that is not handled and durable.
  var isIdle: Bool { waiting.isEmpty && handled == durable }

  /// Messages of the stream, in order.
  mutating func receive(_ transmissions: [MessageTransmission]) -> Outcome {
    var fresh: [MessageTransmission] = []
    for transmission in transmissions {
      let mark = StreamMark(sequence: transmission.sequence, id: transmission.message.id)
      switch taken.receive(mark) {
      case .next:
        waiting.append((mark, transmission.message))
        fresh.append(transmission)
      case .known: continue
      case .gap: return fresh.isEmpty ? ask() : .taken(fresh)
      }
    }
    return fresh.isEmpty ? .known : .taken(fresh)
  }

  /// Nothing stands at these places; whether ``handled`` has moved.
  mutating func skip(from: UInt64, through: UInt64) -> Outcome {
    guard through > taken.sequence else { return .known }
    guard taken.reaches(from) else { return ask() }
    taken.skip(through: through)
    waiting.append((taken.mark, nil))
    passTombstones()
    return .taken([])
  }

  /// The app's handler has returned for everything up to here: for these messages. `nil` when ``handled`` has not moved.
  mutating func handle(through sequence: UInt64) -> [AppMessage]? {
    let before = handled
    var messages: [AppMessage] = []
    while let first = waiting.first, first.mark.sequence <= sequence {
      handled = first.mark
      if let message = first.message { messages.append(message) }
      waiting.removeFirst()
    }
    passTombstones()
    return handled == before ? nil : messages
  }

  /// The handler has failed for this place: it and what was taken behind it is to come again. `false` for a place that
  /// does not wait.
  mutating func fail(_ sequence: UInt64) -> Bool {
    guard waiting.contains(where: { $0.mark.sequence == sequence }) else { return false }
    giveBack()
    return true
  }

  /// Nobody handles messages any more: what was taken and not handled is to come again.
  mutating func giveBack() {
    waiting.removeAll()
    askedFor = 0
    taken = Watermark(handled)
  }

  /// What was handled up to here is durable.
  mutating func makeDurable(_ mark: StreamMark) {
    if mark.sequence > durable.sequence { durable = mark }
  }

  private mutating func ask() -> Outcome {
    guard taken.sequence < .max else { return .known }
    let place = taken.sequence + 1
    guard askedFor != place else { return .asked }
    askedFor = place
    return .gap(place)
  }

  private mutating func passTombstones() {
    while let first = waiting.first, first.message == nil {
      handled = first.mark
      waiting.removeFirst()
    }
  }
}
