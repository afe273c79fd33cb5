@testable import RunCore
import Testing
import SystemC

/// The number of additional random sequences: `RUNBUS_SOAK_DELIVERY`, 0 if it is not set.
let deliverySoak = getenv("RUNBUS_SOAK_DELIVERY").flatMap { UInt64(String(cString: $0)) } ?? 0

@Suite("Two message streams over an unreliable link")
struct MessageStreamPairTests {
  @Test("Every sequence of five steps after two messages were sent", arguments: MessageStreamPair.Step.allCases)
  func exhausted(first: MessageStreamPair.Step) {
    var start = MessageStreamPair()
    for step in [.post, .post, .commitSender, .deliver] as [MessageStreamPair.Step] { start.take(step) }
    guard start.canTake(first) else { return }
    start.take(first)
    walk(start, depth: 4, path: [first])
  }

  @Test("Every sequence of four steps from the first one on", arguments: MessageStreamPair.Step.allCases)
  func exhaustedFromNothing(first: MessageStreamPair.Step) {
    var start = MessageStreamPair()
    guard start.canTake(first) else { return }
    start.take(first)
    walk(start, depth: 3, path: [first])
  }

  private func walk(_ pair: MessageStreamPair, depth: Int, path: [MessageStreamPair.Step]) {
    var settled = pair
    settled.settle()
    if !settled.faults.isEmpty { Issue.record("\(path): \(settled.faults.joined(separator: "; "))") }
    guard depth > 0, settled.faults.isEmpty else { return }
    for step in MessageStreamPair.Step.allCases where pair.canTake(step) {
      var next = pair
      next.take(step)
      walk(next, depth: depth - 1, path: path + [step])
    }
  }

  @Test("Long random sequences of steps", arguments: 0..<8 as Range<UInt64>)
  func sampled(part: UInt64) {
    for seed in stride(from: part, to: 400 + deliverySoak, by: 8) {
      var random = SeededGenerator(seed: seed)
      var pair = MessageStreamPair(failuresMax: 4)
      for _ in 0..<150 {
        pair.take(MessageStreamPair.Step.allCases.randomElement(using: &random)!)
      }
      pair.settle()
      #expect(pair.faults.isEmpty, "seed \(seed): \(pair.faults.prefix(3).joined(separator: "; "))")
    }
  }
}
