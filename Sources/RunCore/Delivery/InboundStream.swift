import DequeModule

/// The receiving end of a numbered stream of messages. It accepts messages in order and hands them to the app. A
/// message is processed when the app's handler has returned and that is durable.
///
///     taken ≥ handled ≥ durable
struct InboundStream: Sendable {
  /// The result of received messages or tombstones.
  enum Outcome: Hashable, Sendable {
    /// They are accepted: hand these to the app, in order.
    case taken([MessageTransmission])
    /// They were received before: acknowledge again, because the acknowledgement may be lost.
    case known
    /// An earlier item is missing: ask the sender to go back to this sequence number.
    case gap(UInt64)
    /// An earlier item is missing, and the sender was asked already: ignore the other frames that were in flight.
    case asked
  }

  let stream: StreamID
  private var taken: Watermark
  private(set) var handled: StreamMark
  private(set) var durable: StreamMark
  /// The sequence number to which the sender was last asked to go back.
  private var askedFor: UInt64 = 0
  /// Items that are accepted and not handled, in order; `nil` stands for a tombstone.
  private var waiting: Deque<(mark: StreamMark, message: AppMessage?)> = []

  /// A stream from its stored mark.
  init(_ stream: StreamID, durable: StreamMark = .start) {
    self.stream = stream
    self.durable = durable
    handled = durable
    taken = Watermark(durable)
  }

  /// Up to where messages were accepted.
  var received: UInt64 { taken.sequence }
  /// Whether everything that was accepted is handled and durable.
  var isIdle: Bool { waiting.isEmpty && handled == durable }

  /// Receives messages of the stream, in order.
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

  /// Receives a range of tombstones. `taken([])` when it was new.
  mutating func skip(from: UInt64, through: UInt64) -> Outcome {
    guard through > taken.sequence else { return .known }
    guard taken.reaches(from) else { return ask() }
    taken.skip(through: through)
    waiting.append((taken.mark, nil))
    passTombstones()
    return .taken([])
  }

  /// The app's handler has returned for everything up to here.
  ///
  /// - Returns: the messages that are handled now; `nil` when ``handled`` has not moved.
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

  /// The handler has failed for a message. The stream drops it and all after it, so that the sender sends them again.
  ///
  /// - Returns: `false` when the message does not wait to be handled.
  mutating func fail(_ sequence: UInt64) -> Bool {
    guard waiting.contains(where: { $0.mark.sequence == sequence }) else { return false }
    giveBack()
    return true
  }

  /// Drops the messages that are not handled. The sender has to send them again.
  mutating func giveBack() {
    waiting.removeAll()
    askedFor = 0
    taken = Watermark(handled)
  }

  /// The mark is durable: everything up to it is processed.
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

  /// What is wrong by its own rules; empty when it is good.
  func check() -> [String] {
    taken.sequence >= handled.sequence && handled.sequence >= durable.sequence
      ? [] : ["\(stream): taken \(taken.sequence), handled \(handled.sequence), durable \(durable.sequence)"]
  }
}
