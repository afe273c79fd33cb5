import DequeModule

/// A decided addition to the distance, with its time span.
struct DistanceIncrement: Hashable, Sendable {
  /// What measured it.
  let source: DistanceSource
  let start: BusTime
  let end: BusTime
  let meters: Double
}

/// Measures the distance: the path through the fixes that count, and a pedometer where there are no such fixes or where
/// it contradicts them.
///
/// The meter covers each line with pieces, in order. Without a pedometer a piece is the step from one counted fix to
/// the next; the distance between a fix that does not count and the next one that does is left out. With a pedometer,
/// ``DistanceJudge`` decides pieces of some seconds, and the pedometer covers what positions leave open: from the
/// line's start to its first fix, from the last good fix to the next, and the whole run on a treadmill.
///
/// Positions are not smoothed: over 40 recordings on foot the plain sum has a median error of 0.34 %, and a Kalman filter
/// (constant velocity, ten settings) one of 0.33 to 1.1 %.
struct DistanceMeter: Hashable, Sendable {
  /// The decided metres; `nil` until a reading counts.
  private(set) var meters: Double?
  /// The part of them that a pedometer measured; `nil` when it measured none.
  private(set) var pedometerMeters: Double?
  /// The decided metres and an estimate of the open piece, for display during the run. It never falls, and lags one
  /// reading behind a pedometer. `nil` until a reading counts.
  private(set) var shownMeters: Double?
  /// When the latest reading was taken that counted or still may.
  private(set) var takenAt: BusTime?

  private var filter = FixFilter()
  private var arcs = ArcCorrection()
  private var pedometer = PedometerTrack()
  private var judge = DistanceJudge()
  /// The piece that still grows.
  private var open: DistancePiece?
  /// Pieces that have ended and wait for the pedometer's next reading.
  private var waiting: Deque<DistancePiece> = []
  private var line: Stopwatch.Line?
  /// The end of the last decided piece.
  private var coveredTo: BusTime?

  /// When more pieces wait, the pedometer has stopped, and the oldest piece is decided without it.
  private static let waitingMax = 4
  /// A pedometer's reading this long after the last fix shows a stretch without fixes.
  private static let tailMin = BusDuration.seconds(5)

  /// The accuracy of the latest fix, metres; `nil` when unknown or invalid.
  var accuracyMeters: Double? { filter.accuracyMeters }
  /// Whether a pedometer covers what positions leave open.
  func hasPedometer(at time: BusTime, settings: MetricsSettings) -> Bool {
    pedometer.isAlive(at: time, settings: settings)
  }
  /// When the latest fix was taken, counted or not.
  var fixedAt: BusTime? { filter.latestAt }

  /// Enters another line, or with `nil` leaves the last one. No distance is counted between two lines.
  mutating func enter(
    _ line: Stopwatch.Line?, settings: MetricsSettings, into increments: inout [DistanceIncrement]
  ) {
    finish(settings: settings, into: &increments)
    self.line = line
  }

  /// Receives a fix and returns the verdict on it; `nil` when its coordinates do not exist.
  mutating func fold(
    _ position: Position, from device: DeviceID, at time: BusTime, isAutoPaused: Bool, activity: ActivityMeter,
    settings: MetricsSettings, into increments: inout [DistanceIncrement]
  ) -> FixVerdict? {
    let before = filter.anchor
    guard
      let judgement = filter.judge(
        position, from: device, at: time, line: line?.number, isAutoPaused: isAutoPaused, activity: activity,
        settings: settings)
    else { return nil }
    switch judgement.verdict {
    case .repeated, .otherReceiver, .notRunning, .autoPaused, .unknown: break
    case .stationary:
      // When standing is only inferred, the path stays open and continues with the next counted fix.
      if !activity.isInferred { finish(settings: settings, into: &increments) }
    case .invalid, .inaccurate, .impossibleSpeed: loseTrack(at: time, settings: settings)
    case .anchored:
      takenAt = time
      meters = meters ?? 0
      end(at: pedometer.mark(at: time))
      open = DistancePiece(from: position, at: time, mark: pedometer.mark(at: time))
    case .counted:
      // A fix that repeats the last one is no news: the path goes on with the next position.
      guard let before, let step = judgement.stepMeters else { break }
      takenAt = time
      let added = arcs.metersAdded(from: before, to: position, at: time, meters: step, settings: settings)
      extend(to: position, at: time, by: step + added, from: before, settings: settings)
    }
    decide(at: time, settings: settings, into: &increments)
    show(at: time, settings: settings)
    return judgement.verdict
  }

