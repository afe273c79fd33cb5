import ArgumentParser
import Foundation
import Histogram

struct Latency: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "A durable command to its verdict, and to the snapshot in another process; window 0.",
    discussion: """
      Both sides play in turns, in this one run: a slow minute of the machine hits both. A cell is the median of the \
      rounds' percentiles, with the smallest and the largest of them.
      """)

  @Option(help: "The C program (Benchmarks/run builds it).") var reference: String
  @Option(help: "Rounds of each side.") var rounds = 10
  @Option(help: "Commands in a round.") var commands = 300
  @Option(help: "Microseconds between a command's last hop and the next command.") var pause = 1000
  @Option(help: "Where the code that uses the library runs: pool or loop; both when not given.") var caller: Caller?

  func validate() throws {
    guard rounds > 0, commands > 0, pause >= 0 else { throw ValidationError("sizes are positive numbers") }
  }

  func run() async throws {
    let sizes = try await Sizes.measure()
    print(
      "messages in bytes: command \(sizes.command), "
        + "verdict \(sizes.verdict), state \(sizes.state)")
    print(
      "\(rounds) rounds of \(commands) commands a side, \(pause) µs apart; "
        + "load \(Machine.load) on \(Machine.cores) cores")
    let callers = caller.map { [$0] } ?? Caller.allCases
    for caller in callers { try await compare(caller, sizes) }
  }

  private func compare(_ caller: Caller, _ sizes: Sizes) async throws {
    let round = Round(
      reference: reference, sizes: sizes, commands: commands, pauseMicroseconds: pause, caller: caller)
    var results: [Side: Results] = [:]
    for number in 0..<rounds {
      // The order alternates.
      let order = number % 2 == 0 ? Side.allCases : Side.allCases.reversed()
      for side in order {
        let result = try await round.play(side)
        results[side, default: Results()].add(result.hops, result.logBytes)
      }
    }
    guard let ours = results[.runBus], let theirs = results[.reference] else { return }
    print("\nthe caller runs on: \(caller == .pool ? "Swift's global pool" : "the node's loop")\n")
    print("| command to | percentile | RunBus, µs | C, µs | ratio |\n|---|---|---|---|---|")
    for measure in Measure.allCases {
      for percentile in [50.0, 99.0] {
        let (left, right) = (ours.spread(measure, percentile), theirs.spread(measure, percentile))
        let ratio = Spread(zip(left.values, right.values).map { $0 / $1 })
        print("| \(measure.rawValue) | p\(Int(percentile)) | \(left.text(0)) | \(right.text(0)) | \(ratio.text(2)) |")
      }
    }
    print("\nstore log after a round: RunBus \(ours.logKilobytes) KiB, C \(theirs.logKilobytes) KiB")
  }
}

enum Measure: String, CaseIterable {
  case verdict
  case snapshot = "snapshot elsewhere"

  func time(_ hops: Hops) -> Int64 {
    switch self {
    case .verdict: hops.verdict
    case .snapshot: hops.snapshot
    }
  }
}

/// The results of all rounds of one side.
struct Results {
  private var rounds: [[Measure: Histogram<UInt32>]] = []
  private var logBytes: Int?

  mutating func add(_ hops: [Hops], _ logBytes: Int?) {
    var round: [Measure: Histogram<UInt32>] = [:]
    for measure in Measure.allCases {
      var histogram = Histogram<UInt32>(numberOfSignificantValueDigits: .three)
      histogram.autoResize = true
      for hop in hops { histogram.record(UInt64(max(0, measure.time(hop)))) }
      round[measure] = histogram
    }
    rounds.append(round)
    self.logBytes = logBytes
  }

  /// A percentile of each round, in microseconds.
  func spread(_ measure: Measure, _ percentile: Double) -> Spread {
    Spread(rounds.compactMap { $0[measure].map { Double($0.valueAtPercentile(percentile)) / 1000 } })
  }

  var logKilobytes: String { logBytes.map { "\($0 / 1024)" } ?? "?" }
}

/// One value for each round, in order.
struct Spread {
  let values: [Double]
  init(_ values: [Double]) { self.values = values }

  func text(_ digits: Int) -> String {
    let sorted = values.sorted()
    guard let first = sorted.first, let last = sorted.last else { return "-" }
    let median = (sorted[sorted.count / 2] + sorted[(sorted.count - 1) / 2]) / 2
    func number(_ value: Double) -> String { String(format: "%.\(digits)f", value) }
    return "\(number(median)) (\(number(first))–\(number(last)))"
  }
}

enum Machine {
  static var cores: Int { ProcessInfo.processInfo.activeProcessorCount }
  /// The load average of the last minute.
  static var load: String {
    var loads = [0.0]
    return getloadavg(&loads, 1) == 1 ? String(format: "%.1f", loads[0]) : "unknown"
  }
}
