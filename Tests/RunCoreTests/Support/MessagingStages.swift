@testable import RunCore

/// A message stream for tests: takes inputs one by one and returns its actions as lines.
struct MessageStreamStage {
  static let own = StoreID(high: 1, low: 1)
  static let other = StoreID(high: 2, low: 1)

  private(set) var stream: MessageStream
  var now = BusTime.zero
  private var turns = PartTurns<MailAction>()

  /// - Parameter isOpen: whether a session is open and nothing was ever sent in it.
  init(isOpen: Bool = true, bounds: OutboundStream.Bounds = .messages) {
    stream = MessageStream(
      outbound: OutboundStream(OutboundStreamID(receiver: Self.other, kind: .messages), bounds: bounds),
      inbound: InboundStream(StreamID(sender: Self.other, kind: .messages)))
    if isOpen { _ = open() }
  }

  mutating func does(
    _ body: (inout MessageStream, Way<MailAction>, inout Turn<MailAction>) -> Void
  ) -> [String] {
    turns.lines(at: now, \.line) { body(&stream, stream.way, &$0) }
  }

  /// All writes become durable.
  mutating func commits() -> [String] {
    turns.commit().flatMap { durable in does { $0.carryOut(durable, by: $1, in: &$2) } }
  }

  /// The lines of a post; `nil` when it is refused.
  mutating func post(_ id: UInt64, bytes: Int = 0) -> [String]? {
    var isTaken = false
    let lines = does { stream, _, turn in isTaken = stream.post(MessagingLines.message(id, bytes: bytes), in: &turn) }
    return isTaken ? lines : nil
  }

  mutating func cancel(_ id: UInt64) -> [String] {
    does { stream, _, turn in _ = stream.cancel(MessageID(high: 0, low: id), in: &turn) }
  }

  mutating func open(received mark: StreamMark = .start, within limits: ConnectionLimits = .full) -> [String] {
    does {
      guard $0.open(received: mark, within: limits, by: $1, in: &$2) == .good else { return }
      $0.send(by: $1, in: &$2)
    }
  }

  mutating func close() { stream.close() }

  mutating func renumber(to store: StoreID) {
    stream.renumber(
      to: OutboundStreamID(receiver: store, kind: .messages), from: StreamID(sender: store, kind: .messages))
  }

  mutating func hears(_ message: DeliveryMessage) -> [String] {
    does { $0.receive(message, by: $1, in: &$2) }
  }

  /// Messages whose ids are ten times their sequence numbers arrive.
  mutating func hears(_ sequences: UInt64...) -> [String] {
    hears(
      .messages(sequences.map { MessageTransmission(sequence: $0, message: MessagingLines.message($0 * 10)) }))
  }

  mutating func handles(through sequence: UInt64, generation: UInt64? = nil) -> [String] {
    does { stream, _, turn in stream.handle(through: sequence, handlerGeneration: generation, in: &turn) }
  }

  mutating func fails(_ sequence: UInt64) -> [String] { does { $0.fail(sequence, "no", by: $1, in: &$2) } }

  mutating func startsHandling() -> [String] { does { $0.startHandling(by: $1, in: &$2) } }

  mutating func stopsHandling() { stream.stopHandling() }

  /// Goes to the moment of the next retry.
  mutating func retries() -> [String] {
    if let due = stream.retryAt { now = due }
    return does { $0.retry(by: $1, in: &$2) }
  }
}

/// The newest values by key for tests: takes inputs one by one and returns the actions as lines.
struct LatestValuesStage {
  static let device = DeviceID("watch")
  static let store = StoreID(high: 2, low: 1)

  private(set) var values: LatestValues
  var now = BusTime.zero
  private(set) var isOpen = false
  private var turns = PartTurns<MailAction>()

  init(posted: [LatestRow] = [], received: [LatestReceived] = [], isOpen: Bool = true) {
    values = LatestValues(receiver: Self.device, posted: posted, received: received)
    if isOpen { _ = open() }
  }

