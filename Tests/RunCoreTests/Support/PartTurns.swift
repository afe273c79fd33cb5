@testable import RunCore

/// The turns of one part in a test. Each call of the part is a turn of its own.
struct PartTurns<Action: Sendable> {
  private var rest = Turn<Action>.Rest(
    generator: SeededGenerator(seed: 1), clock: BusClock(realAnchor: .zero, busAnchor: .zero, speed: .realTime))
  /// What follows the writes that are not durable yet.
  private var then: [Durable<Action>] = []

  /// Calls a part, and returns its writes in a line, then its actions.
  mutating func lines(
    at now: BusTime = .zero, _ line: (Action) -> String, _ body: (inout Turn<Action>) -> Void
  ) -> [String] {
    let (writes, actions) = act(at: now, body)
    let written = writes.map { writes in
      "\(writes.isUrgent ? "commit" : "later"): \(writes.0.map(NodeLines.line).joined(separator: ", "))"
    }
    return [written].compactMap(\.self) + actions.map(line)
  }

  /// Calls a part, and returns its writes and its actions.
  mutating func act(
    at now: BusTime = .zero, _ body: (inout Turn<Action>) -> Void
  ) -> (writes: ([StoreOperation], isUrgent: Bool)?, actions: [Action]) {
    var turn = Turn<Action>(at: now, &rest)
    body(&turn)
    let isUrgent = !turn.commits.isUrgentWorkDone
    let commit = turn.commits.next(at: .distantFuture)
    if let commit { then += turn.commits.committed(commit.id) }
    return (commit.map { ($0.operations, isUrgent) }, turn.end(&rest))
  }

  /// Whether nothing waits until writes are durable.
  var isSettled: Bool { then.isEmpty }

  /// All writes become durable: returns what follows them.
  mutating func commit() -> [Durable<Action>] {
    defer { then = [] }
    return then
  }
}

/// The actions of a node as its couriers see them.
enum MailAction: CourierAction {
  typealias Link = Void

  static let own = DeviceID("phone")

  case deliver(DeliveryMessage)
  case hand(HandlerCall)
  case messageReceipt(MessageReceipt)
  case note(String)
  case told(MessageEvent)

  static func deliver(_ message: DeliveryMessage, over link: Void, at now: BusTime) -> Self { .deliver(message) }
  static func announce(_ event: MessageEvent) -> Self? { .told(event) }

  var line: String {
    switch self {
    case .deliver(let message): NodeLines.line(message)
    case .hand(let handlerCall): NodeLines.line(handlerCall)
    case .messageReceipt(let receipt): NodeLines.line(receipt)
    case .note: "note"
    case .told(let event): "\(event.id.low) handled \(event.to == Self.own ? "here" : "there")"
    }
  }
}

extension PeerCore.Action {
  /// The line of an action that a part takes; of a frame only the message.
  var line: String { if case .send(let frame) = self { NodeLines.line(frame.message) } else { NodeLines.line(self) } }
}
