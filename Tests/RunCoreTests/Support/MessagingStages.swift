@testable import RunCore

/// A message stream for tests: takes inputs one by one and returns its actions as lines.
struct MessageStreamStage {
  static let own = StoreID(high: 1, low: 1)
  static let other = StoreID(high: 2, low: 1)

  private(set) var stream: MessageStream
  var now = BusTime.zero
  private var generator = SeededGenerator(seed: 1)
  private var effects: [MessageStream.Effect] = []

  /// - Parameter isOpen: whether a session is open and nothing was ever sent in it.
  init(isOpen: Bool = true, bounds: OutboundStream.Bounds = .messages) {
    stream = MessageStream(
      outbound: OutboundStream(OutboundStreamID(receiver: Self.other, kind: .messages), bounds: bounds),
      inbound: InboundStream(StreamID(sender: Self.other, kind: .messages)))
    if isOpen { _ = open() }
  }

  mutating func does(
    _ body: (inout MessageStream, BusTime, inout SeededGenerator) -> [MessageStream.Action]
  ) -> [String] {
    body(&stream, now, &generator).map { action in
      switch action {
      case .send(let message): return NodeLines.line(message)
      case .write(let operations, let isUrgent, let effect):
        if let effect { effects.append(effect) }
        return MessagingLines.line(operations, isUrgent: isUrgent)
      case .hand(let message, let sequence): return "hand \(message.id.low) at \(sequence)"
      case .processed(let message, let isIncoming): return "\(message.id.low) handled \(isIncoming ? "here" : "there")"
      case .receipt(let receipt): return NodeLines.line(receipt)
      }
    }
  }

  /// All writes become durable.
  mutating func commits() -> [String] {
    let done = effects
    effects = []
    return done.flatMap { effect in does { $0.perform(effect, at: $1, generator: &$2) } }
  }

  /// The lines of a post; `nil` when it is refused.
  mutating func post(_ id: UInt64, bytes: Int = 0) -> [String]? {
    var isRefused = false
    let lines = does { stream, now, _ in
      guard let actions = stream.post(MessagingLines.message(id, bytes: bytes), at: now) else {
        isRefused = true
        return []
      }
      return actions
    }
    return isRefused ? nil : lines
  }

  mutating func cancel(_ id: UInt64) -> [String] {
    does { stream, _, _ in stream.cancel(MessageID(high: 0, low: id)) ?? [] }
  }

  mutating func open(received mark: StreamMark = .start, within limits: ConnectionLimits = .full) -> [String] {
    does { $0.open(received: mark, within: limits, at: $1, generator: &$2).actions }
      + does { $0.send(at: $1, generator: &$2) }
  }

  mutating func close() { stream.close() }

  mutating func renumber(to store: StoreID) {
    stream.renumber(
      to: OutboundStreamID(receiver: store, kind: .messages), from: StreamID(sender: store, kind: .messages))
  }

  mutating func hears(_ message: DeliveryMessage) -> [String] {
    does { $0.receive(message, at: $1, generator: &$2) }
  }

  /// Messages whose ids are ten times their sequence numbers arrive.
  mutating func hears(_ sequences: UInt64...) -> [String] {
    hears(
      .messages(sequences.map { MessageTransmission(sequence: $0, message: MessagingLines.message($0 * 10)) }))
  }

  mutating func handles(through sequence: UInt64, generation: UInt64? = nil) -> [String] {
    does { stream, _, _ in stream.handle(through: sequence, handlerGeneration: generation) }
  }

  mutating func fails(_ sequence: UInt64) -> [String] { does { stream, _, _ in stream.fail(sequence, "no") } }

  mutating func startsHandling() -> [String] { does { stream, _, _ in stream.startHandling() } }

  mutating func stopsHandling() { stream.stopHandling() }

  /// Goes to the moment of the next retry.
  mutating func retries() -> [String] {
    if let due = stream.retryAt { now = due }
    return does { $0.retry(at: $1, generator: &$2) }
  }
}

/// The newest values by key for tests: takes inputs one by one and returns the actions as lines.
struct LatestValuesStage {
  static let device = DeviceID("watch")
  static let store = StoreID(high: 2, low: 1)

  private(set) var values: LatestValues
  var now = BusTime.zero
  private(set) var isOpen = false
  private var generator = SeededGenerator(seed: 1)
  private var effects: [LatestValues.Effect] = []

