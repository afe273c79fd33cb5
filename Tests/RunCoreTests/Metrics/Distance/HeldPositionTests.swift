import RunCore
import Testing

/// Receivers and exports that repeat a position for some seconds and then give the next one: time counts from the last
/// change of position.
@Suite("Positions that are held")
struct HeldPositionTests {
  private func started(
    settings: MetricsSettings = MetricsSettings(), _ build: (inout LedgerBuilder) -> Void
  ) -> LedgerBuilder {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    build(&ledger)
    return ledger
  }
  private func rounded(_ value: Double?) -> Double? { value.map { ($0 * 10).rounded() / 10 } }
  private func meters(_ build: (inout LedgerBuilder) -> Void) -> Double? {
    rounded(started(build).metrics(at: 2000).distanceMeters)
  }
  /// The latest multiple of `hold` at or before a second.
  private static func changed(_ second: Int, every hold: Int) -> Int { second / hold * hold }

  // What must not gain metres.

  // Once broken: After a light with the feet still and a jump of the receiver 300 m were added, because while standing
  // is inferred the anchor stays, and the time for the next step counted from before the standing.
  @Test("Standing at a light for five minutes and then a jump of 300 m adds nothing, with and without steps counted")
  func light() {
    for cadence in [nil, 0.0, 170.0] {
      let stood = meters {
        $0.run(from: 0, through: 100)
        for second in 101...400 {
          $0.fix(300, at: Double(second))
          if let cadence { $0.sample(.cadence(stepsPerMinute: cadence), at: Double(second)) }
        }
        $0.fix(600, at: 401)
        for second in 402...500 { $0.fix(600 + 3 * Double(second - 401), at: Double(second)) }
      }
      #expect(stood == 594, "cadence \(cadence ?? -1)")
    }
  }

  @Test("A light at which the receiver wanders, and then a jump of 300 m, adds nothing but the wandering")
  func wanderingLight() {
    let stood = meters {
      $0.run(from: 0, through: 100)
      for second in 101...400 { $0.fix(300 + Double(second % 2), at: Double(second)) }
      $0.fix(600, at: 401)
      $0.fix(603, at: 402)
    }
    #expect(stood == 600)
  }

  @Test("A tunnel in which the last position is repeated for a minute and a half is no way")
  func tunnel() {
    let ran = meters {
      $0.run(from: 0, through: 100)
      for second in 101...190 { $0.fix(300, at: Double(second)) }
      $0.run(from: 191, through: 300)
    }
    #expect(ran == 624)
  }

  @Test("A teleport is none after a hold either, and back again")
  func teleport() {
    let jumped = meters {
      $0.run(from: 0, through: 100)
      for second in 101...110 { $0.fix(300, at: Double(second)) }
      $0.fix(2300, at: 111)
      $0.fix(300, at: 112)
      for second in 113...120 { $0.fix(300 + 3 * Double(second - 112), at: Double(second)) }
    }
    #expect(jumped == 324)
  }

  @Test("Two receivers in turn, each of which repeats its position, draw no zigzag")
  func receivers() {
    let ran = meters {
      for second in 0...100 {
        $0.fix(3 * Double(Self.changed(second, every: 4)), at: Double(second))
        $0.fix(40 + 3 * Double(Self.changed(second, every: 4)), at: Double(second) + 0.5, from: "watch")
      }
    }
    #expect(ran == 300)
    let inTurn = meters {
      for turn in 0..<10 {
        for second in 0...5 {
          let device = turn.isMultiple(of: 2) ? "phone" : "watch"
          $0.fix(turn.isMultiple(of: 2) ? 0 : 80, at: Double(turn * 16 + second), from: device)
        }
      }
    }
    #expect(inTurn == 0)
  }

  @Test("Auto-pause stops the clock in a long hold, and no line is drawn across it")
  func autoPause() {
    var settings = MetricsSettings()
    settings.isAutoPauseOn = true
    let ledger = started {
      $0.run(from: 0, through: 100)
      for second in 101...125 { $0.fix(300, at: Double(second)) }
      $0.fix(400, at: 126)
      for second in 127...200 { $0.fix(400 + 3 * Double(second - 126), at: Double(second)) }
    }
    let metrics = ledger.metrics(at: 200, settings: settings)
    #expect((metrics.distanceMeters ?? 0) <= 300 + 3 * 74 + 0.5)
    #expect(metrics.active < .seconds(200))
  }

