import Foundation
import RunCore
import Simulation

/// Runs many worlds, several at a time.
struct Campaign {
  let seeds: ClosedRange<UInt64>
  let options: WorldOptions
  let jobs: Int
  let failuresMax: Int
  private(set) var failed: [WorldVerdict] = []
  private(set) var tally = WorldTally()
  private var simulated = BusDuration.zero
  private var done = 0
  private var wrong = 0
  private var wall = Duration.zero

  init(seeds: ClosedRange<UInt64>, options: WorldOptions, jobs: Int, failuresMax: Int) {
    (self.seeds, self.options, self.jobs, self.failuresMax) = (seeds, options, jobs, failuresMax)
  }

  mutating func run() async {
    let options = options
    let start = ContinuousClock.now
    await withTaskGroup(of: WorldVerdict.self) { group in
      var rest = seeds.makeIterator()
      for _ in 0..<jobs {
        if let seed = rest.next() { group.addTask { World.judge(seed, options) } }
      }
      for await verdict in group {
        note(verdict)
        wall = ContinuousClock.now - start
        tell(verdict)
        guard failuresMax == 0 || failed.count < failuresMax, let seed = rest.next() else { continue }
        group.addTask { World.judge(seed, options) }
      }
    }
  }

  /// Prints a failure at once, and the progress of a long campaign, which may take hours.
  private func tell(_ verdict: WorldVerdict) {
    var lines = ""
    if !verdict.faults.isEmpty {
      lines += "seed \(verdict.seed): \(verdict.faults.prefix(3).joined(separator: "; "))\n"
      let wrong = options.wrong == .mixed ? "" : " --wrong \(options.wrong)"
      lines += "  again: simulate --seed \(verdict.seed) --hours \(options.trouble.seconds / 3600)\(wrong)\n"
    }
    if seeds.count >= 1000, done.isMultiple(of: seeds.count / 20), done < seeds.count { lines += summary + "\n" }
    FileHandle.standardError.write(Data(lines.utf8))
  }

  private mutating func note(_ verdict: WorldVerdict) {
    done += 1
    if verdict.hasWrongMembers { wrong += 1 }
    simulated += verdict.simulated
    tally.add(verdict.tally)
    if !verdict.faults.isEmpty { failed.append(verdict) }
  }

  /// What the campaign should have seen at least once and has not; without it, its checks prove little.
  var unseen: [String] { WorldTally.expected.filter { tally.counts[$0] ?? 0 == 0 } }

  var summary: String {
    let hours = simulated.seconds / 3600
    let seconds = wall / .seconds(1)
    func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
    return """
      \(done) seeds (\(wrong) with wrong members), \(tenths(hours)) simulated hours, \(tenths(seconds)) s, \
      \(tenths(hours / seconds)) simulated hours per second, \(failed.count) violations
      """
  }
}
