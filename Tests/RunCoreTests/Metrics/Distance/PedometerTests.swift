import RunCore
import Testing

@Suite("A pedometer beside the positions, and instead of them")
struct PedometerTests {
  private func started(_ build: (inout LedgerBuilder) -> Void) -> LedgerBuilder {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    build(&ledger)
    return ledger
  }
  private func rounded(_ value: Double?) -> Double? { value.map { ($0 * 10).rounded() / 10 } }

  @Test("Without positions the distance is the pedometer's, from its first reading on")
  func treadmill() {
    let metrics = started { $0.step(from: 0, through: 100, at: 2.5, zero: 400) }.metrics(at: 100)
    #expect(rounded(metrics.distanceMeters) == 250)
    #expect(rounded(metrics.pedometerMeters) == 250)
    #expect(rounded(metrics.currentPaceSecondsPerKilometer) == 400)
  }

  @Test("Without either the distance is unknown, not zero")
  func neither() {
    let metrics = started { $0.sample(.heartRate(bpm: 120), at: 5) }.metrics(at: 60)
    #expect(metrics.distanceMeters == nil)
    #expect(metrics.pedometerMeters == nil)
    #expect(metrics.averagePaceSecondsPerKilometer == nil)
  }

  @Test("Where the two agree within a per cent, the positions count")
  func agreement() {
    let metrics = started {
      $0.run(from: 0, through: 100)
      $0.step(from: 0, through: 100, at: 3.02)
    }.metrics(at: 100)
    #expect(rounded(metrics.distanceMeters) == 300)
    #expect(metrics.pedometerMeters == nil)
  }

  @Test("The pedometer replaces a stretch of wandering positions, and not its neighbours")
  func noise() {
    let report = started {
      for second in 0...100 {
        // From 40 s to 60 s every fix is off by 4 m along the way, alternately ahead and behind.
        let wander = (41...59).contains(second) ? (second.isMultiple(of: 2) ? 4.0 : -4.0) : 0
        $0.fix(Double(second) * 3 + wander, at: Double(second))
      }
      $0.step(from: 0, through: 100, at: 3)
    }.report(at: 100)
    #expect(rounded(report.metrics.distanceMeters) == 300)
    #expect(rounded(report.metrics.pedometerMeters) == 60)
    #expect(report.stretches.map(\.source) == [.positions, .pedometer, .positions])
    #expect(report.stretches.map(\.startedAt) == [.zero, .seconds(40), .seconds(60)])
  }

  @Test("Lost positions are bridged from the last good fix to the next; without a pedometer the distance is unknown")
  func bridge() {
    func run(_ withSteps: Bool) -> RunReport {
      started {
        $0.run(from: 0, through: 20)
        for second in 21...49 { $0.fix(0, at: Double(second), accuracy: 60) }
        $0.run(from: 50, through: 80)
        if withSteps { $0.step(from: 0, through: 80, at: 3) }
      }.report(at: 80)
    }
    #expect(rounded(run(true).metrics.distanceMeters) == 240)
    #expect(rounded(run(true).metrics.pedometerMeters) == 90)
    #expect(rounded(run(false).metrics.distanceMeters) == 150)
  }

  @Test("Before the first fix and after the last one the pedometer counts, live as at the end")
  func ends() {
    let ledger = started {
      $0.step(from: 0, through: 100, at: 3)
      $0.run(from: 20, through: 60)
    }
    #expect(rounded(ledger.metrics(at: 100).distanceMeters) == 300)
    #expect(rounded(ledger.metrics(at: 100).pedometerMeters) == 180)
  }

  @Test("Nothing is counted over a pause, and a reading between two moments is divided by time")
  func pause() {
    let ledger = started {
      for second in stride(from: 0, through: 100, by: 4) {
        $0.sample(.pedometer(meters: Double(second) * 3), at: Double(second))
      }
      $0.press(.pause, at: 42)
      $0.press(.resume, at: 58)
    }
    // 0 to 40 and 58 to 100: the steps after 40 s are not counted, because there is no reading at the pause itself.
    #expect(rounded(ledger.metrics(at: 100).distanceMeters) == 246)
  }

  @Test("A wrong scale is learnt from the positions")
  func calibration() {
    let metrics = started {
      $0.run(from: 0, through: 1200)
      $0.step(from: 0, through: 1800, at: 2.7)
    }.metrics(at: 1800)
    let distance = metrics.distanceMeters ?? 0
    // In the first five minutes the sensor's own scale, a tenth too short, has weight; after that the scale is known.
    #expect(distance > 5200 && distance < 5400, "\(distance)")
  }

