/// The thresholds of the metrics. Two nodes with the same settings and the same ledger show the same digits.
public struct MetricsSettings: Hashable, Sendable {
  /// A fix counts when its accuracy radius is below this, metres. 15 m: the design, section 7.
  public var accuracyMetersLimit = 15.0
  /// A faster step is a jump of the receiver, metres per second. The fastest sprint ever measured peaked at about
  /// 12.4 m/s (100 m, Berlin 2009).
  public var stepSpeedMax = 12.5
  /// Fixes of a second device are taken once the first has been silent this long: two receivers side by side would
  /// otherwise draw a zigzag.
  public var positionTakeover = BusDuration.seconds(10)
  /// The runner's weight, kilograms; without it there is no energy.
  public var weightKilograms: Double?
  /// The clock stands while the runner does.
  public var isAutoPauseOn = false
  /// It does so once the runner has stood this long: longer than it takes to tie a shoe badly, shorter than a red light.
  public var autoPauseAfter = BusDuration.seconds(5)
  /// It goes on once the runner has moved this long, by speed and cadence; at once when a motion sensor says so.
  public var autoResumeAfter = BusDuration.seconds(2)
  /// A pedometer fills in where positions are missing or contradict it.
  public var usesPedometer = true
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
  /// The time constant of the low-pass that altitudes go through.
  public var altitudeSmoothing = BusDuration.seconds(5)
  /// A climb or descent counts once it exceeds this many metres by a pressure sensor, whose noise is small.
  public var barometerElevationMetersThreshold = 2.0
  /// The same by satellite, whose altitude wanders by some metres within a minute.
  public var gpsElevationMetersThreshold = 5.0
  /// Satellite altitudes count again once a pressure sensor has been silent this long.
  public var barometerSilence = BusDuration.seconds(60)

  /// The product's thresholds.
  public init() {}
}
