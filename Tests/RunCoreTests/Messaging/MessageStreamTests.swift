@testable import RunCore
import Testing

@Suite("Queued messages at their sender")
struct MessageStreamSendingTests {
  /// A stage whose messages 1, 2, … are sent and not acknowledged.
  private func sent(_ count: UInt64) -> MessageStreamStage {
    var stage = MessageStreamStage()
    for id in 1...count {
      _ = stage.post(id)
      _ = stage.commits()
    }
    return stage
  }

  @Test("A message is sent when it is durable; its app hears of each stage once")
  func stages() {
    var stage = MessageStreamStage()
    #expect(stage.post(7) == ["commit: owe messages 1"])
    #expect(stage.commits() == ["7 queued", "messages 1"])
    #expect(stage.hears(.delivered(through: 1)) == ["7 delivered"])
    #expect(stage.hears(.delivered(through: 1)) == [])
    let processed = ["later: acknowledged messages 1", "7 processed", "7 handled there"]
    #expect(stage.hears(.acknowledge(.messages, through: 1)) == processed)
    #expect(stage.hears(.acknowledge(.messages, through: 1)) == [])
    #expect(stage.stream.retryAt == nil)
    #expect(stage.stream.isIdle)
  }

  @Test("An acknowledgement of several messages makes room for the next ones")
  func acknowledgement() {
    var stage = MessageStreamStage(
      bounds: OutboundStream.Bounds(
        rowsMax: 9, bytesMax: .max, flightMax: 2, flightBytesMax: .max, patience: .seconds(2)))
    for id in 1...4 as ClosedRange<UInt64> { _ = stage.post(id) }
    #expect(stage.commits() == ["1 queued", "messages 1", "2 queued", "messages 2", "3 queued", "4 queued"])
    #expect(
      stage.hears(.acknowledge(.messages, through: 2)) == [
        "later: acknowledged messages 2", "1 processed", "1 handled there", "2 processed", "2 handled there",
        "messages 3 4",
      ])
    // A mark beyond what was sent acknowledges no more than there is.
    #expect(stage.hears(.delivered(through: 99)) == ["3 delivered", "4 delivered"])
    #expect(stage.hears(.acknowledge(.messages, through: 99)).first == "later: acknowledged messages 4")
  }

  @Test("Without an acknowledgement the messages are sent again, and their tries are counted")
  func retry() {
    var stage = sent(2)
    #expect(stage.retries() == ["later: try messages 1...2", "messages 1 2"])
    #expect(stage.retries() == ["later: try messages 1...2", "messages 1 2"])
    #expect(stage.hears(.acknowledge(.messages, through: 1)).count == 3)
    #expect(stage.retries() == ["later: try messages 2...2", "messages 2"])
  }

  @Test("Messages posted out of reach wait; a new session stores their tries before it sends them")
  func outOfReach() {
    var stage = MessageStreamStage(isOpen: false)
    _ = stage.post(1)
    _ = stage.post(2)
    #expect(stage.commits() == ["1 queued", "2 queued"])
    #expect(stage.open() == ["commit: try messages 1...2"])
    #expect(stage.cancel(2) == [])
    #expect(stage.commits() == ["messages 1 2"])
    stage.close()
    #expect(stage.retries() == [])
    #expect(stage.open() == ["messages 1 2"])
  }

  @Test("A message that was never sent can be cancelled, one that may have been sent cannot")
  func cancel() {
    var stage = MessageStreamStage(isOpen: false)
    _ = stage.post(1)
    _ = stage.post(2)
    _ = stage.commits()
    #expect(stage.cancel(1) == ["commit: bury messages 1"])
    #expect(stage.cancel(1) == [])
    #expect(stage.cancel(9) == [])
    #expect(stage.commits() == ["1 cancelled"])
    _ = stage.open()
    #expect(stage.commits() == ["no messages 1...1", "messages 2"])
    #expect(stage.cancel(2) == [])
    var going = MessageStreamStage()
    _ = going.post(1)
    #expect(going.cancel(1) == [], "the session sends it as soon as it is durable")
  }

  @Test("What was not sent for 30 days expires when a session opens")
  func expiry() {
    var stage = MessageStreamStage(isOpen: false)
    _ = stage.post(1)
    _ = stage.commits()
    stage.now = .zero + .seconds(86_400)
    _ = stage.post(2)
    stage.now = .zero + MessageStream.lifetime + .seconds(1)
    #expect(stage.open() == ["commit: bury messages 1, try messages 1...2"])
    #expect(stage.commits() == ["2 queued", "1 expired", "no messages 1...1", "messages 2"])
  }

  @Test("A full outbox refuses a message and changes nothing")
  func full() {
    let bounds = OutboundStream.Bounds(
      rowsMax: 1, bytesMax: .max, flightMax: 9, flightBytesMax: .max, patience: .seconds(2))
    var stage = MessageStreamStage(bounds: bounds)
    #expect(stage.post(1) != nil)
    #expect(stage.post(2) == nil)
    #expect(stage.commits() == ["1 queued", "messages 1"])
  }

  @Test("A flight is sent in frames of at most 48 KiB and 512 messages")
  func frames() {
    var stage = MessageStreamStage(isOpen: false)
    for id in 1...3 as ClosedRange<UInt64> { _ = stage.post(id, bytes: 20_000) }
    for id in 4...1000 as ClosedRange<UInt64> { _ = stage.post(id) }
    _ = stage.commits()
    _ = stage.open()
    let sizes = stage.commits().map { $0.split(separator: " ").count - 1 }
    // Two of the three large messages fill a frame; the third shares one with small messages of 65 bytes.
    #expect(sizes == [2, 448, 512, 38])
  }

  @Test("A stream whose history differs from the receiver's mark does not open")
  func history() {
    var stage = sent(2)
    _ = stage.hears(.acknowledge(.messages, through: 1))
    stage.close()
    #expect(stage.open(received: .start) == [])
    #expect(!stage.stream.isOpen)
    #expect(stage.open(received: StreamMark(sequence: 3)) == [])
    #expect(!stage.stream.isOpen)
    let mark = StreamMark(sequence: 2, id: MessageID(high: 0, low: 2))
    #expect(stage.open(received: mark) == ["later: acknowledged messages 2", "2 processed", "2 handled there"])
    #expect(stage.stream.isOpen)
  }

  @Test("A receiver that misses messages gets them again at once")
  func goBack() {
    var stage = sent(3)
    #expect(stage.hears(.goBack(.messages, to: 2, failure: nil)) == ["messages 2 3"])
    #expect(stage.hears(.goBack(.messages, to: 4, failure: nil)) == [])
    #expect(stage.hears(.goBack(.messages, to: 0, failure: nil)) == ["messages 1 2 3"])
  }

  @Test("A message that the handler refuses is sent again after 1, 2, 4, 8 seconds, then goes into quarantine")
  func quarantine() {
    var stage = sent(2)
    for seconds in [1, 2, 4, 8] as [Int64] {
      #expect(stage.hears(.goBack(.messages, to: 1, failure: "no")) == ["later: try messages 1...1"])
      let wait = (stage.stream.retryAt! - stage.now).nanoseconds / 1_000_000
      #expect((seconds * 750...seconds * 1250).contains(wait))
      #expect(stage.hears(.acknowledge(.messages, through: 0)) == [], "nothing passes the message that failed")
      #expect(stage.retries() == ["messages 1 2"])
    }
    #expect(stage.hears(.goBack(.messages, to: 1, failure: "no")) == ["commit: quarantine 1, bury messages 1"])
    #expect(stage.hears(.goBack(.messages, to: 1, failure: nil)) == [], "the tombstone is not durable")
    #expect(stage.commits() == ["1 quarantined", "no messages 1...1", "messages 2"])
    #expect(stage.hears(.goBack(.messages, to: 1, failure: "no")) == [])
  }

  @Test("A failure of another message begins a new count")
  func otherFailure() {
    var stage = sent(2)
    for _ in 0..<4 {
      _ = stage.hears(.goBack(.messages, to: 1, failure: "no"))
      _ = stage.retries()
    }
    _ = stage.hears(.goBack(.messages, to: 2, failure: "no"))
    _ = stage.retries()
    #expect(stage.hears(.goBack(.messages, to: 1, failure: "no")) == ["later: try messages 1...1"])
  }

  @Test("Renumbered messages wait for the renumbering, and earlier writes and receipts do not count")
  func renumber() {
    var stage = sent(2)
    _ = stage.hears(.acknowledge(.messages, through: 1))
    _ = stage.hears(.delivered(through: 2))
    for _ in 0..<4 {
      _ = stage.hears(.goBack(.messages, to: 2, failure: "no"))
      _ = stage.retries()
    }
    _ = stage.post(3)
    stage.close()
    stage.renumber(to: StoreID(high: 2, low: 2))
    #expect(stage.commits() == ["3 queued"])
    #expect(stage.open() == ["commit: "])
    #expect(stage.commits() == ["messages 1 2"])
    #expect(stage.hears(.delivered(through: 2)) == ["2 delivered", "3 delivered"])
    #expect(stage.hears(.goBack(.messages, to: 1, failure: "no")) == ["later: try messages 1...1"])
  }

  @Test("A full queue of the transport postpones what is in flight")
  func postpone() {
    var stage = sent(1)
    let soon = stage.now + .milliseconds(200)
    _ = stage.does { stream, _, _ in stream.postpone(to: soon) }
    #expect(stage.stream.retryAt == soon)
    #expect(stage.retries() == ["later: try messages 1...1", "messages 1"])
  }
}

