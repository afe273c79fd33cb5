import RunCore
import Testing

@Suite("A hub tells listeners of messages")
struct MessageNewsTests {
  private func note(_ number: UInt64) -> AppMessage {
    AppMessage(id: MessageID(high: 0, low: number), name: "note", body: [1, 2])
  }
  private func news(_ lines: [String]) -> [String] { lines.filter { $0.contains("has message") } }
  private func answers(_ lines: [String]) -> [String] { lines.filter { $0.hasPrefix("answer") } }

  @Test("A received message is told once it is durable that the handler has returned")
  func incoming() {
    var hub = HubStage.with("watch")
    _ = hub.feed(.handling(true))
    let stream = StreamID(sender: HubStage.store("watch"), kind: .messages)
    let messages = (1...3).map { MessageTransmission(sequence: $0, message: note($0 + 10)) }
    #expect(news(hub.says("watch", .delivery(.messages(messages)))) == [])
    #expect(news(hub.feed(.handled(stream, through: 2, handlerGeneration: nil))) == [])
    let told = ["publish phone has message 11 of watch", "publish phone has message 12 of watch"]
    #expect(news(hub.commitsAll()) == told)
    #expect(news(hub.says("watch", .delivery(.messages(messages))) + hub.commitsAll()) == [])
    #expect(news(hub.feed(.handled(stream, through: 3, handlerGeneration: nil)) + hub.commitsAll()).count == 1)
  }

  @Test("A message that a shell posted at the hub is told once its receiver has acknowledged it")
  func outgoing() {
    var hub = HubStage.with("watch")
    let posted = hub.feed(.inquire(.post(note(7), to: DeviceID("watch")), 1))
    #expect(answers(posted) == [], "it is not durable yet")
    let sent = hub.commitsAll()
    #expect(answers(sent) == ["answer 1: done"])
    #expect(sent.contains("watch ← messages 1"), "\(sent)")
    #expect(news(hub.says("watch", .delivery(.delivered(through: 1)))) == [])
    let acknowledged = hub.says("watch", .delivery(.acknowledge(.messages, through: 1)))
    #expect(news(acknowledged) == ["publish watch has message 7 of phone"])
    #expect(news(hub.says("watch", .delivery(.acknowledge(.messages, through: 1)))) == [])
  }

  @Test("A post to an unknown device, to nobody, or through a session is refused")
  func refused() {
    var hub = HubStage.with("watch")
    #expect(hub.feed(.inquire(.post(note(1), to: nil), 1)) == ["answer 1: failed"])
    #expect(hub.feed(.inquire(.post(note(1), to: DeviceID("widget")), 2)) == ["answer 2: failed"])
    #expect(hub.says("watch", .inquire(.post(note(1), to: DeviceID("watch")))) == ["watch ← answer failed"])
  }

  @Test("A peer posts only to its hub")
  func peer() {
    var peer = PeerStage.up()
    #expect(peer.feed(.inquire(.post(note(7), to: DeviceID("widget")), 1)) == ["answer 1: failed"])
    for (number, device) in [(2, nil), (3, "phone")] as [(UInt64, DeviceID?)] {
      #expect(answers(peer.feed(.inquire(.post(note(number), to: device), number))) == [])
      let lines = peer.commits()
      #expect(answers(lines) == ["answer \(number): done"])
      #expect(lines.contains { $0.hasSuffix("messages \(number - 1)") }, "\(lines)")
    }
  }
}
