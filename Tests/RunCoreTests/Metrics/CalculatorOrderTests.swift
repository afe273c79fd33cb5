import RunCore
import Testing

@Suite("The order of arrival does not change the numbers")
struct CalculatorOrderTests {
  /// A run with every kind of entry, in order.
  private static func told() -> [LedgerEntry] {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    for second in 0...600 {
      let time = Double(second)
      let wander = (200...260).contains(second) ? Double(second % 5) - 2 : 0
      let accuracy: Double? = (300...330).contains(second) ? 40 : 5
      ledger.fix(time * 3 + wander, at: time, accuracy: accuracy)
      ledger.sample(.altitude(meters: 50 + Double(second % 40), .gps), at: time)
      ledger.sample(.cadence(stepsPerMinute: 170), at: time)
      ledger.sample(.pedometer(meters: time * 2.95), at: time)
      ledger.sample(.heartRate(bpm: 120 + Double(second % 17)), at: time, from: "watch")
      if second.isMultiple(of: 97) { ledger.press(.lap, at: time + 0.25) }
    }
    ledger.sample(.motion(.stationary), at: 400, from: "watch")
    ledger.sample(.motion(.running), at: 430, from: "watch")
    ledger.press(.pause, at: 480.5)
    ledger.press(.resume, at: 520.25)
    ledger.gap(at: 550, lasting: 20)
    ledger.press(.stop, at: 600)
    return ledger.entries
  }

  @Test("Shuffled insertions give the report and the route of one fold in order", arguments: 1...6)
  func shuffled(seed: Int) {
    var settings = MetricsSettings()
    settings.weightKilograms = 70
    settings.isAutoPauseOn = seed.isMultiple(of: 2)
    let entries = Self.told()
    var whole = Calculator(settings: settings)
    let route = entries.sorted(by: LedgerEntry.precedes).compactMap { whole.fold($0) }
    let end = LedgerBuilder.time(600)

    var generator = SeededGenerator(seed: UInt64(seed))
    var ledger = RunLedger(settings: settings)
    // Blocks arrive in any order, and entries in any order within them, as from a watch that was out of reach.
    var rest = entries
    while !rest.isEmpty {
      let index = Int(generator.next() % UInt64(rest.count))
      let count = min(rest.count - index, 1 + Int(generator.next() % 60))
      var block = Array(rest[index..<index + count])
      rest.removeSubrange(index..<index + count)
      while let entry = block.popLast() { ledger.insert(entry) }
    }
    #expect(ledger.report(at: end) == whole.report(at: end))
    ledger.foldAll()
    #expect(ledger.route == route)
  }
}
