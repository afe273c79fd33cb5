import Foundation
import Simulation

/// Runs many worlds of rooms, several at a time.
struct RoomCampaign {
  let seeds: ClosedRange<UInt64>
  let jobs: Int
  let failuresMax: Int
  private(set) var failed = 0
  private(set) var counts: [String: Int] = [:]
  private var done = 0
  private var wall = Duration.zero

  init(seeds: ClosedRange<UInt64>, jobs: Int, failuresMax: Int) {
    (self.seeds, self.jobs, self.failuresMax) = (seeds, jobs, failuresMax)
  }

  mutating func run() async {
    let start = ContinuousClock.now
    await withTaskGroup(of: Outcome.self) { group in
      var rest = seeds.makeIterator()
      for _ in 0..<jobs { if let seed = rest.next() { group.addTask { Self.world(of: seed) } } }
      for await world in group {
        done += 1
        counts.merge(world.counts, uniquingKeysWith: +)
        if let fault = world.faults.first {
          failed += 1
          let lines = "seed \(world.seed): \(fault)\n  again: simulate --rooms --seed \(world.seed) --trace\n"
          FileHandle.standardError.write(Data(lines.utf8))
        }
        guard failuresMax == 0 || failed < failuresMax, let seed = rest.next() else { continue }
        group.addTask { Self.world(of: seed) }
      }
    }
    wall = ContinuousClock.now - start
  }

  /// What became of a world.
  private struct Outcome: Sendable {
    let seed: UInt64
    let faults: [String]
    let counts: [String: Int]
  }

  private static func world(of seed: UInt64) -> Outcome {
    var world = RoomWorld(seed: seed)
    world.run()
    return Outcome(seed: seed, faults: world.faults, counts: world.counts)
  }

  /// What the campaign should have seen at least once and has not; without it, its checks prove little.
  var unseen: [String] { RoomWorld.expected.filter { counts[$0, default: 0] == 0 } }

  var summary: String {
    let seconds = (wall / .seconds(1) * 10).rounded() / 10
    return "\(done) rooms, \(counts["start", default: 0]) starts, \(counts["kill", default: 0]) kills, \(seconds) s, "
      + "\(failed) violations"
  }
}