@Suite("Queued messages at their receiver")
struct MessageStreamReceivingTests {
  @Test("A message is handed over once, and acknowledged when it is durable that its handler has returned")
  func processed() {
    var stage = MessageStreamStage()
    #expect(stage.hears(1, 2) == ["hand 10 at 1", "hand 20 at 2", "delivered to 2"])
    #expect(stage.hears(1, 2) == ["messages to 0"])
    #expect(stage.handles(through: 1) == ["commit: messages to 1"])
    #expect(stage.hears(1) == ["messages to 0"])
    #expect(stage.commits() == ["messages to 1", "10 handled here"])
    #expect(stage.handles(through: 1) == [])
    #expect(stage.handles(through: 2) == ["commit: messages to 2"])
    #expect(stage.commits() == ["messages to 2", "20 handled here"])
    #expect(stage.hears(2) == ["messages to 2"])
  }

  @Test("A missing message is asked for once")
  func gap() {
    var stage = MessageStreamStage()
    #expect(stage.hears(2, 3) == ["messages from 1"])
    #expect(stage.hears(4) == [])
    #expect(stage.hears(.tombstones(.messages, from: 5, through: 6)) == [])
    #expect(stage.hears(1) == ["hand 10 at 1", "delivered to 1"])
    #expect(stage.hears(.tombstones(.messages, from: 5, through: 6)) == ["messages from 2"])
  }

