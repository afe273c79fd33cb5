import RunCore
import Testing

@Suite("The activity, and a clock that stops when the runner stands")
struct ActivityTests {
  private let autoPausing = {
    var settings = MetricsSettings()
    settings.isAutoPauseOn = true
    return settings
  }()

  @Test("Without a motion sensor the activity follows from speed and cadence")
  func inference() {
    func activity(speed: Double?, cadence: Double?, motion: MotionActivity? = nil) -> RunMetrics {
      var ledger = LedgerBuilder()
      ledger.press(.start, at: 0)
      for second in 0...30 {
        if let speed { ledger.fix(Double(second) * speed, at: Double(second)) }
        if let cadence { ledger.sample(.cadence(stepsPerMinute: cadence), at: Double(second)) }
      }
      if let motion { ledger.sample(.motion(motion), at: 10) }
      return ledger.metrics(at: 30)
    }
    #expect(activity(speed: nil, cadence: nil).activity == .unknown)
    #expect(activity(speed: 3, cadence: nil).activity == .running)
    #expect(activity(speed: 1.4, cadence: nil).activity == .walking)
    #expect(activity(speed: 1.8, cadence: 150).activity == .running)
    #expect(activity(speed: 0, cadence: 0).activity == .stationary)
    #expect(activity(speed: 0, cadence: 160).activity == .running)
    #expect(activity(speed: nil, cadence: 100).activity == .walking)
    #expect(activity(speed: 3, cadence: nil).isActivityInferred)
    let sensed = activity(speed: 3, cadence: 160, motion: .walking)
    #expect(sensed.activity == .walking && !sensed.isActivityInferred)
    let unsure = activity(speed: 3, cadence: 160, motion: .unknown)
    #expect(unsure.activity == .running && unsure.isActivityInferred)
  }

  @Test("A pedometer shows movement that positions do not show: on a treadmill and on a slow climb")
  func byPedometer() {
    var treadmill = LedgerBuilder()
    treadmill.press(.start, at: 0)
    treadmill.step(from: 0, through: 60, at: 3)
    #expect(treadmill.metrics(at: 60).activity == .running)

    var climb = LedgerBuilder()
    climb.press(.start, at: 0)
    for second in 0...300 {
      climb.fix(Double(second) * 0.1, at: Double(second))
      climb.sample(.pedometer(meters: Double(second) * 0.6), at: Double(second))
    }
    #expect(climb.metrics(at: 300, settings: autoPausing).active == .seconds(300))
    #expect(climb.metrics(at: 300).activity == .walking)
  }

  @Test("Positions that wander around a standing runner add nothing, and the path continues afterwards")
  func standing() throws {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    for second in 0...120 {
      let meters = second < 30 ? Double(second) * 3 : second < 90 ? 90 + (second.isMultiple(of: 2) ? 0.7 : 0) : 0
      ledger.fix(second < 90 ? meters : 90 + Double(second - 90) * 3, at: Double(second))
      ledger.sample(.cadence(stepsPerMinute: (30..<90).contains(second) ? 0 : 170), at: Double(second))
    }
    let distance = try #require(ledger.metrics(at: 120).distanceMeters)
    #expect(abs(distance - 180) < 10, "\(distance)")
    #expect(ledger.route().contains { $0.verdict == .stationary })
  }

  // Once broken: A walk behind a lawn mower lost 8 % of its way: a quarter of its positions were taken for standing,
  // because a cadence of zero counted as feet that stand, although the watch had counted no steps all along.
  @Test(
    "A cadence that stays at zero while the runner walks on, as behind a pram, does not make turns a stand",
    arguments: [(0.0, 300.0), (100.0, 75.0)])
  func uncountedSteps(cadence: Double, expected: Double) {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    for step in 0...80 {
      let second = Double(step * 3)
      // Straight on for a minute, then to and fro on 7.5 m, at 1.25 m/s.
      let place = step <= 20 ? 3.75 * Double(step) : 75 + 3.75 * Double([0, 1, 2, 1][(step - 20) % 4])
      ledger.fix(place, at: second)
      ledger.sample(.cadence(stepsPerMinute: step <= 20 ? cadence : 0), at: second)
    }
    // A cadence that had counted the steps before shows that the runner stands and the receiver wanders.
    #expect(abs((ledger.metrics(at: 240).distanceMeters ?? 0) - expected) < 12)
  }

  @Test("The clock stops five seconds after the runner and continues with the runner")
  func autoPause() {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    for second in 0...100 { ledger.sample(.heartRate(bpm: 120), at: Double(second)) }
    ledger.sample(.motion(.running), at: 0)
    ledger.sample(.motion(.stationary), at: 20)
    ledger.sample(.motion(.running), at: 60)
    #expect(ledger.metrics(at: 100, settings: autoPausing).active == .seconds(65))
    #expect(ledger.metrics(at: 100, settings: autoPausing).elapsed == .seconds(100))
    #expect(ledger.metrics(at: 100).active == .seconds(100))
  }

  @Test("During an auto-pause the state says so and asks for the motion sensor only")
  func autoPaused() {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    ledger.sample(.motion(.stationary), at: 5)
    ledger.sample(.heartRate(bpm: 100), at: 11)
    ledger.fix(0, at: 12)
    let metrics = ledger.metrics(at: 20, settings: autoPausing)
    #expect(metrics.isAutoPaused && metrics.active == .seconds(11))
    var snapshot = Snapshot.none
    snapshot.phase = .running
    snapshot.metrics = metrics
    #expect(snapshot.sensors == .motion)
    snapshot.metrics.isActivityInferred = true
    #expect(snapshot.sensors == .all)
    snapshot.phase = .paused
    #expect(snapshot.sensors == .off)
    #expect(ledger.route(settings: autoPausing).map(\.verdict) == [.autoPaused])
  }

  @Test("A pause by hand is never overridden: moving does not end it")
  func manualPause() {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    ledger.sample(.motion(.running), at: 1)
    ledger.press(.pause, at: 10)
    ledger.sample(.motion(.stationary), at: 11)
    ledger.sample(.motion(.running), at: 30)
    ledger.sample(.heartRate(bpm: 100), at: 40)
    #expect(ledger.metrics(at: 50, settings: autoPausing).active == .seconds(10))
    ledger.press(.resume, at: 60)
    #expect(ledger.metrics(at: 70, settings: autoPausing).active == .seconds(20))
    #expect(!ledger.metrics(at: 70, settings: autoPausing).isAutoPaused)
  }

  @Test("A pause by hand replaces an auto-pause, and its resume starts the clock")
  func manualOverAuto() {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    ledger.sample(.motion(.stationary), at: 5)
    ledger.sample(.heartRate(bpm: 100), at: 10)
    ledger.press(.pause, at: 20)
    ledger.press(.resume, at: 30)
    let metrics = ledger.metrics(at: 40, settings: autoPausing)
    #expect(!metrics.isAutoPaused && metrics.active == .seconds(20))
  }

  @Test("By speed alone a short stop is no auto-pause; a longer one lasts until two seconds of movement")
  func hysteresis() {
    func active(standing: Int) -> Double {
      var ledger = LedgerBuilder()
      ledger.press(.start, at: 0)
      for second in 0...(100 + standing) {
        let moved = second <= 50 ? second : max(50, second - standing)
        ledger.fix(Double(moved) * 3, at: Double(second))
      }
      return ledger.metrics(at: Double(100 + standing), settings: autoPausing).active.seconds
    }
    #expect(active(standing: 8) == 108)
    let paused = active(standing: 60)
    #expect(paused > 105 && paused < 120, "\(paused)")
  }
}
