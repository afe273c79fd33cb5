@testable import RunCore
import Testing

@Suite("The verdicts that a hub owes")
struct VerdictStreamsTests {
  private static let store = StoreID(high: 1, low: 1)
  private var verdicts = VerdictStreams(DeliveryHistory(), shift: nil)
  private var generator = SeededGenerator(seed: 1)

  private mutating func owe(_ count: UInt64, isDurable: Bool = true) {
    for number in 1...count {
      let verdict = Verdict(
        commandID: .number(number), kind: .lap, source: .watch, outcome: .applied, runID: nil, term: 1,
        revision: number,
        effectiveAt: nil)
      let debt = verdicts.owe(verdict, to: Self.store, at: .zero)
      guard isDurable else { continue }
      verdicts.makeDurable(
        Self.store, through: debt.row.sequence, durabilityGeneration: debt.durabilityGeneration)
    }
  }

  private mutating func frames(at seconds: Int64 = 0) -> [String] {
    verdicts.take(for: Self.store, at: .zero + .seconds(seconds), generator: &generator).frames.map {
      switch $0 {
      case .tombstones(let range): "no \(range)"
      case .verdicts(let verdicts): "\(verdicts[0].sequence)...\(verdicts[verdicts.count - 1].sequence)"
      }
    }
  }

  @Test("A verdict goes when it is durable, in frames of at most 128")
  mutating func packing() {
    owe(1, isDurable: false)
    #expect(frames() == [])
    verdicts.makeDurable(Self.store, through: 1, durabilityGeneration: 1 << 32)
    #expect(frames() == ["1...1"])
    owe(200)
    #expect(frames() == ["2...129", "130...201"])
    #expect(verdicts.waitingCount(of: Self.store) == 201)
  }

  @Test("Unacknowledged verdicts go again after two seconds, and each retry counts a try")
  mutating func retry() throws {
    owe(2)
    #expect(frames() == ["1...2"])
    let due = try #require(verdicts.deadlines[Self.store])
    let count = verdicts.retry(Self.store, at: due, generator: &generator)
    let id = OutboundStreamID(receiver: Self.store, kind: .verdicts)
    #expect(count == .countTries(id, from: 1, through: 2))
    #expect(frames(at: 3) == ["1...2"])
    let write = verdicts.acknowledge(Self.store, through: 2, at: due, generator: &generator)
    #expect(write == .acknowledge(id, through: 2))
    #expect(verdicts.acknowledge(Self.store, through: 2, at: due, generator: &generator) == nil)
    #expect(verdicts.deadlines[Self.store] == nil && verdicts.isAcknowledged)
  }

  @Test("A store that states another history does not begin a session")
  mutating func history() {
    owe(2)
    #expect(verdicts.check(StreamMark(sequence: 3), of: Self.store) == .senderLost)
    #expect(verdicts.check(StreamMark(sequence: 1), of: StoreID(high: 9, low: 9)) == .senderLost)
    #expect(verdicts.check(.start, of: StoreID(high: 9, low: 9)) == .good)
    #expect(verdicts.open(Self.store, received: StreamMark(sequence: 3)) == false)
    #expect(verdicts.open(Self.store, received: StreamMark(sequence: 1)) == true)
    #expect(frames() == ["2...2"])
  }

  @Test("The write of a dropped stream makes no row of the next stream sendable")
  mutating func dropped() {
    owe(1, isDurable: false)
    #expect(verdicts.drop(Self.store) == .drop(OutboundStreamID(receiver: Self.store, kind: .verdicts)))
    owe(1, isDurable: false)
    verdicts.makeDurable(Self.store, through: 1, durabilityGeneration: 1 << 32)
    #expect(frames() == [])
    verdicts.makeDurable(Self.store, through: 1, durabilityGeneration: 2 << 32)
    #expect(frames() == ["1...1"])
  }
}
