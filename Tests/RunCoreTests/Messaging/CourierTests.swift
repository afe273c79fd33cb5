@testable import RunCore
import Testing

@Suite("A courier joins messages and values")
struct CourierTests {
  private static let store = StoreID(high: 2, low: 1)

  private var turns = PartTurns<MailAction>()

  private func courier(device: DeviceID? = DeviceID("watch"), isHandling: Bool = true) -> Courier {
    Courier(
      own: MailAction.own, device: device, rowDevice: device,
      stream: OutboundStream(OutboundStreamID(receiver: Self.store, kind: .messages), bounds: .messages),
      inbox: InboundStream(StreamID(sender: Self.store, kind: .messages)), isHandling: isHandling)
  }

  private mutating func lines(
    _ courier: inout Courier, _ body: (inout Courier, inout Turn<MailAction>) -> Void
  ) -> [String] {
    turns.lines(\.line) { body(&courier, &$0) }
  }

  private mutating func commits(_ courier: inout Courier) -> [String] {
    turns.commit().flatMap { durable in
      lines(&courier) { courier, turn in
        if case .act(let action) = durable { turn.act(action) } else { courier.carryOut(durable, over: (), in: &turn) }
      }
    }
  }

  private mutating func post(
    _ courier: inout Courier, _ message: AppMessage, _ deliveryClass: DeliveryClass
  ) -> (PostRefusal?, [String]) {
    var refusal: PostRefusal?
    let lines = lines(&courier) { refusal = $0.post(message, by: deliveryClass, over: (), in: &$1) }
    return (refusal, lines)
  }

  private mutating func open(_ courier: inout Courier) -> [String] {
    lines(&courier) { $0.open(received: .start, within: .full, over: (), in: &$1) }
  }

  private mutating func hears(_ courier: inout Courier, _ message: DeliveryMessage) -> [String] {
    lines(&courier) { _ = $0.receive(message, over: (), in: &$1) }
  }

  @Test("A live message is sent now or refused, and handed over at most once, without storage")
  mutating func live() {
    var courier = courier()
    let message = MessagingLines.message(1)
    #expect(post(&courier, message, .live) == (.unreachable, []))
    _ = open(&courier)
    #expect(post(&courier, message, .live) == (nil, ["live 1", "1 sent"]))
    #expect(courier.deadline == nil && courier.isEmpty)
    #expect(hears(&courier, .live(message)) == ["hand 1"])
  }

  @Test("A session stores tries first, then sends values, then messages")
  mutating func order() {
    var courier = courier()
    #expect(post(&courier, MessagingLines.message(1), .queued) == (nil, ["commit: owe messages 1"]))
    #expect(post(&courier, MessagingLines.message(2), .latest(key: "goal")) == (nil, ["commit: set goal 1"]))
    #expect(commits(&courier) == ["1 queued", "2 queued"])
    #expect(courier.deadline == nil)
    #expect(open(&courier) == ["commit: try messages 1...1", "goal 1"])
    #expect(commits(&courier) == ["messages 1"])
    courier.close()
    #expect(courier.deadline == nil)
    #expect(open(&courier) == ["goal 1", "messages 1"])
    let due = courier.deadline!
    #expect(due == courier.stream.retryAt, "messages wait two seconds, values five")
    _ = hears(&courier, .acknowledge(.messages, through: 1))
    #expect(courier.deadline! > due && !courier.isEmpty)
    _ = hears(&courier, .acknowledgeLatest(key: "goal", version: 1))
    #expect(courier.deadline == nil && courier.isEmpty && !courier.isUnused)
  }

  @Test("Without a handler messages stay with their sender, live ones go to the node alone, and values are kept")
  mutating func withoutHandler() {
    var courier = courier(isHandling: false)
    _ = open(&courier)
    let message = MessagingLines.message(1)
    let queued = DeliveryMessage.messages([MessageTransmission(sequence: 1, message: message)])
    #expect(hears(&courier, queued) == [])
    #expect(hears(&courier, .live(message)) == ["hand 1"])
    #expect(hears(&courier, .latest(key: "goal", version: 1, message)) == ["commit: take goal 1"])
    #expect(commits(&courier) == ["has goal 1"])
    #expect(lines(&courier) { $0.setHandling(true, over: (), in: &$1) } == ["messages from 1"])
    #expect(hears(&courier, queued) == ["hand 1 at 1", "delivered to 1"])
    #expect(courier.value(of: "goal") == message)
  }

  @Test("A node that has not met the other device receives no value and hands nothing over")
  mutating func unknownDevice() {
    var courier = courier(device: nil)
    _ = open(&courier)
    #expect(hears(&courier, .latest(key: "goal", version: 1, MessagingLines.message(1))) == [])
    #expect(hears(&courier, .live(MessagingLines.message(1))) == [])
    courier.belong(to: DeviceID("watch"))
    #expect(hears(&courier, .live(MessagingLines.message(1))) == ["hand 1"])
    #expect(post(&courier, MessagingLines.message(2), .latest(key: "goal")).1 == ["commit: set goal 1"])
    #expect(courier.waitingValues.map(\.device) == [DeviceID("watch")])
  }

  @Test("Names, keys and bodies that the wire does not carry are refused")
  mutating func refusals() {
    var courier = courier()
    let long = AppMessage(
      id: MessageID(high: 0, low: 1), name: "m", body: Array(repeating: 0, count: AppMessage.bodyMax + 1))
    #expect(post(&courier, long, .queued) == (.tooLong, []))
    #expect(post(&courier, MessagingLines.message(1), .latest(key: "")) == (.tooLong, []))
    #expect(courier.isUnused)
  }

  @Test("Begun anew, a courier numbers its messages from 1 and owes every value again")
  mutating func renumber() {
    var courier = courier()
    _ = open(&courier)
    _ = post(&courier, MessagingLines.message(1), .queued)
    _ = post(&courier, MessagingLines.message(2), .latest(key: "goal"))
    _ = commits(&courier)
    _ = hears(&courier, .acknowledgeLatest(key: "goal", version: 1))
    courier.close()
    let other = StoreID(high: 2, low: 2)
    let writes = courier.renumber(
      to: OutboundStreamID(receiver: other, kind: .messages), from: StreamID(sender: other, kind: .messages))
    #expect(writes.map(NodeLines.line) == ["set goal 1"])
    #expect(open(&courier) == ["commit: ", "goal 1"])
    #expect(courier.inbox.stream.sender == other)
  }
}
