@testable import RunCore
import Testing

@Suite("The messages and questions of a peer")
struct PeerMailTests {
  private static let hub = PeerIdentity.Hub(storeID: StoreID(high: 1, low: 1), deviceID: .phone)
  private var turns = PartTurns<PeerCore.Action>()
  private var mail = PeerMail(
    Courier(
      own: .watch, device: .phone,
      stream: OutboundStream(OutboundStreamID(receiver: Self.hub.storeID, kind: .messages), bounds: .messages),
      inbox: InboundStream(StreamID(sender: Self.hub.storeID, kind: .messages))),
    quarantine: Quarantine([], shift: nil))

  private mutating func lines(_ body: (inout PeerMail, inout PeerCore.Turn) -> Void) -> [String] {
    turns.lines(\.line) { body(&mail, &$0) }
  }

  private mutating func open(link: UInt64 = 1) -> [String] {
    lines { $0.open(received: .start, within: .full, over: link, in: &$1) }
  }

  private mutating func post(_ id: UInt64) -> [String] {
    lines { _ = $0.post(MessagingLines.message(id), by: .queued, over: 1, in: &$1) }
  }

  private mutating func commits() -> [String] {
    turns.commit().flatMap { durable in
      lines { mail, turn in
        if case .act(let action) = durable { turn.act(action) } else { mail.carryOut(durable, over: 1, in: &turn) }
      }
    }
  }

  private func line(_ reply: InquiryReply) -> String {
    switch reply {
    case .durably(let answer, let writes):
      ([NodeLines.line(answer)] + writes.map(NodeLines.line)).joined(separator: "; ")
    case .atOnce(let answer): "at once: \(NodeLines.line(answer))"
    case .read: "read"
    }
  }

  @Test("A message that the hub refuses five times waits for a person, who sends it again as a new one or discards it")
  mutating func quarantine() {
    _ = open()
    _ = post(1)
    _ = commits()
    for _ in 0..<MessageStream.failuresMax {
      _ = lines { $0.receive(.goBack(.messages, to: 1, failure: "no"), over: 1, in: &$1) }
    }
    #expect(mail.quarantineReports(for: .phone, at: .zero).map(\.id.low) == [1])
    let id = MessageID(high: 0, low: 1)
    var reply = InquiryReply.refused(.unknown)
    #expect(lines { reply = $0.retry(id, over: 1, in: &$1) }.count == 1)
    #expect(line(reply).hasSuffix("unquarantine 1"))
    #expect(line(mail.discard(id)).hasPrefix("at once"), "it is not there any more")
  }

  @Test("A question is asked at once and in every session, until the oldest one gets the answer")
  mutating func questions() {
    #expect(lines { $0.ask(.report, over: nil, in: &$1) } == [])
    #expect(lines { $0.ask(.series, over: 1, in: &$1) }.count == 1)
    #expect(lines { mail, turn in mail.askAgain(over: 2, in: &turn) }.count == 2)
    #expect(lines { $0.receive(.done(nil), in: &$1) }.count == 1)
    #expect(lines { mail, turn in mail.askAgain(over: 3, in: &turn) }.count == 1)
    _ = lines { $0.receive(.done(nil), in: &$1) }
    #expect(lines { $0.receive(.done(nil), in: &$1) } == [], "nobody has asked")
  }

  @Test("Only a message that was never sent is cancelled; another store's handler has no say")
  mutating func cancel() {
    _ = post(1)
    _ = commits()
    var replies: [String] = []
    for id in [1, 1, 9] as [UInt64] {
      var reply = InquiryReply.refused(.unknown)
      _ = lines { reply = $0.cancel(MessageID(high: 0, low: id), in: &$1) }
      replies.append(line(reply))
    }
    #expect(replies[0] == "done" && replies[1] == replies[2] && replies[1].hasPrefix("at once"), "\(replies)")
    let other = StreamID(sender: StoreID(high: 8, low: 8), kind: .messages)
    _ = lines { $0.setHandling(true, over: 1, in: &$1) }
    let message = MessageTransmission(sequence: 1, message: MessagingLines.message(10))
    _ = lines { $0.receive(.messages([message]), over: 1, in: &$1) }
    #expect(lines { $0.handle(other, through: 1, handlerGeneration: nil, in: &$1) } == [])
    let own = StreamID(sender: Self.hub.storeID, kind: .messages)
    #expect(lines { $0.handle(own, through: 1, handlerGeneration: nil, in: &$1) } == ["commit: messages to 1"])
  }

  @Test("For another hub messages are numbered from 1 again")
  mutating func renumber() {
    _ = post(1)
    let writes = mail.renumber(to: PeerIdentity.Hub(storeID: StoreID(high: 1, low: 2), deviceID: .phone))
    #expect(writes.map(NodeLines.line) == ["rebind messages"])
    #expect(mail.acknowledged == 0 && mail.mark == .start && mail.check().isEmpty)
  }
}
