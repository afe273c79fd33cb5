import RunCore
import Testing

@Suite("The ledger")
struct RunLedgerTests {
  /// A small random run with every kind of entry, many at the same instant, redundant transitions among them.
  private func entries(seconds: Int, using generator: inout SeededGenerator) -> [LedgerEntry] {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 3)
    var meters = 0.0
    for second in 0..<seconds {
      meters += Double.random(in: 0...6, using: &generator)
      ledger.fix(meters, at: Double(second), accuracy: Double.random(in: -1...17, using: &generator))
      ledger.sample(.heartRate(bpm: Double.random(in: 90...190, using: &generator)), at: Double(second), from: "watch")
      ledger.sample(.altitude(meters: Double.random(in: 0...20, using: &generator), .gps), at: Double(second))
      switch Int.random(in: 0..<60, using: &generator) {
      case 0: ledger.press(.pause, at: Double(second))
      case 1, 2: ledger.press(.resume, at: Double(second) + 0.5)
      case 3: ledger.press(.lap, at: Double(second))
      case 4: ledger.gap(at: Double(second), lasting: Double.random(in: 0...9, using: &generator))
      case 5:
        ledger.sample(.motion(MotionActivity.allCases.randomElement(using: &generator) ?? .unknown), at: Double(second))
      default: break
      }
    }
    ledger.press(.stop, at: Double(seconds - 5))
    return ledger.entries
  }

  @Test("Any order of arrival gives exactly the same numbers as one full fold", arguments: 0..<20)
  func shuffled(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    let entries = entries(seconds: seed.isMultiple(of: 5) ? 3000 : 120, using: &generator)
    let sorted = entries.sorted(by: LedgerEntry.precedes)
    var arrival = entries
    switch seed % 4 {
    case 0: break
    case 1: arrival.shuffle(using: &generator)
    case 2: arrival.reverse()
    default:
      // The watch was out of reach: its entries arrive at the end, in order.
      arrival = entries.filter { !$0.isHeartRate } + entries.filter(\.isHeartRate)
    }
    if seed.isMultiple(of: 5) {
      // Long runs arrive mostly in order, with some late entries, so that checkpoints are used and thinned out.
      for index in stride(from: 50, to: arrival.count, by: 97) {
        arrival.swapAt(index, Int.random(in: 0..<arrival.count, using: &generator))
      }
    }
    var ledger = RunLedger()
    for (index, entry) in arrival.enumerated() {
      ledger.insert(entry)
      guard index.isMultiple(of: arrival.count / 7) else { continue }
      var full = Calculator()
      for entry in arrival[...index].sorted(by: LedgerEntry.precedes) { full.fold(entry) }
      #expect(
        ledger.metrics(at: LedgerBuilder.time(5000)) == full.metrics(at: LedgerBuilder.time(5000)), "seed \(seed)")
    }
    var full = Calculator()
    for entry in sorted { full.fold(entry) }
    #expect(ledger.entries == sorted, "seed \(seed)")
    #expect(ledger.metrics(at: LedgerBuilder.time(5000)) == full.metrics(at: LedgerBuilder.time(5000)), "seed \(seed)")
    #expect(ledger.metrics(at: LedgerBuilder.time(5000)).distanceMeters != nil)
    ledger.foldAll()
    let whole = RunLedger(entries: sorted)
    #expect(RunLedger(entries: arrival).entries == sorted, "seed \(seed)")
    #expect(ledger.series == whole.series && ledger.series.count >= (sorted.count > 5000 ? 200 : 9), "seed \(seed)")
    #expect(zip(whole.series, whole.series.dropFirst()).allSatisfy { $1.offset - $0.offset >= .seconds(10) })
  }

  @Test("A late entry sends the fold back little further than its time", arguments: [2, 10, 60, 600, 3600, 9000])
  func late(seconds: Int) throws {
    var fixes = LedgerBuilder()
    fixes.press(.start, at: 0)
    fixes.run(from: 0, through: 10_000)
    var ledger = RunLedger()
    ledger.insert(contentsOf: fixes.entries)
    _ = ledger.takeRouteChange()
    var late = LedgerBuilder()
    late.sample(.heartRate(bpm: 120), at: Double(10_000 - seconds), from: "watch")
    ledger.insert(contentsOf: late.entries)
    let change = ledger.takeRouteChange()
    let from = try #require(change)
    #expect(from >= 10_000 - seconds - seconds / 4 - 16)
  }

  @Test("Readings of two devices at the same instant give the same numbers in either order")
  func ties() {
    func metrics(watchFirst: Bool) -> RunMetrics {
      var builder = LedgerBuilder()
      builder.press(.start, at: 0)
      for second in 0..<100 {
        let bpm = SampleValue.heartRate(bpm: 120.1 + Double(second * second % 37))
        if watchFirst { builder.sample(bpm, at: Double(second), from: "watch") }
        builder.fix(Double(second) * 2.7, at: Double(second))
        builder.sample(.altitude(meters: 100 + Double(second % 13), .gps), at: Double(second))
        if !watchFirst { builder.sample(bpm, at: Double(second), from: "watch") }
      }
      var ledger = RunLedger()
      ledger.insert(contentsOf: builder.entries)
      return ledger.metrics(at: LedgerBuilder.time(100))
    }
    #expect(metrics(watchFirst: true) == metrics(watchFirst: false))
  }

  @Test("The phase at a moment includes every transition up to it, late amendments too")
  func phases() {
    var builder = LedgerBuilder()
    builder.press(.start, at: 10)
    builder.press(.resume, at: 50)
    builder.press(.stop, at: 90)
    builder.press(.pause, at: 30)
    builder.press(.pause, at: 35)
    var ledger = RunLedger()
    #expect(ledger.phase(at: .zero) == .idle)
    #expect(ledger.startedAt == nil)
    ledger.insert(contentsOf: builder.entries)
    let phases = [9.9, 10, 29.9, 30, 35, 49.9, 50, 89.9, 90, 1000].map { ledger.phase(at: LedgerBuilder.time($0)) }
    #expect(
      phases == [.idle, .running, .running, .paused, .paused, .paused, .running, .running, .completed, .completed])
    #expect(ledger.startedAt == LedgerBuilder.time(10))
    #expect(ledger.stoppedAt == LedgerBuilder.time(90))
    #expect(ledger.metrics(at: LedgerBuilder.time(200)).active == .seconds(60))
  }

  @Test("A clock that is stopped gives the numbers of a gap without an end, and of no gap once it is released")
  func stoppedClock() {
    var builder = LedgerBuilder()
    builder.press(.start, at: 0)
    builder.run(from: 0, through: 200)
    builder.press(.pause, at: 150)
    builder.press(.resume, at: 160)
    let entries = builder.entries
    let end = LedgerBuilder.time(300)
    for death in [-1, 0, 99.5, 100, 150, 155, 200, 250] as [Double] {
      let gap = LedgerEntry(
        time: LedgerBuilder.time(death), position: 1_000_000, event: .gap(BusDuration(nanoseconds: .max)))
      let plain = RunLedger(entries: entries)
      let withGap = RunLedger(entries: entries + [gap])
      var before = RunLedger()
      before.stopClock(at: gap.time)
      before.insert(contentsOf: entries)
      var amid = RunLedger(entries: entries.filter { $0.time < LedgerBuilder.time(120) })
      amid.stopClock(at: gap.time)
      amid.insert(contentsOf: entries.filter { $0.time >= LedgerBuilder.time(120) }.reversed())
      var after = plain
      after.stopClock(at: gap.time)
      for ledger in [before, amid, after] {
        var ledger = ledger
        #expect(ledger.entries.count == entries.count)
        #expect(ledger.report(at: end) == withGap.report(at: end), "\(death)")
        ledger.foldAll()
        #expect(ledger.route == withGap.route, "\(death)")
        ledger.releaseClock()
        ledger.foldAll()
        #expect(ledger.report(at: end) == plain.report(at: end), "\(death)")
        #expect(ledger.route == plain.route, "\(death)")
      }
    }
  }

  @Test("The report as of a past moment is that of a ledger which ends there", arguments: 0..<6)
  func pastMoments(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var builder = LedgerBuilder()
    builder.press(.start, at: 0)
    for second in 1...300 {
      builder.fix(Double(second) * 3, at: Double(second))
      if second.isMultiple(of: 70) { builder.press(.lap, at: Double(second) + 0.5) }
    }
    builder.press(.pause, at: 310)
    builder.press(.resume, at: 330)
    builder.run(from: 331, through: 400)
    builder.press(.stop, at: 401)
    var ledger = RunLedger()
    for entry in builder.entries { ledger.insert(entry) }
    for _ in 0..<40 {
      let moment = LedgerBuilder.time(Double.random(in: 0...420, using: &random))
      let cut = RunLedger(entries: builder.entries.filter { $0.time <= moment })
      #expect(ledger.report(asOf: moment) == cut.report(at: moment), "at \(moment.nanoseconds)")
    }
    let (half, whole) = (ledger.report(asOf: LedgerBuilder.time(150)), ledger.report(asOf: LedgerBuilder.time(300)))
    #expect(abs((half.metrics.distanceMeters ?? 0) - 450) < 10 && abs((whole.metrics.distanceMeters ?? 0) - 900) < 10)
  }

  @Test("A ledger that is read back equals the one built entry by entry, also after late entries")
  func readBack() {
    var builder = LedgerBuilder()
    builder.press(.start, at: 0)
    builder.run(from: 0, through: 300)
    builder.press(.pause, at: 200)
    builder.press(.resume, at: 250)
    for second in stride(from: 5, to: 300, by: 7) {
      builder.sample(.heartRate(bpm: 120 + Double(second % 11)), at: Double(second), from: "watch")
    }
    let entries = builder.entries
    var told = RunLedger()
    told.insert(contentsOf: entries)
    var readBack = RunLedger(entries: entries)
    for late in [nil, 290, 100, 3] as [Double?] {
      if let late {
        var more = LedgerBuilder()
        more.sample(.heartRate(bpm: 150), at: late, from: "other")
        told.insert(contentsOf: more.entries)
        readBack.insert(contentsOf: more.entries)
      }
      told.foldAll()
      readBack.foldAll()
      let end = LedgerBuilder.time(400)
      #expect(readBack.entries == told.entries)
      #expect(readBack.report(at: end) == told.report(at: end))
      #expect(readBack.route == told.route)
      #expect([100, 220, 260].map { readBack.phase(at: LedgerBuilder.time($0)) } == [.running, .paused, .running])
      #expect((readBack.startedAt, readBack.stoppedAt) == (told.startedAt, told.stoppedAt))
    }
  }
}

extension LedgerEntry {
  fileprivate var isHeartRate: Bool {
    guard case .sample(.heartRate, _) = event else { return false }
    return true
  }
}
