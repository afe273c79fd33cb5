import RunCore
import Testing

@Suite("Distance and pace")
struct CalculatorDistanceTests {
  /// The distance of a run, rounded to a centimetre, because the builder's degrees are not exact metres.
  private func meters(_ build: (inout LedgerBuilder) -> Void) -> Double? {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    build(&ledger)
    return ledger.metrics(at: 1000).distanceMeters.map { ($0 * 10).rounded() / 10 }
  }

  @Test("Steps between good fixes add up; without accuracy a fix counts")
  func plain() {
    #expect(meters { $0.run(from: 0, through: 100) } == 300)
    #expect(meters { $0.run(from: 0, through: 100, accuracy: nil) } == 300)
    #expect(meters { _ in } == nil)
    #expect(meters { $0.fix(0, at: 1) } == 0)
  }

  @Test("A fix of 15 m or worse, or an invalid one, does not count, nor does the step after it")
  func accuracy() {
    for bad in [15, 40, -1, Double.nan] {
      #expect(
        meters {
          $0.run(from: 0, through: 10)
          $0.fix(33, at: 11, accuracy: bad)
          $0.run(from: 12, through: 20)
        } == 54)
    }
    #expect(meters { $0.run(from: 0, through: 10, accuracy: 14.99) } == 30)
    #expect(meters { $0.run(from: 0, through: 10, accuracy: 15) } == nil)
  }

  @Test("No line is drawn across a pause; the fix at the very moment of the pause is its last")
  func pause() {
    let withPause = meters {
      $0.run(from: 0, through: 10)
      $0.press(.pause, at: 10)
      $0.run(from: 11, through: 19)
      $0.press(.resume, at: 20)
      $0.run(from: 20, through: 30)
    }
    #expect(withPause == 60)
    let between = meters {
      $0.run(from: 0, through: 10)
      $0.press(.pause, at: 10.5)
      $0.press(.resume, at: 20.5)
      $0.run(from: 21, through: 30)
    }
    #expect(between == 57)
  }

  @Test("No line is drawn across a gap, nor between fixes inside it")
  func gap() {
    let withGap = meters {
      $0.run(from: 0, through: 30)
      $0.gap(at: 10, lasting: 10)
    }
    #expect(withGap == 60)
    let betweenFixes = meters {
      $0.fix(0, at: 0)
      $0.gap(at: 4, lasting: 0.001)
      $0.fix(30, at: 10)
    }
    #expect(betweenFixes == 0)
  }

  @Test("Before the start and after the stop no fix counts; the one at the stop does")
  func ends() {
    var ledger = LedgerBuilder()
    ledger.run(from: 0, through: 30)
    ledger.press(.start, at: 10)
    ledger.press(.stop, at: 20)
    #expect(ledger.metrics(at: 40).distanceMeters.map { $0.rounded() } == 30)
  }

  @Test("Standing breaks the line; an unknown activity does not")
  func activity() {
    let stood = meters {
      $0.run(from: 0, through: 10)
      $0.sample(.motion(.stationary), at: 10.5)
      $0.run(from: 11, through: 20)
      $0.sample(.motion(.running), at: 20.5)
      $0.run(from: 21, through: 30)
    }
    #expect(stood == 57)
    let unknown = meters {
      $0.sample(.motion(.unknown), at: 0)
      $0.run(from: 0, through: 10)
      $0.sample(.motion(.walking), at: 10.5)
      $0.run(from: 11, through: 20)
    }
    #expect(unknown == 60)
  }

  @Test("An impossible jump is not counted, and the track restarts after it")
  func jump() {
    let jumped = meters {
      $0.run(from: 0, through: 10)
      $0.fix(33 + 500, at: 11)
      $0.run(from: 12, through: 20)
    }
    #expect(jumped == 54)
  }

  @Test("Repeated fixes and impossible coordinates are ignored")
  func ignored() {
    let repeated = meters {
      for second in 0...20 {
        $0.fix(Double(second) * 3, at: Double(second))
        $0.fix(Double(second) * 3 + 7, at: Double(second))
        $0.sample(.position(Position(latitude: .nan, longitude: 8)), at: Double(second) + 0.25)
        $0.sample(.position(Position(latitude: 91, longitude: 8)), at: Double(second) + 0.5)
        $0.sample(.position(Position(latitude: 50, longitude: .infinity)), at: Double(second) + 0.75)
      }
    }
    #expect(repeated == 60)
  }

  @Test("Two receivers give one line; the second is used when the first falls silent")
  func devices() {
    let together = meters {
      for second in 0...20 {
        $0.fix(Double(second) * 3, at: Double(second))
        $0.fix(Double(second) * 3 + 10, at: Double(second) + 0.5, from: "watch")
      }
      for second in 21...60 { $0.fix(Double(second) * 3 + 10, at: Double(second) + 0.5, from: "watch") }
    }
    #expect(together == 150)
  }

  @Test("Current pace covers the last half minute and is missing when standing, stale, paused or over")
  func currentPace() throws {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    ledger.run(from: 0, through: 60, at: 2)
    for second in 61...120 { ledger.fix(120 + Double(second - 60) * 4, at: Double(second)) }
    let pace = try #require(ledger.metrics(at: 120).currentPaceSecondsPerKilometer)
    #expect(abs(pace - 250) < 1)
    let average = try #require(ledger.metrics(at: 120).averagePaceSecondsPerKilometer)
    #expect(abs(average - 1000 / 3) < 1)
    #expect(ledger.metrics(at: 150).currentPaceSecondsPerKilometer != nil)
    #expect(ledger.metrics(at: 150.1).currentPaceSecondsPerKilometer == nil)

    var paused = ledger
    paused.press(.pause, at: 121)
    #expect(paused.metrics(at: 122).currentPaceSecondsPerKilometer == nil)
    paused.press(.resume, at: 130)
    #expect(paused.metrics(at: 131).currentPaceSecondsPerKilometer == nil)
    var stopped = ledger
    stopped.press(.stop, at: 120)
    #expect(stopped.metrics(at: 120).currentPaceSecondsPerKilometer == nil)
    #expect(stopped.metrics(at: 999).averagePaceSecondsPerKilometer == average)
    for second in 121...200 { ledger.fix(360, at: Double(second)) }
    #expect(ledger.metrics(at: 200).currentPaceSecondsPerKilometer == nil)
  }

  @Test("Pace is the same with ten fixes a second, and the buffer stays bounded")
  func denseFixes() throws {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    for tenth in 0...1200 { ledger.fix(Double(tenth) * 0.3, at: Double(tenth) / 10) }
    let pace = try #require(ledger.metrics(at: 120).currentPaceSecondsPerKilometer)
    #expect(abs(pace - 1000 / 3) < 1)
  }

  @Test("The accuracy is that of the latest fix, counted or not; invalid and unstated ones are missing")
  func shownAccuracy() {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    ledger.fix(0, at: 1, accuracy: 40)
    #expect(ledger.metrics(at: 2).positionAccuracyMeters == 40)
    ledger.fix(0, at: 3, accuracy: -1)
    #expect(ledger.metrics(at: 4).positionAccuracyMeters == nil)
  }
}
