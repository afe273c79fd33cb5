@testable import RunCore
import Testing

@Suite("How far a hub has received the streams of its peers")
struct StreamMarksTests {
  private static let commands = StreamID(sender: StoreID(high: 1, low: 1), kind: .commands)
  private static let samples = StreamID(sender: StoreID(high: 1, low: 1), kind: .samples)
  private var marks = StreamMarks([:])

  private func mark(_ sequence: UInt64) -> StreamMark {
    StreamMark(sequence: sequence, id: MessageID(high: 0, low: sequence))
  }

  private mutating func acknowledgements() -> [String] {
    marks.takeAcknowledgements().map { "\($0.stream.kind.rawValue) \($0.sequence)" }
  }

  @Test("Items are received in order; a repeated one is known and a later one is a gap")
  mutating func order() {
    #expect(!marks.hasBegun(Self.commands))
    #expect(marks.receive(mark(1), in: Self.commands) == .next)
    #expect(marks.receive(mark(1), in: Self.commands) == .known)
    #expect(marks.receive(mark(3), in: Self.commands) == .gap)
    #expect(marks.position(of: 2, in: Self.commands) == .next)
    #expect(marks.hasBegun(Self.commands) && !marks.hasBegun(Self.samples))
  }

  @Test("A received item is acknowledged only up to the durable mark")
  mutating func durable() {
    _ = marks.receive(mark(1), in: Self.commands)
    _ = marks.receive(mark(2), in: Self.commands)
    marks.acknowledge(Self.commands)
    #expect(acknowledgements() == [] && marks.isBehind(Self.commands))
    marks.makeDurable(mark(1), of: Self.commands)
    marks.acknowledge(Self.commands)
    #expect(acknowledgements() == ["\(Self.commands.kind.rawValue) 1"] && marks.isBehind(Self.commands))
    #expect(acknowledgements() == [])
    marks.makeDurable(mark(2), of: Self.commands)
    #expect(!marks.isBehind(Self.commands))
    marks.makeDurable(mark(1), of: Self.commands)
    #expect(marks.durableMark(of: Self.commands) == mark(2))
  }

  @Test("A verdict replaces the acknowledgement of its command, unless more was received after it")
  mutating func verdict() {
    for sequence in 1...2 as ClosedRange<UInt64> {
      _ = marks.receive(mark(sequence), in: Self.commands)
      marks.makeDurable(mark(sequence), of: Self.commands)
    }
    marks.acknowledge(Self.commands)
    marks.noteVerdict(of: MessageID(high: 0, low: 1), in: Self.commands)
    #expect(acknowledgements().count == 1)
    marks.acknowledge(Self.commands)
    marks.noteVerdict(of: MessageID(high: 0, low: 2), in: Self.commands)
    #expect(acknowledgements() == [])
  }

  @Test("A mark passes over tombstones that follow it, and names the item before them")
  mutating func tombstones() {
    _ = marks.receive(mark(1), in: Self.commands)
    #expect(marks.skip(Self.commands, from: 3, through: 4) == .gap)
    #expect(marks.skip(Self.commands, from: 1, through: 1) == .known)
    let moved = StreamMark(sequence: 4, id: MessageID(high: 0, low: 1))
    #expect(marks.skip(Self.commands, from: 2, through: 4) == .moved(moved))
    #expect(marks.position(of: 5, in: Self.commands) == .next)
  }

  @Test("A write of a forgotten stream does not make the new stream of that name durable")
  mutating func forgotten() {
    for sequence in 1...3 as ClosedRange<UInt64> { _ = marks.receive(mark(sequence), in: Self.commands) }
    #expect(marks.forget(Self.commands) == true)
    #expect(marks.forget(Self.commands) == false)
    marks.makeDurable(mark(3), of: Self.commands)
    #expect(marks.receive(mark(1), in: Self.commands) == .next)
    marks.makeDurable(mark(3), of: Self.commands)
    #expect(marks.durableMark(of: Self.commands) == .start)
  }
}