  init(posted: [LatestRow] = [], received: [LatestReceived] = [], isOpen: Bool = true) {
    values = LatestValues(receiver: Self.device, posted: posted, received: received)
    if isOpen { _ = open() }
  }

  mutating func does(
    _ body: (inout LatestValues, BusTime, inout SeededGenerator) -> [LatestValues.Action]
  ) -> [String] {
    body(&values, now, &generator).map { action in
      switch action {
      case .send(let message): return NodeLines.line(message)
      case .write(let operations, let isUrgent, let effect):
        if let effect { effects.append(effect) }
        return MessagingLines.line(operations, isUrgent: isUrgent)
      case .hand(let row): return "hand \(row.message.id.low)"
      case .receipt(let receipt): return NodeLines.line(receipt)
      case .note: return "note"
      }
    }
  }

  /// All writes become durable.
  mutating func commits(sessionWith store: StoreID = Self.store) -> [String] {
    let done = effects
    effects = []
    let session = isOpen ? store : nil
    return done.flatMap { effect in does { $0.perform(effect, sessionWith: session, at: $1, generator: &$2) } }
  }

  /// The lines of a post; `nil` when it is refused.
  mutating func post(_ id: UInt64, _ key: String = "goal") -> [String]? {
    var isRefused = false
    let lines = does { values, _, _ in
      guard let actions = values.post(MessagingLines.message(id), key: key) else {
        isRefused = true
        return []
      }
      return actions
    }
    return isRefused ? nil : lines
  }

  mutating func open() -> [String] {
    isOpen = true
    return does { $0.open(at: $1, generator: &$2) }
  }

  mutating func close() {
    isOpen = false
    values.close()
  }

  mutating func acknowledges(_ version: UInt64, _ key: String = "goal") -> [String] {
    does { values, _, _ in values.acknowledge(key, version: version) }
  }

  mutating func refuses(_ version: UInt64, _ key: String = "goal") -> [String] {
    does { values, _, _ in values.giveUp(key, version: version) }
  }

  mutating func hears(
    _ id: UInt64, _ version: UInt64, _ key: String = "goal", bytes: Int = 0, from store: StoreID = Self.store,
    room: LatestValues.Room = LatestValues.Room()
  ) -> [String] {
    does { values, _, _ in
      values.receive(
        MessagingLines.message(id, bytes: bytes), key: key, version: version, from: Self.device, store, room: room)
    }
  }

  /// Goes to the moment of the next retry.
  mutating func retries() -> [String] {
    if let due = values.retryAt { now = due }
    return does { $0.retry(at: $1, generator: &$2) }
  }

  mutating func postpone(to time: BusTime) { values.postpone(to: time) }

  mutating func renumber() -> [String] { values.renumber().map(NodeLines.line) }

  mutating func inherit(from other: LatestValuesStage) { values.inherit(from: other.values) }

  mutating func adopt(_ key: String, from other: inout LatestValuesStage) { values.adopt(key, from: &other.values) }
}

/// What the stages of this room have in common.
enum MessagingLines {
  static func message(_ id: UInt64, bytes: Int = 0) -> AppMessage {
    AppMessage(id: MessageID(high: 0, low: id), name: "m", body: Array(repeating: 0, count: bytes))
  }

  static func line(_ operations: [StoreOperation], isUrgent: Bool) -> String {
    "\(isUrgent ? "commit" : "later"): \(operations.map(NodeLines.line).joined(separator: ", "))"
  }
}

extension MessageStream {
  /// Routes a frame as a courier does whose app has a handler.
  mutating func receive(
    _ message: DeliveryMessage, at now: BusTime, generator: inout SeededGenerator
  ) -> [Action] {
    switch message {
    case .messages(let transmissions): receive(transmissions)
    case .tombstones(_, let from, let through): skip(from: from, through: through)
    case .acknowledge(_, let sequence): acknowledge(through: sequence, at: now, generator: &generator)
    case .delivered(let sequence): reportDelivered(through: sequence)
    case .goBack(_, let sequence, let failure): goBack(to: sequence, failure: failure, at: now, generator: &generator)
    case .verdicts, .latest, .acknowledgeLatest, .refuseLatest, .live: []
    }
  }
}