  mutating func does(
    with store: StoreID = Self.store,
    _ body: (inout LatestValues, Way<MailAction>, inout Turn<MailAction>) -> Void
  ) -> [String] {
    let way = Way<MailAction>(
      link: (), isOpen: isOpen, own: MailAction.own, other: Self.device, store: store, handlerGeneration: 0)
    return turns.lines(at: now, \.line) { body(&values, way, &$0) }
  }

  /// All writes become durable. As a courier does whose app has a handler, the stage hands received values over.
  mutating func commits(sessionWith store: StoreID = Self.store) -> [String] {
    turns.commit().flatMap { durable in
      does(with: store) { values, way, turn in
        switch durable {
        case .act(let action): turn.act(action)
        case .valueSendable(_, let key, let version): values.makeSendable(key, version: version, by: way, in: &turn)
        case .valueReceived(let row):
          values.makeReceived(row, by: way, in: &turn)
          way.hand(row.message, .latest(key: row.key), in: &turn)
        default: break
        }
      }
    }
  }

  /// The lines of a post; `nil` when it is refused.
  mutating func post(_ id: UInt64, _ key: String = "goal") -> [String]? {
    var isTaken = false
    let lines = does { isTaken = $0.post(MessagingLines.message(id), key: key, by: $1, in: &$2) }
    return isTaken ? lines : nil
  }

  mutating func open() -> [String] {
    isOpen = true
    return does { $0.open(by: $1, in: &$2) }
  }

  mutating func close() {
    isOpen = false
    values.close()
  }

  mutating func acknowledges(_ version: UInt64, _ key: String = "goal") -> [String] {
    does { $0.acknowledge(key, version: version, by: $1, in: &$2) }
  }

  mutating func refuses(_ version: UInt64, _ key: String = "goal") -> [String] {
    does { $0.giveUp(key, version: version, by: $1, in: &$2) }
  }

  mutating func hears(
    _ id: UInt64, _ version: UInt64, _ key: String = "goal", bytes: Int = 0, from store: StoreID = Self.store,
    room: LatestValues.Room = LatestValues.Room()
  ) -> [String] {
    does(with: store) {
      $0.receive(
        MessagingLines.message(id, bytes: bytes), key: key, version: version, room: room, by: $1, in: &$2)
    }
  }

  /// Goes to the moment of the next retry.
  mutating func retries() -> [String] {
    if let due = values.retryAt { now = due }
    return does { $0.retry(by: $1, in: &$2) }
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
}

extension MessageStream {
  /// The ways out of a courier with this stream.
  var way: Way<MailAction> {
    Way(
      link: (), isOpen: isOpen, own: MailAction.own, other: DeviceID("watch"), store: inbound.stream.sender,
      handlerGeneration: handlerGeneration)
  }

  /// Routes a frame as a courier does whose app has a handler.
  mutating func receive(
    _ message: DeliveryMessage, by way: Way<MailAction>, in turn: inout Turn<MailAction>
  ) {
    switch message {
    case .messages(let transmissions): receive(transmissions, by: way, in: &turn)
    case .tombstones(_, let from, let through): skip(from: from, through: through, by: way, in: &turn)
    case .acknowledge(_, let sequence): acknowledge(through: sequence, by: way, in: &turn)
    case .delivered(let sequence): reportDelivered(through: sequence, by: way, in: &turn)
    case .goBack(_, let sequence, let failure): _ = goBack(to: sequence, failure: failure, by: way, in: &turn)
    case .verdicts, .latest, .acknowledgeLatest, .refuseLatest, .live: break
    }
  }

  /// Carries out what follows a write, as a courier does.
  mutating func carryOut(
    _ durable: Durable<MailAction>, by way: Way<MailAction>, in turn: inout Turn<MailAction>
  ) {
    switch durable {
    case .sendable(_, let sequence, let durabilityGeneration):
      makeSendable(through: sequence, durabilityGeneration: durabilityGeneration, by: way, in: &turn)
    case .processed(_, let mark, let messages, let bindingGeneration):
      makeProcessed(mark, messages, bindingGeneration: bindingGeneration, by: way, in: &turn)
    case .act(let action): turn.act(action)
    default: break
    }
  }
}
