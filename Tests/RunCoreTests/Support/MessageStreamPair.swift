import Simulation

@testable import RunCore

/// Two message streams, a link that loses, repeats and reorders, a disk on either side, and an app that keeps what it has
/// processed. One sends, the other receives. Every step is one action, so that tests can try all sequences of steps.
struct MessageStreamPair {
  enum Step: CaseIterable, Hashable {
    case post, deliver, lose, duplicate, overtake, commitSender, commitReceiver, crashSender, crashReceiver, handled,
      failed
  }

  struct Node {
    var stream: MessageStream
    var disk = WorldDisk()
    /// Gathered writes, in order; a crash may lose the first or keep it. What follows them is in the turns.
    var batch: [StoreOperation] = []
    var turns = PartTurns<MailAction>()

    var durable: StoredDelivery { disk.state.delivery }
    /// What is durable of the messages that the sender owes.
    var rows: [OutboxRow] { durable.rows[out] ?? [] }
  }

  static let sender = StoreID(high: 1, low: 1)
  static let receiver = StoreID(high: 2, low: 2)
  static let out = OutboundStreamID(receiver: receiver, kind: .messages)
  static let incoming = StreamID(sender: sender, kind: .messages)

  private(set) var faults: [String] = []
  private(set) var now = BusTime.zero
  private var near: Node
  private var far: Node
  private var toFar: [DeliveryMessage] = []
  private var toNear: [DeliveryMessage] = []
  private var posted: UInt64 = 0
  private var queued: Set<UInt64> = []
  private var told: Set<UInt64> = []
  /// Handed to the app in this incarnation, with no result yet.
  private var desk: [(message: AppMessage, sequence: UInt64, handlerGeneration: UInt64)] = []
  private var failedRound: UInt64?
  /// Processed by the app and durable together with the watermark.
  private(set) var processed: [UInt64] = []
  /// Handled by the app, but not durable yet.
  private var returned: [(place: UInt64, id: UInt64)] = []
  /// Messages that the receiver has announced as news in its present incarnation.
  private var toldToAll: Set<UInt64> = []
  private var failures = 0
  let failuresMax: Int

  init(failuresMax: Int = 3) {
    self.failuresMax = failuresMax
    near = Node(stream: Self.stream(StoredDelivery(), isSender: true))
    far = Node(stream: Self.stream(StoredDelivery(), isSender: false))
    open()
  }

  private static func stream(_ durable: StoredDelivery, isSender: Bool) -> MessageStream {
    let other = isSender ? receiver : sender
    let out = OutboundStreamID(receiver: other, kind: .messages)
    let incoming = StreamID(sender: other, kind: .messages)
    return MessageStream(
      outbound: OutboundStream(
        out, bounds: .messages, rows: durable.rows[out] ?? [], acknowledged: durable.acknowledged[out] ?? 0),
      inbound: InboundStream(incoming, durable: durable.watermarks[incoming] ?? .start))
  }

  // MARK: Steps

  /// Whether a step would change something: a sequence with one that does not is a shorter sequence.
  func canTake(_ step: Step) -> Bool {
    switch step {
    case .deliver, .lose, .duplicate: !toFar.isEmpty || !toNear.isEmpty
    case .overtake: toFar.count > 1 || toNear.count > 1
    case .commitSender: !near.batch.isEmpty || !near.turns.isSettled
    case .commitReceiver: !far.batch.isEmpty || !far.turns.isSettled
    case .handled: !desk.isEmpty
    case .failed: failures < failuresMax && !desk.isEmpty
    case .post, .crashSender, .crashReceiver: true
    }
  }

  mutating func take(_ step: Step) {
    switch step {
    case .post:
      posted += 1
      let message = AppMessage(id: MessageID(high: 0, low: posted), name: "m", body: [])
      nearDoes { stream, _, turn in _ = stream.post(message, in: &turn) }
    case .deliver: if !toFar.isEmpty { reachFar(toFar.removeFirst()) } else { deliverBack() }
    case .lose: if !toFar.isEmpty { toFar.removeFirst() } else if !toNear.isEmpty { toNear.removeFirst() }
    case .duplicate:
      if let first = toFar.first { toFar.append(first) } else if let first = toNear.first { toNear.append(first) }
    case .overtake:
      if toFar.count > 1 { toFar.append(toFar.removeFirst()) }
      if toNear.count > 1 { toNear.append(toNear.removeFirst()) }
    case .commitSender: commitNear()
    case .commitReceiver: commitFar()
    case .crashSender:
      near = Node(stream: Self.stream(near.durable, isSender: true), disk: near.disk)
      open()
    case .crashReceiver:
      desk = []
      failedRound = nil
      returned = []
      toldToAll = []
      far = Node(stream: Self.stream(far.durable, isSender: false), disk: far.disk)
      open()
    case .handled: work(fails: false)
    case .failed: if failures < failuresMax { work(fails: true) }
    }
  }

  private mutating func deliverBack() { if !toNear.isEmpty { reachNear(toNear.removeFirst()) } }

  /// Opens a session with the durable marks of both sides.
  private mutating func open() {
    (toFar, toNear) = ([], [])
    near.stream.close()
    far.stream.close()
    let mark = far.durable.watermarks[Self.incoming] ?? .start
    nearDoes {
      _ = $0.open(received: mark, within: .full, by: $1, in: &$2)
      $0.send(by: $1, in: &$2)
    }
    if !near.stream.isOpen { faults.append("the sender's stream did not open") }
    farDoes {
      _ = $0.open(received: .start, within: .full, by: $1, in: &$2)
      $0.send(by: $1, in: &$2)
    }
  }

