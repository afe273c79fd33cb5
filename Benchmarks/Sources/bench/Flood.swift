import ArgumentParser
import Foundation

struct Flood: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "A command's latency, measured as by `latency`, with and without a member that floods the hub.",
    discussion: """
      Rounds with and without it take turns. That member sends commands, samples, values and hellos as fast as its \
      sockets take them. A cell is the median of the rounds' percentiles, with the smallest and the largest of them.
      """)

  @Option(help: "The flooding member (Benchmarks/run builds it).") var reference: String
  @Option(help: "Rounds of each side.") var rounds = 10
  @Option(help: "Commands in a round.") var commands = 300
  @Option(help: "Microseconds between a command's last hop and the next command.") var pause = 1000

  func validate() throws {
    guard rounds > 0, commands > 0, pause >= 0 else { throw ValidationError("sizes are positive numbers") }
  }

  func run() async throws {
    print(
      "\(rounds) rounds of \(commands) commands a side, \(pause) µs apart; "
        + "load \(Machine.load) on \(Machine.cores) cores")
    let sizes = try await Sizes.measure()
    var alone = Results()
    var flooded = Results()
    var rates: [Double] = []
    var refused: [Double] = []
    for number in 0..<rounds {
      // The order alternates.
      for isFlooded in number % 2 == 0 ? [false, true] : [true, false] {
        var round = Round(
          reference: reference, sizes: sizes, commands: commands, pauseMicroseconds: pause, caller: .loop)
        round.flooder = isFlooded ? reference : nil
        let result = try await round.play(.runBus)
        if let flood = result.flood {
          flooded.add(result.hops, result.logBytes)
          rates.append(flood.framesPerSecond)
          refused.append(flood.refusedPerSecond)
        } else {
          alone.add(result.hops, result.logBytes)
        }
      }
    }
    print("\n| command to | percentile | alone, µs | beside the flood, µs | ratio |\n|---|---|---|---|---|")
    for measure in Measure.allCases {
      for percentile in [50.0, 99.0] {
        let (left, right) = (alone.spread(measure, percentile), flooded.spread(measure, percentile))
        let ratio = Spread(zip(right.values, left.values).map { $0 / $1 })
        print("| \(measure.rawValue) | p\(Int(percentile)) | \(left.text(0)) | \(right.text(0)) | \(ratio.text(2)) |")
      }
    }
    print("\nthe flooding member: \(Spread(rates).text(0)) frames a second, \(Spread(refused).text(0)) refused as busy")
  }
}

/// The progress of a flooding member, from its file.
struct FloodCount {
  private let numbers: [Int64]

  /// `nil` before it has written anything.
  init?(_ path: String) {
    guard let data = FileManager.default.contents(atPath: path), data.count == 32 else { return nil }
    numbers = data.withUnsafeBytes { bytes in
      (0..<4).map { bytes.loadUnaligned(fromByteOffset: 8 * $0, as: Int64.self) }
    }
  }

  /// Whether it is a member and sends.
  var isUnderWay: Bool { numbers[3] > 0 && numbers[0] > 1000 }

  /// Its rate since an earlier count.
  func rate(since earlier: FloodCount) -> FloodRate {
    let seconds = Double(numbers[1] - earlier.numbers[1]) / 1e9
    guard seconds > 0 else { return FloodRate(framesPerSecond: 0, refusedPerSecond: 0) }
    return FloodRate(
      framesPerSecond: Double(numbers[0] - earlier.numbers[0]) / seconds,
      refusedPerSecond: Double(numbers[2] - earlier.numbers[2]) / seconds)
  }
}

/// The rate of a flooding member while others were measured.
struct FloodRate: Sendable {
  let framesPerSecond: Double
  let refusedPerSecond: Double
}