  @Test("A pedometer that restarts, falls silent or steps back adds no distance for that time")
  func restarts() {
    let anew = started {
      $0.step(from: 0, through: 50, at: 3, zero: 1000)
      for second in 51...100 { $0.sample(.pedometer(meters: Double(second - 51) * 3), at: Double(second)) }
    }
    #expect(rounded(anew.metrics(at: 100).distanceMeters) == 297)
    let back = started {
      $0.step(from: 0, through: 50, at: 3)
      $0.sample(.pedometer(meters: 149), at: 50.5)
      $0.step(from: 51, through: 100, at: 3)
    }
    #expect(rounded(back.metrics(at: 100).distanceMeters) == 300)
    let silent = started {
      $0.step(from: 0, through: 50, at: 3)
      $0.step(from: 90, through: 100, at: 3)
    }
    #expect(rounded(silent.metrics(at: 100).distanceMeters) == 180)
  }

  @Test("A pedometer that stays still while its runner moves is ignored: at once if it never counted, else soon")
  func leftBehind() {
    let never = started {
      $0.run(from: 0, through: 100)
      $0.step(from: 0, through: 100, at: 0)
    }.metrics(at: 100)
    #expect(rounded(never.distanceMeters) == 300)
    let lost = started {
      $0.run(from: 0, through: 200)
      for second in 0...200 { $0.sample(.pedometer(meters: Double(min(second, 100)) * 3), at: Double(second)) }
    }.metrics(at: 200)
    #expect(rounded(lost.distanceMeters) == 540)
  }

  @Test("A receiver that drifts around a standing runner adds no distance and does not change the scale")
  func drift() {
    let metrics = started {
      for second in 0...300 {
        let drift = (100...120).contains(second) ? Double(min(second - 100, 120 - second)) * 6 : 0
        $0.fix(Double(min(second, 100)) * 3 + drift + Double(max(0, second - 200)) * 3, at: Double(second))
        $0.sample(.pedometer(meters: Double(min(second, 100) + max(0, second - 200)) * 3), at: Double(second))
      }
    }.metrics(at: 300)
    #expect(abs((metrics.distanceMeters ?? 0) - 600) < 15, "\(String(describing: metrics.distanceMeters))")
  }

  @Test("Along the route the distance never falls, and it ends near the total", arguments: [0.2, 0.9, 1.6])
  func route(lag: Double) throws {
    var ledger = started {
      for second in 0...300 {
        let isLost = (100...130).contains(second)
        $0.fix(Double(second) * 3 + Double(second % 4), at: Double(second), accuracy: isLost ? 50 : 5)
        $0.sample(.pedometer(meters: Double(second) * 3), at: Double(second) + lag)
      }
    }
    ledger.fix(900, at: 302)
    let shown = ledger.route().map { $0.distanceMeters ?? 0 }
    #expect(zip(shown, shown.dropFirst()).allSatisfy { $0 <= $1 })
    let whole = try #require(ledger.metrics(at: 302).distanceMeters)
    #expect(abs(try #require(shown.last) - whole) < 10)
  }

  @Test("Standing, by a motion sensor, counts no steps either")
  func standing() {
    let metrics = started {
      $0.step(from: 0, through: 100, at: 1)
      $0.sample(.motion(.stationary), at: 20.5)
      $0.sample(.motion(.walking), at: 60.5)
    }.metrics(at: 100)
    #expect(rounded(metrics.distanceMeters) == 60)
  }

  @Test("A pedometer of another rhythm on another device agrees just as well", arguments: [1.3, 2.5, 7, 19, 29])
  func rhythm(period: Double) {
    let metrics = started {
      $0.run(from: 0, through: 600)
      for second in stride(from: 0.4, through: 600, by: period) {
        $0.sample(.pedometer(meters: second * 3), at: second, from: "watch")
      }
    }.metrics(at: 600)
    #expect(rounded(metrics.distanceMeters) == 1800)
    #expect(metrics.pedometerMeters == nil)
  }

  @Test("The distance shown live never falls by more than a step")
  func monotonic() {
    var shown = 0.0
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    for second in 0...300 {
      let time = Double(second)
      let isLost = (100...160).contains(second)
      ledger.fix(time * 3 + Double(second % 3), at: time, accuracy: isLost ? 50 : 5)
      if second.isMultiple(of: 2) { ledger.sample(.pedometer(meters: time * 3), at: time + 0.3) }
      guard second.isMultiple(of: 3) else { continue }
      let meters = ledger.metrics(at: time + 0.5).distanceMeters ?? 0
      #expect(meters > shown - 6, "at \(second) s: \(meters) after \(shown)")
      shown = meters
    }
    #expect(abs(shown - 900) < 12)
  }

  @Test("A pedometer that is switched off is ignored")
  func off() {
    var settings = MetricsSettings()
    settings.usesPedometer = false
    #expect(started { $0.step(from: 0, through: 50) }.metrics(at: 50, settings: settings).distanceMeters == nil)
  }
}
