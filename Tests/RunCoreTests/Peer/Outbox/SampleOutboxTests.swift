@testable import RunCore
import Testing

@Suite("The readings of a peer")
struct SampleOutboxTests {
  private static let run = RunID(high: 9, low: 1)
  private var generator = SeededGenerator(seed: 1)
  private var turns = PartTurns<PeerCore.Action>()
  private var outbox = SampleOutbox(
    OutboundStream(OutboundStreamID(receiver: StoreID(high: 1, low: 1), kind: .samples), bounds: .samples))

  /// Adds a reading, and makes its reservation durable if there is one.
  private mutating func add(at seconds: Int64, run: RunID? = Self.run) -> [String] {
    let now = BusTime.zero + .seconds(seconds)
    let sample = Sample(moment: .at(now), value: .heartRate(bpm: 150))
    let lines = turns.lines(at: now, \.line) { outbox.add(sample, run: run, in: &$0) }
    for durable in turns.commit() { makeSendable(durable) }
    return lines
  }

  private mutating func makeSendable(_ durable: PeerCore.Durable) {
    guard case .sendable(_, let sequence, let durabilityGeneration) = durable else { return }
    outbox.makeSendable(through: sequence, durabilityGeneration: durabilityGeneration)
  }

  private mutating func sent(waiting: Set<RunID> = []) -> [String] {
    outbox.nextMessages(waiting: waiting, at: .zero, generator: &generator).map { NodeLines.line($0) }
  }

  private mutating func acknowledge(through sequence: UInt64) -> [String] {
    turns.lines(\.line) { outbox.acknowledge(through: sequence, in: &$0) }
  }

  private mutating func flush() -> [String] { turns.lines(\.line) { outbox.flush(in: &$0) } }

  @Test("Sequence numbers are reserved once, and readings go before they are written")
  mutating func reservation() {
    #expect(add(at: 0) == ["commit: reserve samples 4096"])
    #expect(add(at: 1) == [])
    #expect(sent() == ["samples 1 2"])
    #expect(sent() == [])
  }

  @Test("What is acknowledged in time is neither written nor deleted")
  mutating func inTime() {
    _ = add(at: 0)
    #expect(outbox.flushAt == .zero + .seconds(3))
    _ = add(at: 1)
    #expect(outbox.flushAt == .zero + .seconds(3))
    _ = sent()
    #expect(acknowledge(through: 1) == [])
    #expect(flush() == ["commit: owe samples 2"])
    #expect(outbox.flushAt == nil)
    #expect(flush() == [])
    #expect(acknowledge(through: 2) == ["later: acknowledged samples 2"])
    #expect(outbox.waitingCount == 0)
  }

  @Test("Readings of a run that the hub does not know wait, and so do those behind them")
  mutating func waiting() {
    _ = add(at: 0, run: nil)
    _ = add(at: 0)
    _ = add(at: 0, run: nil)
    #expect(sent(waiting: [Self.run]) == ["samples 1"])
    #expect(sent() == ["samples 2 3"])
  }

  @Test("A frame holds 256 readings")
  mutating func frames() {
    for _ in 0..<600 { _ = add(at: 0) }
    let counts = outbox.nextMessages(waiting: [], at: .zero, generator: &generator).map { message in
      if case .samples(let frame) = message { frame.count } else { 0 }
    }
    #expect(counts == [256, 256, 88])
  }

  @Test("For another hub the stream is written anew, from number 1 on")
  mutating func renumber() {
    for _ in 0..<3 { _ = add(at: 0) }
    _ = sent()
    _ = acknowledge(through: 1)
    let (writes, sendable) = outbox.renumber(to: StoreID(high: 1, low: 2))
    #expect(writes.map(NodeLines.line) == ["drop samples", "owe samples 1", "owe samples 2"])
    outbox.open(received: .start)
    #expect(sent() == [])
    makeSendable(sendable)
    #expect(sent() == ["samples 1 2"])
    // They are written already.
    #expect(flush() == [])
    #expect(acknowledge(through: 2) == ["later: acknowledged samples 2"])
  }
}