  @Test("A tombstone moves the mark when everything before it is handled")
  func tombstones() {
    var stage = MessageStreamStage()
    #expect(stage.hears(.tombstones(.messages, from: 1, through: 2)) == ["commit: messages to 2"])
    #expect(stage.commits() == ["messages to 2"])
    #expect(stage.hears(.tombstones(.messages, from: 1, through: 2)) == ["messages to 2"])
    #expect(stage.hears(3) == ["hand 30 at 3", "delivered to 3"])
    #expect(stage.hears(.tombstones(.messages, from: 4, through: 4)) == [])
    #expect(stage.handles(through: 3) == ["commit: messages to 4"])
    #expect(stage.commits() == ["messages to 4", "30 handled here"])
  }

  @Test("After a failure the messages come again, and answers of the earlier generation are ignored")
  func failure() {
    var stage = MessageStreamStage()
    _ = stage.hears(1, 2, 3)
    #expect(stage.handles(through: 1, generation: 0) == ["commit: messages to 1"])
    #expect(stage.fails(2) == ["messages from 2, no"])
    #expect(stage.stream.handlerGeneration == 1)
    #expect(stage.handles(through: 3, generation: 0) == [])
    #expect(stage.fails(2) == [], "it waits no more")
    #expect(stage.hears(2, 3) == ["hand 20 at 2", "hand 30 at 3", "delivered to 3"])
    #expect(stage.handles(through: 3, generation: 0) == [])
    #expect(stage.handles(through: 3, generation: 1) == ["commit: messages to 3"])
    #expect(stage.commits().suffix(3) == ["messages to 3", "20 handled here", "30 handled here"])
  }

  @Test("An app that gets its handler again asks for what it has not handled")
  func handlerAgain() {
    var stage = MessageStreamStage()
    _ = stage.hears(1, 2)
    _ = stage.handles(through: 1, generation: 0)
    stage.stopsHandling()
    #expect(stage.handles(through: 2, generation: 0) == [])
    #expect(stage.startsHandling() == ["messages from 2"])
    #expect(stage.hears(2) == ["hand 20 at 2", "delivered to 2"])
    #expect(stage.handles(through: 2, generation: 1) == ["commit: messages to 2"])
    stage.close()
    stage.stopsHandling()
    #expect(stage.startsHandling() == [], "the next session begins at the mark")
  }

  @Test("Without a session nothing is acknowledged; what is handled still becomes durable")
  func closed() {
    var stage = MessageStreamStage()
    _ = stage.hears(1, 2)
    _ = stage.handles(through: 1)
    stage.close()
    #expect(stage.commits() == ["10 handled here"])
    #expect(stage.fails(2) == [])
    #expect(stage.stream.handlerGeneration == 1)
    #expect(stage.hears(1) == [])
  }

  @Test("A write for the streams before a renumbering says nothing about the streams after it")
  func renumber() {
    var stage = MessageStreamStage()
    _ = stage.hears(1)
    _ = stage.handles(through: 1)
    let store = StoreID(high: 2, low: 2)
    stage.renumber(to: store)
    #expect(stage.commits() == [])
    #expect(stage.stream.inbound.durable == .start)
    #expect(stage.stream.inbound.stream.sender == store)
    #expect(stage.stream.handlerGeneration == 1)
    #expect(stage.hears(1) == ["hand 10 at 1", "delivered to 1"])
  }
}
