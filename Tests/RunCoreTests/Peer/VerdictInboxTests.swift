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
  mutating func unknown() throws {
    let id = CommandID(high: 4, low: 1)
    let news = inbox.receive([VerdictTransmission(sequence: 1, commandID: id), verdict(2)])
    #expect(news.isNews && news.receipts.map(\.commandID.low) == [2])
    let last = inbox.receive([VerdictTransmission(sequence: 3, commandID: id)])
    #expect(last.isNews && last.receipts.isEmpty)
    let write = try #require(inbox.write)
    #expect(inbox.perform(write.then) == true)
    #expect(acknowledgement == "verdicts to 3" && inbox.durable.id == id.message)
  }

  @Test("Only what is durable is acknowledged")
  mutating func durability() throws {
    _ = receive(1, 2)
    #expect(acknowledgement == "verdicts to 0")
    let write = try #require(inbox.write)
    #expect(NodeLines.line(write.operation) == "verdicts to 2")
    _ = receive(3)
    #expect(inbox.perform(write.then) == true)
    #expect(acknowledgement == "verdicts to 2")
  }

  @Test("A write for an earlier stream does not count")
  mutating func renumber() throws {
    _ = receive(1, 2)
    let write = try #require(inbox.write)
    inbox.renumber(from: StoreID(high: 1, low: 2))
    #expect(inbox.perform(write.then) == false)
    #expect(acknowledgement == "verdicts to 0")
    #expect(receive(1) == [1])
  }

  @Test("Without a hub no mark is kept")
  func withoutHub() { #expect(VerdictInbox(from: nil, durable: .start).write == nil) }
}
