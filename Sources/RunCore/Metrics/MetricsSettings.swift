/// The thresholds of the metrics. The same settings and the same ledger give the same digits on every node.
public struct MetricsSettings: Hashable, Sendable {
  /// A fix counts when its accuracy radius is below this, metres.
  public var accuracyMetersLimit = 15.0
  /// A faster step between fixes is a jump of the receiver, metres per second. The fastest sprint ever measured peaked
  /// at about 12.4 m/s (100 m, Berlin 2009).
  public var stepSpeedMax = 12.5
  /// A position that repeats for up to this long is held by the receiver until it has the next one, and the time for the
  /// next step counts from its first fix. One that repeats for longer is standing, or a receiver that has lost the way.
  public var positionHoldMax = BusDuration.seconds(30)
  /// Fixes of a second device are used after the first device has been silent for this long. Using both would draw a
  /// zigzag between two receivers.
  public var positionTakeover = BusDuration.seconds(10)
  /// The runner's choices.
  public var setup = RunSetup()
  /// The runner's weight, kilograms; without it there is no energy.
  public var weightKilograms: Double? {
    get { setup.weightKilograms }
    set { setup.weightKilograms = newValue }
  }
  /// Whether the clock stops while the runner stands still.
  public var isAutoPauseOn: Bool {
    get { setup.isAutoPauseOn }
    set { setup.isAutoPauseOn = newValue }
  }
  /// Auto-pause stops the clock after the runner has stood for this long: longer than a moment's hesitation, shorter
  /// than a red light.
  public var autoPauseAfter = BusDuration.seconds(5)
  /// Auto-pause restarts the clock after the runner has moved for this long by speed and cadence, or at once when a
  /// motion sensor reports it.
  public var autoResumeAfter = BusDuration.seconds(2)
  /// Whether a pedometer measures the distance where positions are missing or contradict it.
  public var usesPedometer: Bool {
    get { setup.usesPedometer }
    set { setup.usesPedometer = newValue }
  }
  /// The length of the pieces in which positions and pedometer are compared: long enough that a metre of noise is only
  /// a few per cent, short enough that a bad stretch does not affect its neighbours.
  public var pedometerPiece = BusDuration.seconds(10)
  /// Positions count where they agree with the calibrated pedometer within this share.
  public var pedometerToleranceShare = 0.01
  /// A pedometer that has been silent for longer than this counts as absent.
  public var pedometerSilence = BusDuration.seconds(30)
  /// Only steps between fixes that take at least this long are lengthened in bends.
  public var arcStepMin = BusDuration.seconds(5)
  /// The heading of a shorter step, metres, is too uncertain for the correction.
  public var arcStepMetersMin = 5.0
  /// A sharper turn, radians, is a corner, which is not lengthened.
  public var arcTurnMax = Double.pi / 3
  /// Current pace is measured over this span: short enough to follow an interval, long enough to average GPS noise, and
  /// longer than the longest steps (18 s) of watches with smart recording.
  public var paceWindow = BusDuration.seconds(30)
  /// Current pace needs two readings at least this far apart.
  public var paceSpanMin = BusDuration.seconds(5)
  /// Current pace is unknown when the latest counted reading is older.
  public var paceStaleAfter = BusDuration.seconds(30)
  /// Below this speed, metres per second, there is no current pace; it is slower than walking (33 minutes a kilometre).
  public var paceSpeedMin = 0.5
  /// Average pace is unknown before this many metres, which may be only the noise of the first fixes.
  public var averagePaceDistanceMetersMin = 10.0
  /// In the mean a heart rate holds until the next one, at most for this much active time.
  public var heartRateHold = BusDuration.seconds(30)
  /// A higher heart rate, beats per minute, is dropped. Age formulas give at most 220 (220 minus the age; Tanaka et
  /// al., J Am Coll Cardiol 37, 2001: 208 minus 0.7 times the age), and some people exceed theirs by 20.
  public var heartRateBpmMax = 250.0
  /// A faster change of the heart rate, beats per minute per second, needs confirmation. From rest to a run at 5 m/s a
  /// first-order model with a gain of 24 bpm per m/s and a time constant of 58 s (doi 10.1186/s12938-015-0112-7, 24
  /// men) begins with 2 bpm/s; this limit is five times that.
  public var heartRateSlopeMax = 10.0
  /// Readings that agree with each other for this long are accepted, however much they differ from those before.
  public var heartRateConfirmation = BusDuration.seconds(5)
  /// A higher cadence, steps of both feet per minute, is dropped: the best sprinters take fewer than five steps a
  /// second (Salo et al., Med Sci Sports Exerc 43, 2011).
  public var cadenceStepsPerMinuteMax = 300.0
  /// In the mean a cadence holds until the next one, at most for this much active time.
  public var cadenceHold = BusDuration.seconds(30)
  /// The time constant of the low-pass filter for altitudes.
  public var altitudeSmoothing = BusDuration.seconds(5)
  /// The smoothed altitude changes no faster than this, metres per second; a faster change is an error of the sensor.
  /// The record of the vertical kilometre (27:21 minutes, Fully 2025) is 0.61 m/s.
  public var verticalSpeedMax = 1.0
  /// A climb or descent by a pressure sensor counts when it reaches this many smoothed metres. The low-pass filter
  /// leaves about this much of a hill of 2 m, the threshold that Strava documents.
  public var barometerElevationMetersThreshold = 1.5
  /// The same for recordings, which do not state the sensor of their altitudes; watches have filtered them already.
  public var recordedElevationMetersThreshold = 1.5
  /// The same for raw satellite altitudes, which drift by some metres within a minute. Strava uses 10 m for them.
  public var gpsElevationMetersThreshold = 5.0
  /// Satellite altitudes count again after a pressure sensor has been silent for this long.
  public var barometerSilence = BusDuration.seconds(60)
  /// Without a motion sensor this speed and more counts as running, metres per second. People change from walking to
  /// running at about 2.0 to 2.1 m/s (Hreljac, "Preferred and energetically optimal gait transition speeds in human
  /// locomotion", Med Sci Sports Exerc 25, 1993; Rotstein et al., the same journal 37, 2005: 7.2 to 7.4 km/h).
  public var runningSpeedMin = 2.1
  /// The time constant of the low-pass filter for the speed from which energy is computed.
  public var runningSpeedSmoothing = BusDuration.seconds(10)
  /// Without a motion sensor this cadence and more counts as running, steps of both feet per minute. Walking ends below
  /// it (Tudor-Locke et al., CADENCE-adults, IJBNPA 16:8, 2019: vigorous from 130 on; Hum Mov Sci 90, 2023: people
  /// change at 135 to 140).
  public var runningCadenceStepsPerMinuteMin = 140.0
  /// The grade under the runner is the rise over the last metres of this length.
  public var gradeDistanceMeters = 50.0
  /// The ground counts as level until the altitude is known over this many metres.
  public var gradeDistanceMetersMin = 20.0
  /// The grade is limited to the steepest at which walking and running were measured (Minetti et al., J Appl Physiol
  /// 93, 2002); a steeper one is an error of the altitude.
  public var gradeMax = 0.45

  /// The product's thresholds.
  public init() {}

  /// Whether a speed or a cadence is that of running. One of them is enough; `nil` stands for unknown.
  func isRunning(speed: Double? = nil, cadenceStepsPerMinute: Double? = nil) -> Bool {
    (speed ?? 0) >= runningSpeedMin || (cadenceStepsPerMinute ?? 0) >= runningCadenceStepsPerMinuteMin
  }
}