  @Test("A pause and a bad fix end a hold: time counts from the fix after them")
  func interrupted() {
    let paused = meters {
      $0.run(from: 0, through: 10)
      for second in 11...20 { $0.fix(30, at: Double(second)) }
      $0.press(.pause, at: 20.2)
      $0.press(.resume, at: 21.7)
      $0.fix(30, at: 22)
      $0.fix(90, at: 23)
    }
    #expect(paused == 30)
    let inaccurate = meters {
      $0.run(from: 0, through: 10)
      for second in 11...20 { $0.fix(30, at: Double(second)) }
      $0.fix(30, at: 21, accuracy: 20)
      $0.fix(30, at: 22)
      $0.fix(90, at: 23)
    }
    #expect(inaccurate == 30)
  }

  // What must be measured.

  // Once broken: Whole runs measured 0 m when the receiver repeated each position for four seconds or more.
  @Test("Positions that are held for some seconds measure the whole way", arguments: [2, 3, 4, 6, 10, 18])
  func held(hold: Int) {
    let ledger = started {
      for second in 0...720 { $0.fix(3.4 * Double(Self.changed(second, every: hold)), at: Double(second)) }
    }
    let metrics = ledger.metrics(at: 720)
    #expect(rounded(metrics.distanceMeters) == 2448)
    #expect(ledger.route().allSatisfy { $0.verdict.counts })
    // Each minute has its own share of the way, not that of the moment at which the position changed.
    let pace = 1000 / 3.4
    #expect(abs((metrics.bestPaceSecondsPerKilometer ?? 0) - pace) < 1)
    #expect(abs((metrics.worstPaceSecondsPerKilometer ?? 0) - pace) < 1)
  }

  @Test("Positions that are held now and then, between others that are not")
  func nowAndThen() {
    let ran = meters {
      for second in 0...600 {
        $0.fix(3.4 * Double(second % 60 < 30 ? second : Self.changed(second, every: 5)), at: Double(second))
      }
    }
    #expect(ran == 2040)
  }

  @Test("A position kept from before the run is held until the receiver has one")
  func cached() {
    let ran = meters {
      for second in stride(from: 0, through: 25, by: 5) { $0.fix(0, at: Double(second)) }
      $0.fix(52, at: 31)
      for second in 32...100 { $0.fix(52 + 3 * Double(second - 31), at: Double(second)) }
    }
    #expect(ran == 259)
  }

  // Once broken: A treadmill whose sensor counted on every ten seconds measured nothing.
  @Test("A held pedometer is not one that begins anew", arguments: [4, 10])
  func pedometer(hold: Int) {
    let treadmill = started {
      for second in 0...600 {
        $0.sample(.pedometer(meters: 3.4 * Double(Self.changed(second, every: hold))), at: Double(second))
      }
    }.metrics(at: 600)
    #expect(rounded(treadmill.distanceMeters) == 2040)
    let both = started {
      for second in 0...600 {
        let meters = 3.4 * Double(Self.changed(second, every: hold))
        $0.fix(meters, at: Double(second))
        $0.sample(.pedometer(meters: meters), at: Double(second))
      }
    }.metrics(at: 600)
    #expect(rounded(both.distanceMeters) == 2040)
  }

  @Test("A pedometer that stands for five minutes and then jumps by 300 m has begun anew")
  func pedometerJump() {
    let stood = started {
      $0.step(from: 0, through: 100)
      for second in 101...400 { $0.sample(.pedometer(meters: 300), at: Double(second)) }
      for second in 401...500 { $0.sample(.pedometer(meters: 600 + 3 * Double(second - 401)), at: Double(second)) }
    }.metrics(at: 500)
    #expect(rounded(stood.distanceMeters) == 597)
  }
}