  /// Receives a pedometer's reading, metres since its own zero.
  mutating func fold(
    pedometerMeters reading: Double, from device: DeviceID, at time: BusTime, activity: ActivityMeter,
    settings: MetricsSettings, into increments: inout [DistanceIncrement]
  ) {
    guard settings.usesPedometer else { return }
    // The start of a piece without positions, if one begins with this reading.
    let start = pedometer.mark(at: min(uncoveredFrom ?? time, time))
    let count = pedometer.count
    guard pedometer.add(reading, from: device, at: time, settings: settings) else { return }
    for index in waiting.indices { waiting[index].interpolate(by: pedometer) }
    open?.interpolate(by: pedometer)
    let isOnFoot = activity.isInferred || activity.activity != .stationary
    // A piece without positions ends when the sensor restarts or a motion sensor says that the runner stands.
    if let piece = open, piece.path == nil, !isOnFoot || pedometer.count != count {
      waiting.append(piece)
      open = nil
    }
    if line != nil, isOnFoot {
      takenAt = time
      meters = meters ?? 0
      if open == nil {
        var piece = DistancePiece(from: pedometer.count == count ? start : pedometer.mark(at: time))
        piece.interpolate(by: pedometer)
        open = piece
      }
      if open?.path == nil { open?.last = pedometer.mark(at: time) }
      // Short pieces, so that splits, laps and the best minute follow changes of pace.
      if let piece = open, piece.path == nil, time - piece.start.time >= settings.pedometerPiece {
        waiting.append(piece)
        open = DistancePiece(from: piece.last)
      }
    }
    decide(at: time, settings: settings, into: &increments)
    show(at: time, settings: settings)
  }

  /// The earliest possible start of a new pedometer piece: the latest of the line's start, the pedometer's last reading
  /// and the end of the decided pieces; `nil` when there is none of these.
  private var uncoveredFrom: BusTime? {
    var from = line?.startedAt
    if let takenAt = pedometer.takenAt { from = max(from ?? takenAt, takenAt) }
    if let coveredTo { from = max(from ?? coveredTo, coveredTo) }
    return from
  }

  /// Ends the open piece and decides all pieces: the line has ended, or the final metrics are wanted.
  mutating func finish(settings: MetricsSettings, into increments: inout [DistanceIncrement]) {
    if let piece = open {
      waiting.append(piece)
      if let tail = tail(of: piece) { waiting.append(tail) }
      open = nil
    }
    arcs.restart()
    while let piece = waiting.popFirst() { count(piece, settings: settings, into: &increments) }
  }

  private mutating func extend(
    to position: Position, at time: BusTime, by step: Double, from before: FixFilter.Fix, settings: MetricsSettings
  ) {
    if open?.path == nil {
      // The path continues from its last fix, although the piece with that fix has ended.
      end(at: pedometer.mark(at: before.time))
      open = DistancePiece(from: before.position, at: before.time, mark: pedometer.mark(at: before.time))
    }
    open?.path?.meters += step
    open?.path?.last = position
    open?.path?.endedAt = time
    open?.last = pedometer.mark(at: time)
    guard let piece = open, let path = piece.path else { return }
    if !pedometer.isAlive(at: time, settings: settings) || time - path.startedAt >= settings.pedometerPiece {
      waiting.append(piece)
      open = DistancePiece(from: position, at: time, mark: piece.last)
    }
  }

  /// Ends the path at its last good fix, because positions have become unusable.
  private mutating func loseTrack(at time: BusTime, settings: MetricsSettings) {
    arcs.restart()
    guard let piece = open, piece.path != nil else { return }
    waiting.append(piece)
    open = pedometer.isAlive(at: time, settings: settings) ? DistancePiece(from: piece.last) : nil
  }

  /// Ends the open piece at the moment at which a path begins.
  private mutating func end(at mark: PedometerTrack.Mark) {
    arcs.restart()
    guard var piece = open else { return }
    if piece.path == nil { piece.last = mark }
    waiting.append(piece)
    open = nil
  }

  /// The piece from a path's last fix to the pedometer's latest reading; `nil` when the two are less than `tailMin`
  /// apart.
  private func tail(of piece: DistancePiece) -> DistancePiece? {
    guard let path = piece.path, let takenAt = pedometer.takenAt, takenAt - path.endedAt >= Self.tailMin else {
      return nil
    }
    var tail = DistancePiece(from: piece.last)
    tail.last = pedometer.mark(at: takenAt)
    return tail
  }

  private mutating func show(at time: BusTime, settings: MetricsSettings) {
    guard var sum = meters else { return }
    let isAlive = pedometer.isAlive(at: time, settings: settings)
    guard !isAlive || (open?.isMeasured ?? true) && waiting.isEmpty else {
      shownMeters = max(shownMeters ?? sum, sum)
      return
    }
    if let open {
      sum += open.increment(by: judge, settings: settings)?.meters ?? 0
      sum += tail(of: open)?.increment(by: judge, settings: settings)?.meters ?? 0
    }
    shownMeters = max(shownMeters ?? sum, sum)
  }

  /// Decides the waiting pieces that can be decided, oldest first, so that increments are in order of time.
  private mutating func decide(
    at time: BusTime, settings: MetricsSettings, into increments: inout [DistanceIncrement]
  ) {
    while let piece = waiting.first {
      guard
        piece.isMeasured || waiting.count > Self.waitingMax || !pedometer.isAlive(at: time, settings: settings)
      else { return }
      waiting.removeFirst()
      count(piece, settings: settings, into: &increments)
    }
  }

  private mutating func count(
    _ piece: DistancePiece, settings: MetricsSettings, into increments: inout [DistanceIncrement]
  ) {
    coveredTo = max(coveredTo ?? piece.last.time, piece.last.time)
    guard let increment = piece.increment(by: judge, settings: settings) else { return }
    piece.teach(&judge)
    meters = (meters ?? 0) + increment.meters
    if increment.source == .pedometer { pedometerMeters = (pedometerMeters ?? 0) + increment.meters }
    if increment.end > increment.start { increments.append(increment) }
  }
}
