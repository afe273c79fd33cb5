@testable import RunCore
import Testing

@Suite("A flight is packed into frames")
struct FlightPackingTests {
  private static let id = OutboundStreamID(receiver: StoreID(high: 1, low: 1), kind: .messages)

  /// A stream of messages with bodies of these sizes; `nil` stands for a tombstone.
  private func stream(_ sizes: [Int?]) -> OutboundStream {
    var stream = OutboundStream(Self.id, bounds: .messages)
    for (index, size) in sizes.enumerated() {
      let message = AppMessage(
        id: MessageID(high: 0, low: UInt64(index) + 1), name: "m", body: Array(repeating: 0, count: size ?? 0))
      let row = stream.add(.message(message), since: .zero, isGoing: false)
      if size == nil { stream.tombstone(row.sequence) }
    }
    stream.makeDurable(through: UInt64(sizes.count), durabilityGeneration: 0)
    return stream
  }

  private func lines(_ batches: [OutboundStream.Batch]) -> [String] {
    batches.map {
      switch $0 {
      case .rows(let rows): rows.map { "\($0.sequence)" }.joined(separator: " ")
      case .tombstoneRange(let range): "no \(range.lowerBound)...\(range.upperBound)"
      }
    }
  }

  private func frames(_ sizes: [Int?], rowsMax: Int, bytesMax: Int = .max) -> [String] {
    var stream = stream(sizes)
    var generator = SeededGenerator(seed: 1)
    return lines(stream.nextFrames(at: .zero, generator: &generator, rowsMax: rowsMax, bytesMax: bytesMax))
  }

  @Test("A frame has at most so many rows")
  func rows() {
    #expect(frames([0, 0, 0, 0, 0], rowsMax: 2) == ["1 2", "3 4", "5"])
    #expect(frames([0, 0], rowsMax: 2) == ["1 2"])
    #expect(frames([0, 0, 0], rowsMax: 1) == ["1", "2", "3"])
    #expect(frames([], rowsMax: 1) == [])
  }

  @Test("A frame has at most so many bytes, and an item above that is sent alone")
  func bytes() {
    // A message has 65 bytes besides its body.
    #expect(frames([0, 0, 0], rowsMax: 9, bytesMax: 130) == ["1 2", "3"])
    #expect(frames([0, 0, 0], rowsMax: 9, bytesMax: 129) == ["1", "2", "3"])
    #expect(frames([0, 500, 0, 0], rowsMax: 9, bytesMax: 130) == ["1", "2", "3 4"])
    #expect(frames([500], rowsMax: 9, bytesMax: 130) == ["1"])
  }

  @Test("A range of tombstones is a frame of its own")
  func tombstones() {
    #expect(frames([0, 0, nil, 0], rowsMax: 2) == ["1 2", "no 3...3", "4"])
    #expect(frames([nil, 0, 0, 0], rowsMax: 2) == ["no 1...1", "2 3", "4"])
  }

  @Test("Packed rows count as sent, and the frames end before an item that is not ready")
  func ready() {
    var stream = stream([0, 0, 0, 0])
    var generator = SeededGenerator(seed: 1)
    let first = stream.nextFrames(at: .zero, generator: &generator, rowsMax: 2) { $0.id?.low != 4 }
    #expect(lines(first) == ["1 2", "3"])
    #expect(stream.sent == 3)
    #expect(lines(stream.nextFrames(at: .zero, generator: &generator, rowsMax: 2)) == ["4"])
  }

  @Test("Every row of a batch is in one frame, in order, for all limits")
  func whole() {
    var random = SeededGenerator(seed: 3)
    for count in 0...12 {
      let sizes = (0..<count).map { _ in Int?.some(Int(random.next() % 100)) }
      var stream = stream(sizes)
      for batch in stream.nextBatches(at: .zero, generator: &random) {
        guard case .rows(let all) = batch else { continue }
        for (rowsMax, bytesMax) in (1...13).flatMap({ rows in [1, 65, 100, 200, 400, .max].map { (rows, $0) } }) {
          let parts = batch.frames(rowsMax: rowsMax, bytesMax: bytesMax).map { part -> [OutboxRow] in
            if case .rows(let rows) = part { rows } else { [] }
          }
          #expect(parts.flatMap { $0 } == all)
          for part in parts {
            #expect(!part.isEmpty && part.count <= rowsMax)
            #expect(part.count == 1 || part.reduce(0) { $0 + ($1.item?.size ?? 0) } <= bytesMax)
          }
        }
      }
    }
  }
}
