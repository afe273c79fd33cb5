import RunCore
import Testing

@testable import RunBus

@Suite("Messages on the link of a bridge")
struct BridgeSignalTests {
  private static let all: [(signal: BridgeSignal, bytes: [UInt8])] = [
    (.knock(0x0102_0304_0506_0708), [1, 1, 1, 2, 3, 4, 5, 6, 7, 8]),
    (.frame([7, 7]), [2, 7, 7]),
    (.subscribe([.snapshots, .route]), [3, 0x73, 0x72]),
    (.subscribe([]), [3]),
    (.leave, [4]),
    (.call, [5]),
    (.answer(1), [6, 1, 0, 0, 0, 0, 0, 0, 0, 1]),
    (.reply([9]), [7, 9]),
    (.event(.feed, [1, 2]), [8, 0x66, 1, 2]),
    (.bye, [9]),
  ]

  @Test("Each message has its bytes, and they are read as it")
  func golden() {
    for (signal, bytes) in Self.all {
      #expect(signal.bytes == bytes)
      #expect(BridgeSignal(bytes) == signal)
    }
  }

  @Test("Topics of a later version are passed over")
  func laterTopics() {
    #expect(BridgeSignal([3, 0x73, 0x7a, 0xff, 0x66]) == .subscribe([.snapshots, .feed]))
  }

  @Test("What is no message is not read as one")
  func garbage() {
    let wrong: [[UInt8]] = [
      [], [0], [10], [255], [1], [1, 1], [1, 1, 0, 0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
      [1, 2, 0, 0, 0, 0, 0, 0, 0, 0], [6, 0, 0, 0, 0, 0, 0, 0, 0, 0], [2], [7], [8], [8, 0x66], [8, 0x7a, 1], [4, 0],
      [5, 0], [9, 0], [3] + [UInt8](repeating: 0x73, count: 65),
    ]
    for bytes in wrong { #expect(BridgeSignal(bytes) == nil, "\(bytes)") }
  }
}
