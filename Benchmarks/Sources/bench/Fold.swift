import ArgumentParser
import Foundation
import RunBus

struct Fold: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "A run's numbers: what folding an hour of 1 Hz takes, and what each live reading takes, up to hour ten.",
    discussion: """
      One thread, no store and no network. Times are the best of the rounds: what else runs on the machine only makes \
      them longer. Beside them a C program that computes nothing but the geodesics between the fixes.
      """)

  @Option(help: "The C program (Benchmarks/run builds it).") var reference: String
  @Option(help: "Rounds.") var rounds = 20
  @Option(help: "Hours of the long run.") var hours = 10

  func validate() throws {
    guard rounds > 0, (2...23).contains(hours) else {
      throw ValidationError("rounds are a positive number, hours 2 to 23")
    }
  }

  func run() async throws {
    print("best of \(rounds) rounds; load \(Machine.load) on \(Machine.cores) cores")
    if !Allocations.areCounted { print("allocations are not counted: start it with Benchmarks/run on Linux") }
    for hasPedometer in [false, true] {
      print("\n### \(hasPedometer ? "positions and a pedometer" : "positions alone")\n")
      try await hour(FoldInput(seconds: 3600, hasPedometer: hasPedometer))
      live(FoldInput(seconds: Int64(hours) * 3600 + 600, hasPedometer: hasPedometer))
    }
  }

  /// One hour of a run, folded at once and entry by entry.
  private func hour(_ input: FoldInput) async throws {
    let end = BusTime.zero + .seconds(3600)
    print("| an hour, \(input.entries.count) entries | ms | blocks allocated | m |\n|---|---|---|---|")
    row("one calculator", best { fold(input.entries).metrics(at: end).distanceMeters })
    row("the ledger, live, in order", best { ledger(input.entries).metrics(at: end).distanceMeters })
    let late = input.arrivals(heartRateLate: .seconds(2))
    row("the ledger, heart rates 2 s late", best { ledger(late).metrics(at: end).distanceMeters })
    let fixes = input.fixes
    row("the geodesics alone, Swift", best { geodesics(fixes) })
    let lines = try await collect(
      reference, ["\(rounds)"], input: fixes.map { "\($0.latitude) \($0.longitude)\n" }.joined()
    ).split(separator: "\n")
    let times = lines.dropLast().compactMap { Int64($0) }
    guard times.count == rounds, let time = times.min(), let meters = lines.last.flatMap({ Double($0) }) else {
      throw BenchError(description: "\(reference) did not measure \(rounds) rounds")
    }
    row("the geodesics alone, C", (time, nil, meters))
  }

  /// A long run: the time of every reading, of the numbers during the run, and the memory.
  private func live(_ input: FoldInput) {
    print("\n| a reading at hour | median, µs | p99, µs | worst, µs |\n|---|---|---|---|")
    for (title, entries) in [
      ("in order", input.entries), ("heart rates 2 s late", input.arrivals(heartRateLate: .seconds(2))),
    ] {
      let times = insertionTimes(entries)
      for hour in [1, 2, 5, 10] where hour <= hours {
        let start = BusTime.zero + .seconds(Int64(hour) * 3600)
        let index = entries.firstIndex { $0.time >= start && !$0.isHeartRate } ?? 0
        row("\(hour), \(title)", times[index...].prefix(3000))
      }
      if let worst = times.enumerated().max(by: { $0.element < $1.element }) {
        print("| the worst of all, \(title): number \(worst.offset + 1) | | | \(micro(worst.element)) |")
      }
    }
    let back = BusTime.zero + .seconds(Int64(hours) * 3600)
    let late = input.arrivals(heartRatesAwayFrom: back - .seconds(4200), length: .seconds(600), back: back)
    let first = zip(late, late.dropFirst()).enumerated().first { $0.element.1.time < $0.element.0.time }
    let block = (first?.offset ?? 0) + 1
    let times = insertionTimes(late)
    row("\(hours), ten minutes of heart rates that come an hour late", times[block...].prefix(600))
    row("\(hours), the ten minutes after them", times[block...].dropFirst(600).prefix(3000))

    print("\n| | µs | blocks allocated |\n|---|---|---|")
    for hour in [1, hours] {
      let now = BusTime.zero + .seconds(Int64(hour) * 3600)
      numbers("hour \(hour)", of: ledger(input.entries.prefix { $0.time <= now }), at: now)
    }
    numbers("hour \(hours), at the first of the late ten minutes", of: ledger(late[...block]), at: back)
    weigh(input)
  }

  /// The time of each insertion is the best of three runs over all entries, which removes disturbances.
  private func insertionTimes(_ entries: [LedgerEntry]) -> [Int64] {
    var best = [Int64](repeating: .max, count: entries.count)
    for _ in 0..<3 {
      var ledger = RunLedger()
      for (index, entry) in entries.enumerated() {
        let start = monotonic()
        ledger.insert(entry)
        best[index] = min(best[index], monotonic() - start)
      }
    }
    return best
  }
  private func row(_ title: String, _ times: ArraySlice<Int64>) {
    let sorted = times.sorted()
    guard let last = sorted.last else { return }
    let cells = [sorted[sorted.count / 2], sorted[sorted.count * 99 / 100], last].map(micro)
    print("| \(title) | \(cells.joined(separator: " | ")) |")
  }

  /// The numbers in the middle of a run, which the hub computes every three seconds.
  private func numbers(_ title: String, of ledger: RunLedger, at now: BusTime) {
    let metrics = best { ledger.metrics(at: now).distanceMeters }
    print("| metrics(at:), \(title) | \(micro(metrics.time)) | \(blocks(metrics.allocations)) |")
    let report = best { ledger.report(at: now).metrics.distanceMeters }
    print("| report(at:), \(title) | \(micro(report.time)) | \(blocks(report.allocations)) |")
  }

  private func weigh(_ input: FoldInput) {
    let now = BusTime.zero + .seconds(Int64(hours) * 3600)
    let entries = input.entries.prefix { $0.time <= now }
    let (ledger, allocations) = Allocations.count { self.ledger(entries) }
    guard let bytes = allocations?.bytes else { return }
    let entryBytes = ledger.entries.capacity * MemoryLayout<LedgerEntry>.stride
    let routeBytes = ledger.route.capacity * MemoryLayout<RoutePoint>.stride
    print("\n| in memory at hour \(hours) | MB |\n|---|---|")
    print("| \(ledger.entries.count) entries | \(mega(entryBytes)) |")
    print("| \(ledger.route.count) points of the route | \(mega(routeBytes)) |")
    print("| checkpoints and the rest | \(mega(bytes - entryBytes - routeBytes)) |")
  }

  // MARK: Measured code

  private func fold(_ entries: [LedgerEntry]) -> Calculator {
    var calculator = Calculator()
    for entry in entries { calculator.fold(entry) }
    return calculator
  }
  private func ledger(_ entries: some Sequence<LedgerEntry>) -> RunLedger {
    var ledger = RunLedger()
    for entry in entries { ledger.insert(entry) }
    return ledger
  }
  private func geodesics(_ fixes: [Position]) -> Double {
    zip(fixes, fixes.dropFirst()).reduce(0) { sum, pair in
      sum
        + Geodesic.distanceMeters(
          fromLatitude: pair.0.latitude, longitude: pair.0.longitude, toLatitude: pair.1.latitude,
          longitude: pair.1.longitude)
    }
  }

  // MARK: Measuring

  private func best(_ body: () -> Double?) -> (time: Int64, allocations: Allocations?, meters: Double?) {
    let (meters, allocations) = Allocations.count(body)
    var time = Int64.max
    for _ in 0..<rounds {
      let start = monotonic()
      _ = body()
      time = min(time, monotonic() - start)
    }
    return (time, allocations, meters)
  }

  private func row(_ title: String, _ measured: (time: Int64, allocations: Allocations?, meters: Double?)) {
    let time = String(format: "%.2f", Double(measured.time) / 1e6)
    let meters = measured.meters.map { String(format: "%.3f", $0) } ?? "-"
    print("| \(title) | \(time) | \(blocks(measured.allocations)) | \(meters) |")
  }
  private func blocks(_ allocations: Allocations?) -> String { allocations.map { "\($0.blocks)" } ?? "-" }
  private func micro(_ nanoseconds: Int64) -> String { String(format: "%.2f", Double(nanoseconds) / 1000) }
  private func mega(_ bytes: Int) -> String { String(format: "%.2f", Double(bytes) / 1e6) }
}
