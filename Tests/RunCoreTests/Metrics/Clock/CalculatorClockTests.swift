import RunCore
import Testing

@Suite("Elapsed and active time")
struct CalculatorClockTests {
  private func clocks(at seconds: Double, _ build: (inout LedgerBuilder) -> Void) -> [Double] {
    var ledger = LedgerBuilder()
    build(&ledger)
    let metrics = ledger.metrics(at: seconds)
    return [metrics.elapsed.seconds, metrics.active.seconds]
  }

  @Test("Before the start nothing has passed, and all numbers are missing")
  func nothing() {
    #expect(LedgerBuilder().metrics(at: 100) == RunMetrics())
  }

  @Test("A pause stops active time and not elapsed time; the stop ends both")
  func phases() {
    func press(_ ledger: inout LedgerBuilder) {
      ledger.press(.start, at: 10)
      ledger.press(.pause, at: 40)
      ledger.press(.resume, at: 100)
      ledger.press(.stop, at: 120)
    }
    #expect(clocks(at: 300, press) == [110, 50])
    #expect(
      clocks(at: 70) {
        $0.press(.start, at: 10); $0.press(.pause, at: 40)
      } == [60, 30])
    #expect(clocks(at: 70) { $0.press(.start, at: 10) } == [60, 60])
    #expect(clocks(at: 5) { $0.press(.start, at: 10) } == [0, 0])
  }

  @Test("A transition that the phase does not allow changes nothing")
  func redundant() {
    let plain = clocks(at: 300) {
      $0.press(.start, at: 10)
      $0.press(.pause, at: 40)
      $0.press(.resume, at: 100)
      $0.press(.stop, at: 120)
    }
    let doubled = clocks(at: 300) {
      for (kind, time) in [
        (CommandKind.pause, 1.0), (.resume, 2), (.stop, 3), (.start, 10), (.start, 12), (.resume, 13),
      ] {
        $0.press(kind, at: time)
      }
      for (kind, time) in [(CommandKind.pause, 40.0), (.pause, 50), (.start, 60), (.resume, 100), (.resume, 101)] {
        $0.press(kind, at: time)
      }
      for (kind, time) in [(CommandKind.stop, 120.0), (.stop, 130), (.resume, 140), (.start, 150)] {
        $0.press(kind, at: time)
      }
    }
    #expect(plain == doubled)
  }

  @Test("A gap counts as elapsed but not as active; where gaps and pauses overlap it is subtracted once")
  func gaps() {
    #expect(
      clocks(at: 100) {
        $0.press(.start, at: 0); $0.gap(at: 20, lasting: 30)
      } == [100, 70])
    #expect(
      clocks(at: 40) {
        $0.press(.start, at: 0); $0.gap(at: 20, lasting: 30)
      } == [40, 20])
    let overlapping = clocks(at: 100) {
      $0.press(.start, at: 0)
      $0.gap(at: 20, lasting: 30)
      $0.gap(at: 40, lasting: 20)
    }
    #expect(overlapping == [100, 60])
    let around = clocks(at: 100) {
      $0.press(.start, at: 0)
      $0.gap(at: 20, lasting: 30)
      $0.press(.pause, at: 30)
      $0.press(.resume, at: 70)
    }
    #expect(around == [100, 50])
    let reaching = clocks(at: 100) {
      $0.press(.start, at: 0)
      $0.press(.pause, at: 10)
      $0.gap(at: 20, lasting: 30)
      $0.press(.resume, at: 40)
    }
    #expect(reaching == [100, 60])
    #expect(
      clocks(at: 100) {
        $0.press(.start, at: 0); $0.gap(at: 20, lasting: -5)
      } == [100, 100])
  }

  @Test("Laps count while a run is on, up to the moment of its stop")
  func laps() {
    var ledger = LedgerBuilder()
    ledger.press(.lap, at: 1)
    ledger.press(.start, at: 10)
    ledger.press(.lap, at: 20)
    ledger.press(.pause, at: 30)
    ledger.press(.lap, at: 40)
    ledger.press(.stop, at: 50)
    ledger.press(.lap, at: 50)
    ledger.press(.lap, at: 60)
    #expect(ledger.metrics(at: 100).lapCount == 3)
  }

  @Test("A reading from a sender whose clock runs ahead does not move the clocks")
  func readingAhead() {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    ledger.sample(.heartRate(bpm: 120), at: 10)
    ledger.sample(.heartRate(bpm: 180), at: 80)
    let metrics = ledger.metrics(at: 20)
    #expect(metrics.elapsed == .seconds(20))
    #expect(metrics.active == .seconds(20))
  }

  @Test("No span that came from outside makes the clocks trap")
  func extremes() {
    for entry in [Int64.min, -1, 0, .max] {
      var calculator = Calculator()
      let change = Author(
        source: .phone, deviceID: LedgerBuilder.device("phone"), commandID: CommandID(high: 0, low: 0))
      let start = Transition(kind: .start, revision: 1, change: change)
      calculator.fold(LedgerEntry(time: BusTime(nanoseconds: entry), position: 1, event: .transition(start)))
      calculator.fold(
        LedgerEntry(time: BusTime(nanoseconds: entry), position: 2, event: .gap(BusDuration(nanoseconds: .max))))
      #expect(calculator.metrics(at: BusTime(nanoseconds: .max)).active >= .zero)
      #expect(calculator.metrics(at: BusTime(nanoseconds: .min)).elapsed >= .zero)
    }
  }
}