  private mutating func work(fails: Bool) {
    while let next = desk.first {
      desk.removeFirst()
      if let failedRound, next.handlerGeneration <= failedRound { continue }
      if fails {
        failures += 1
        failedRound = next.handlerGeneration
        return farDoes { $0.fail(next.sequence, "no", by: $1, in: &$2) }
      }
      returned.append((next.sequence, next.message.id.low))
      return farDoes { stream, _, turn in stream.handle(through: next.sequence, handlerGeneration: nil, in: &turn) }
    }
  }

  // MARK: Both sides

  private mutating func nearDoes(
    _ body: (inout MessageStream, Way<MailAction>, inout Turn<MailAction>) -> Void
  ) {
    let (writes, actions) = near.turns.act(at: now) { body(&near.stream, near.stream.way, &$0) }
    near.batch += writes?.0 ?? []
    for action in actions {
      switch action {
      case .deliver(let message):
        if case .messages(let transmissions) = message {
          for transmission in transmissions
          where near.rows.allSatisfy({ $0.sequence != transmission.sequence }) {
            faults.append("\(transmission.sequence) was sent before it was durable")
          }
        }
        toFar.append(message)
      case .messageReceipt(let receipt): tell(receipt)
      case .told(let event): tellAll(event, event.to == MailAction.own ? "came to its sender" : nil)
      case .hand: faults.append("the sender got a message")
      case .note: break
      }
    }
  }

  private mutating func tell(_ receipt: MessageReceipt) {
    let id = receipt.messageID.low
    switch receipt.stage {
    case .queued:
      queued.insert(id)
      if !near.rows.contains(where: { $0.item?.id?.low == id }), !processed.contains(id) {
        faults.append("\(id) was told to be queued and is not")
      }
    case .processed:
      told.insert(id)
      if !processed.contains(id) { faults.append("\(id) was told to be processed and is not") }
    case .delivered: break
    default: faults.append("\(id) \(receipt.stage)")
    }
  }

  private mutating func farDoes(
    _ body: (inout MessageStream, Way<MailAction>, inout Turn<MailAction>) -> Void
  ) {
    let (writes, actions) = far.turns.act(at: now) { body(&far.stream, far.stream.way, &$0) }
    far.batch += writes?.0 ?? []
    for action in actions {
      switch action {
      case .deliver(let message):
        if case .acknowledge(_, let sequence) = message,
          sequence > far.durable.watermarks[Self.incoming]?.sequence ?? 0
        {
          faults.append("\(sequence) was acknowledged before it was durable")
        }
        toNear.append(message)
      case .hand(let call): desk.append((call.received.message, call.sequence ?? 0, call.handlerGeneration))
      case .told(let event):
        let isFirst = toldToAll.insert(event.id.low).inserted
        let isIncoming = event.to == MailAction.own
        tellAll(event, isIncoming ? isFirst ? nil : "was told twice" : "was sent by its receiver")
      case .messageReceipt, .note: break
      }
    }
  }

  private mutating func tellAll(_ message: MessageEvent, _ fault: String?) {
    if let fault { faults.append("\(message.id.low) \(fault)") }
    if !processed.contains(message.id.low) { faults.append("\(message.id.low) is told and not processed") }
  }

  private mutating func commitNear() {
    for operation in near.batch { near.disk.apply(operation) }
    near.batch = []
    for durable in near.turns.commit() { nearDoes { $0.carryOut(durable, by: $1, in: &$2) } }
  }

  private mutating func commitFar() {
    for operation in far.batch { far.disk.apply(operation) }
    far.batch = []
    let mark = far.durable.watermarks[Self.incoming]?.sequence ?? 0
    // The app's effect is durable with the watermark.
    processed += returned.filter { $0.place <= mark }.map(\.id)
    returned.removeAll { $0.place <= mark }
    for durable in far.turns.commit() { farDoes { $0.carryOut(durable, by: $1, in: &$2) } }
  }

  private mutating func reachFar(_ message: DeliveryMessage) {
    farDoes { $0.receive(message, by: $1, in: &$2) }
  }

  private mutating func reachNear(_ message: DeliveryMessage) {
    nearDoes { $0.receive(message, by: $1, in: &$2) }
  }

  // MARK: Until everything has arrived

  /// From here on nothing is lost; in the end every message that was told to be queued must be processed, once and in
  /// order.
  mutating func settle() {
    for _ in 0..<400 {
      commitNear()
      commitFar()
      while !toFar.isEmpty { reachFar(toFar.removeFirst()) }
      while !toNear.isEmpty { deliverBack() }
      while !desk.isEmpty { work(fails: false) }
      if toFar.isEmpty, toNear.isEmpty, desk.isEmpty, near.batch.isEmpty, far.batch.isEmpty {
        guard let due = near.stream.retryAt else { break }
        now = max(now, due)
        nearDoes { $0.retry(by: $1, in: &$2) }
      }
    }
    if !near.stream.outbound.isAcknowledged { faults.append("the stream did not settle") }
    if !near.rows.isEmpty { faults.append("rows were left") }
    let lost = queued.subtracting(processed)
    if !lost.isEmpty { faults.append("lost: \(lost.sorted())") }
    if processed != processed.sorted() || Set(processed).count != processed.count {
      faults.append("out of order or twice: \(processed)")
    }
    let untold = processed.filter { !told.contains($0) }
    if !untold.isEmpty { faults.append("never told: \(untold)") }
    faults += near.disk.faults + far.disk.faults
  }
}
