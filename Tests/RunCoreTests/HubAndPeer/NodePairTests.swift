import RunCore
import Testing

@Suite("A peer and a hub over an unreliable link, with disks that are restored from copies")
struct NodePairTests {
  @Test("Every sequence of four steps after two presses were sent", arguments: NodePair.Step.allCases)
  func exhausted(first: NodePair.Step) {
    var start = NodePair()
    for _ in 0..<6 { for step in [.toHub, .commitHub, .toPeer, .commitPeer] as [NodePair.Step] { start.take(step) } }
    start.take(.press)
    start.take(.commitPeer)
    start.backUp()
    for step in [.toHub, .commitHub, .press, .commitPeer, .toPeer] as [NodePair.Step] { start.take(step) }
    guard start.canTake(first) else { return }
    start.take(first)
    walk(start, depth: 3, path: [first])
  }

  @Test("Every sequence of four steps from the first hello on", arguments: NodePair.Step.allCases)
  func exhaustedFromTheFirstHello(first: NodePair.Step) {
    var start = NodePair()
    start.take(.press)
    guard start.canTake(first) else { return }
    start.take(first)
    walk(start, depth: 3, path: [first])
  }

  private func walk(_ pair: NodePair, depth: Int, path: [NodePair.Step]) {
    var settled = pair
    settled.settle()
    if !settled.faults.isEmpty { Issue.record("\(path): \(settled.faults.prefix(4).joined(separator: "; "))") }
    guard depth > 0, settled.faults.isEmpty else { return }
    for step in NodePair.Step.allCases where pair.canTake(step) {
      var next = pair
      next.take(step)
      walk(next, depth: depth - 1, path: path + [step])
    }
  }

  @Test("Long random sequences of steps", arguments: 0..<8 as Range<UInt64>)
  func sampled(part: UInt64) {
    for seed in stride(from: part, to: 240 + deliverySoak, by: 8) {
      var random = SeededGenerator(seed: seed)
      var pair = NodePair()
      for place in 0..<120 {
        if place == 40 || place == 80 { pair.backUp() }
        var step = NodePair.Step.allCases.randomElement(using: &random)!
        // Disks are seldom restored.
        if step == .restorePeer || step == .restoreHub, Int.random(in: 0..<4, using: &random) > 0 { step = .toHub }
        pair.take(step)
      }
      pair.settle()
      #expect(pair.faults.isEmpty, "seed \(seed): \(pair.faults.prefix(3).joined(separator: "; "))")
    }
  }
}
