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
    /// Gathered writes with their effects, in order; a crash may lose the first or keep it.
    var batch: [(operations: [StoreOperation], effect: MessageStream.Effect?)] = []
    var generator: SeededGenerator

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
    near = Node(stream: Self.stream(StoredDelivery(), isSender: true), generator: SeededGenerator(seed: 1))
    far = Node(stream: Self.stream(StoredDelivery(), isSender: false), generator: SeededGenerator(seed: 2))
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

  mutating func take(_ step: Step) {
    switch step {
    case .post:
      posted += 1
      let message = AppMessage(id: MessageID(high: 0, low: posted), name: "m", body: [])
      nearDoes { stream, now, _ in stream.post(message, at: now) ?? [] }
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
      near = Node(stream: Self.stream(near.durable, isSender: true), disk: near.disk, generator: near.generator)
      open()
    case .crashReceiver:
      desk = []
      failedRound = nil
      returned = []
      toldToAll = []
      far = Node(stream: Self.stream(far.durable, isSender: false), disk: far.disk, generator: far.generator)
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
      $0.open(received: mark, within: .full, at: $1, generator: &$2).actions + $0.send(at: $1, generator: &$2)
    }
    if !near.stream.isOpen { faults.append("the sender's stream did not open") }
    farDoes {
      $0.open(received: .start, within: .full, at: $1, generator: &$2).actions + $0.send(at: $1, generator: &$2)
    }
  }

  private mutating func work(fails: Bool) {
    while let next = desk.first {
      desk.removeFirst()
      if let failedRound, next.handlerGeneration <= failedRound { continue }
      if fails {
        failures += 1
        failedRound = next.handlerGeneration
        return farDoes { stream, _, _ in stream.fail(next.sequence, "no") }
      }
      returned.append((next.sequence, next.message.id.low))
      return farDoes { stream, _, _ in stream.handle(through: next.sequence, handlerGeneration: nil) }
    }
  }

  // MARK: Both sides

  private mutating func nearDoes(
    _ body: (inout MessageStream, BusTime, inout SeededGenerator) -> [MessageStream.Action]
  ) {
    for action in body(&near.stream, now, &near.generator) {
      switch action {
      case .send(let message):
        if case .messages(let transmissions) = message {
          for transmission in transmissions
          where near.rows.allSatisfy({ $0.sequence != transmission.sequence }) {
            faults.append("\(transmission.sequence) was sent before it was durable")
          }
        }
        toFar.append(message)
      case .write(let operations, _, let effect): near.batch.append((operations, effect))
      case .receipt(let receipt): tell(receipt)
      case .processed(let message, let isIncoming): tellAll(message, isIncoming ? "came to its sender" : nil)
      case .hand: faults.append("the sender got a message")
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
    _ body: (inout MessageStream, BusTime, inout SeededGenerator) -> [MessageStream.Action]
  ) {
    for action in body(&far.stream, now, &far.generator) {
      switch action {
      case .send(let message):
        if case .acknowledge(_, let sequence) = message,
          sequence > far.durable.watermarks[Self.incoming]?.sequence ?? 0
        {
          faults.append("\(sequence) was acknowledged before it was durable")
        }
        toNear.append(message)
      case .write(let operations, _, let effect): far.batch.append((operations, effect))
      case .hand(let message, let sequence): desk.append((message, sequence, far.stream.handlerGeneration))
      case .processed(let message, let isIncoming):
        let isFirst = toldToAll.insert(message.id.low).inserted
        tellAll(message, isIncoming ? isFirst ? nil : "was told twice" : "was sent by its receiver")
      case .receipt: break
      }
    }
  }

  private mutating func tellAll(_ message: AppMessage, _ fault: String?) {
    if let fault { faults.append("\(message.id.low) \(fault)") }
    if !processed.contains(message.id.low) { faults.append("\(message.id.low) is told and not processed") }
  }

  private mutating func commitNear() {
    let batch = near.batch
    near.batch = []
    for write in batch { for operation in write.operations { near.disk.apply(operation) } }
    for write in batch {
      if let effect = write.effect { nearDoes { $0.perform(effect, at: $1, generator: &$2) } }
    }
  }

  private mutating func commitFar() {
    let batch = far.batch
    far.batch = []
    for write in batch { for operation in write.operations { far.disk.apply(operation) } }
    let mark = far.durable.watermarks[Self.incoming]?.sequence ?? 0
    // The app's effect is durable with the watermark.
    processed += returned.filter { $0.place <= mark }.map(\.id)
    returned.removeAll { $0.place <= mark }
    for write in batch {
      if let effect = write.effect { farDoes { $0.perform(effect, at: $1, generator: &$2) } }
    }
  }

  private mutating func reachFar(_ message: DeliveryMessage) {
    farDoes { $0.receive(message, at: $1, generator: &$2) }
  }

  private mutating func reachNear(_ message: DeliveryMessage) {
    nearDoes { $0.receive(message, at: $1, generator: &$2) }
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
        nearDoes { $0.retry(at: $1, generator: &$2) }
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
