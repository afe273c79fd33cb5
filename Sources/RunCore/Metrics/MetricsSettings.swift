/// The thresholds of the metrics. Two nodes with the same settings and the same ledger show the same digits.
public struct MetricsSettings: Hashable, Sendable {
  /// A fix counts when its accuracy radius is below this, metres.
  public var accuracyMetersLimit = 15.0
  /// A faster step is a jump of the receiver, metres per second. The fastest sprint ever measured peaked at about
  /// 12.4 m/s (100 m, Berlin 2009).
  public var stepSpeedMax = 12.5
  /// Fixes of a second device are taken once the first has been silent this long: two receivers side by side would
  /// otherwise draw a zigzag.
  public var positionTakeover = BusDuration.seconds(10)
  /// What the runner chose.
  public var setup = RunSetup()
  /// The runner's weight, kilograms; without it there is no energy.
  public var weightKilograms: Double? {
    get { setup.weightKilograms }
    set { setup.weightKilograms = newValue }
  }
  /// The clock stands while the runner does.
  public var isAutoPauseOn: Bool {
    get { setup.isAutoPauseOn }
    set { setup.isAutoPauseOn = newValue }
  }
  /// It does so once the runner has stood this long: longer than it takes to tie a shoe badly, shorter than a red light.
  public var autoPauseAfter = BusDuration.seconds(5)
  /// It goes on once the runner has moved this long, by speed and cadence; at once when a motion sensor says so.
  public var autoResumeAfter = BusDuration.seconds(2)
  /// A pedometer fills in where positions are missing or contradict it.
  public var usesPedometer: Bool {
    get { setup.usesPedometer }
    set { setup.usesPedometer = newValue }
  }
  /// Pieces in which positions and pedometer are compared: long enough that a metre of noise is a few per cent, short
  /// enough that a bad stretch does not spoil its neighbours.
  public var pedometerPiece = BusDuration.seconds(10)
  /// Positions count where they agree with the calibrated pedometer within this share.
  public var pedometerToleranceShare = 0.01
  /// A pedometer that has been silent this long is not there.
  public var pedometerSilence = BusDuration.seconds(30)
  /// Steps between fixes that take at least this long follow a bend; see ``ArcCorrection``.
  public var arcStepMin = BusDuration.seconds(5)
  /// Shorter steps, in metres, have no heading worth the name.
  public var arcStepMetersMin = 5.0
  /// A sharper turn, radians, is a corner.
  public var arcTurnMax = Double.pi / 3
  /// Current pace looks back this far: short enough to follow an interval, long enough to average GPS noise, and it
  /// spans the longest steps (18 s) that watches with smart recording make.
  public var paceWindow = BusDuration.seconds(30)
  /// Current pace needs fixes that lie at least this far apart.
  public var paceSpanMin = BusDuration.seconds(5)
  /// Current pace is unknown when the latest counted fix is older.
  public var paceStaleAfter = BusDuration.seconds(30)
  /// Below this speed, metres per second, there is no current pace: nobody walks slower than 33 minutes a kilometre.
  public var paceSpeedMin = 0.5
  /// Average pace is unknown before this many metres: less is the noise of the first fixes.
  public var averagePaceDistanceMetersMin = 10.0
  /// A heart rate stands until the next one, at most for this much active time.
  public var heartRateHold = BusDuration.seconds(30)
  /// A higher heart rate is no heart's, beats per minute: the highest that age formulas give is 220 (220 minus the age;
  /// Tanaka et al., J Am Coll Cardiol 37, 2001: 208 minus 0.7 times the age), and some hearts lie 20 above theirs.
  public var heartRateBpmMax = 250.0
  /// A faster change needs confirmation, beats per minute per second. From rest to a run at 5 m/s, a first-order heart
  /// with a gain of 24 bpm per m/s and a time constant of 58 s (doi 10.1186/s12938-015-0112-7, 24 men) begins with
  /// 2 bpm/s; this is five times that.
  public var heartRateSlopeMax = 10.0
  /// Readings that agree with each other for this long are believed, however far they lie from those before.
  public var heartRateConfirmation = BusDuration.seconds(5)
  /// More steps of both feet per minute are nonsense: the best sprinters take fewer than five a second (Salo et al., Med
  /// Sci Sports Exerc 43, 2011).
  public var cadenceStepsPerMinuteMax = 300.0
  /// A cadence stands until the next one, at most for this much active time.
  public var cadenceHold = BusDuration.seconds(30)
  /// The time constant of the low-pass that altitudes go through.
  public var altitudeSmoothing = BusDuration.seconds(5)
  /// The smoothed altitude changes no faster, metres per second: a faster change is the sensor's. The record of the
  /// vertical kilometre (27:21 minutes, Fully 2025) is 0.61 m/s.
  public var verticalSpeedMax = 1.0
  /// A climb or descent by a pressure sensor counts once it exceeds this many smoothed metres. A hill of 2 m, the
  /// threshold that Strava documents, keeps about so much of its height in the low-pass.
  public var barometerElevationMetersThreshold = 1.5
  /// The same for recordings, which do not say what measured their altitudes; watches have filtered them already.
  public var recordedElevationMetersThreshold = 1.5
  /// The same for raw satellite altitudes, which wander by some metres within a minute: more than without a pressure
  /// sensor would be noise. Strava asks for 10 m there.
  public var gpsElevationMetersThreshold = 5.0
  /// Satellite altitudes count again once a pressure sensor has been silent this long.
  public var barometerSilence = BusDuration.seconds(60)
  /// Where no motion sensor says what the runner does, this speed and more is running, metres per second. People change
  /// from a walk to a run at about 2.0 to 2.1 m/s (Hreljac, "Preferred and energetically optimal gait transition speeds in
  /// human locomotion", Med Sci Sports Exerc 25, 1993; Rotstein et al., the same 37, 2005: 7.2 to 7.4 km/h).
  public var runningSpeedMin = 2.1
  /// The time constant of the low-pass of the speed by which the energy tells walking from running.
  public var runningSpeedSmoothing = BusDuration.seconds(10)
  /// The same for the cadence, steps of both feet per minute: walkers' ends there (Tudor-Locke et al., CADENCE-adults,
  /// IJBNPA 16:8, 2019: vigorous from 130 on; Hum Mov Sci 90, 2023: people change at 135 to 140).
  public var runningCadenceStepsPerMinuteMin = 140.0
  /// The grade under the runner is the rise over this many metres back.
  public var gradeDistanceMeters = 50.0
  /// Until so many metres are known, the ground is taken as level.
  public var gradeDistanceMetersMin = 20.0
  /// A steeper grade is an error of the altitude: the steepest at which walking and running were measured (Minetti et
  /// al., J Appl Physiol 93, 2002).
  public var gradeMax = 0.45

  /// The product's thresholds.
  public init() {}

  /// Whether whoever moves so runs: one of the two is enough, and what is unknown says nothing.
  func isRunning(speed: Double? = nil, cadenceStepsPerMinute: Double? = nil) -> Bool {
    (speed ?? 0) >= runningSpeedMin || (cadenceStepsPerMinute ?? 0) >= runningCadenceStepsPerMinuteMin
  }
}
