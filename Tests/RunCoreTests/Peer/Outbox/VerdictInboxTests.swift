@testable import RunCore
import Testing

@Suite("The verdicts that a peer receives")
struct VerdictInboxTests {
  private var inbox = VerdictInbox(from: StoreID(high: 1, low: 1), durable: .start)

  private func verdict(_ sequence: UInt64) -> VerdictTransmission {
    let id = CommandID(high: 4, low: sequence)
    return VerdictTransmission(
      sequence: sequence, receipt: Receipt(commandID: id, kind: .lap, source: .watch, stage: .pending))
  }

  private mutating func receive(_ sequences: UInt64...) -> [UInt64] {
    inbox.receive(sequences.map(verdict)).receipts.map(\.commandID.low)
  }

  /// Stores the mark, and returns the write and what follows it.
  private func keep() -> (lines: [String], then: [PeerCore.Durable]) {
    var turns = PartTurns<PeerCore.Action>()
    return (turns.lines(\.line) { inbox.keep(with: [], in: &$0) }, turns.commit())
  }

  private mutating func makeProcessed(_ then: [PeerCore.Durable]) -> Bool? {
    guard case .processed(_, let mark, _, let bindingGeneration)? = then.first else { return nil }
    return inbox.makeProcessed(mark, bindingGeneration: bindingGeneration)
  }

  private var acknowledgement: String { NodeLines.line(inbox.acknowledgement) }

  @Test("Each verdict is new once, in order, and one behind a gap is ignored")
  mutating func order() {
    #expect(receive(1, 2) == [1, 2])
    #expect(receive(2, 3, 5) == [3])
    #expect(receive(5) == [])
    #expect(inbox.skip(from: 6, through: 7) == false)
    #expect(inbox.skip(from: 4, through: 4) == true)
    #expect(inbox.skip(from: 4, through: 4) == false)
    #expect(receive(5) == [5])
  }

  @Test("A verdict that this version cannot read uses up its sequence number")
  mutating func unknown() {
    let id = CommandID(high: 4, low: 1)
    let news = inbox.receive([VerdictTransmission(sequence: 1, commandID: id), verdict(2)])
    #expect(news.isNews && news.receipts.map(\.commandID.low) == [2])
    let last = inbox.receive([VerdictTransmission(sequence: 3, commandID: id)])
    #expect(last.isNews && last.receipts.isEmpty)
    let write = keep()
    #expect(makeProcessed(write.then) == true)
    #expect(acknowledgement == "verdicts to 3" && inbox.durable.id == id.message)
  }

  @Test("Only what is durable is acknowledged")
  mutating func durability() {
    _ = receive(1, 2)
    #expect(acknowledgement == "verdicts to 0")
    let write = keep()
    #expect(write.lines == ["later: verdicts to 2"])
    _ = receive(3)
    #expect(makeProcessed(write.then) == true)
    #expect(acknowledgement == "verdicts to 2")
  }

  @Test("A write for an earlier stream does not count")
  mutating func renumber() {
    _ = receive(1, 2)
    let write = keep()
    inbox.renumber(from: StoreID(high: 1, low: 2))
    #expect(makeProcessed(write.then) == false)
    #expect(acknowledgement == "verdicts to 0")
    #expect(receive(1) == [1])
  }

  @Test("Without a hub no mark is kept")
  func withoutHub() { #expect(VerdictInboxTests(inbox: VerdictInbox(from: nil, durable: .start)).keep().lines == []) }
}
