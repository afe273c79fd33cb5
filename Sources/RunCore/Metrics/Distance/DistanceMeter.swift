import DequeModule

/// Some metres covered, and when.
struct DistanceIncrement: Hashable, Sendable {
  /// What measured them.
  let source: DistanceSource
  let start: BusTime
  let end: BusTime
  let meters: Double
}

/// Metres covered: the path through the fixes that count, and a pedometer where there are none or where it contradicts
/// them.
///
/// Every line is covered piece by piece, in order. Without a pedometer a piece is the step from one counted fix to the
/// next, and what lies between a fix that did not count and the next that does is not covered at all. With one, pieces
/// of some seconds are weighed by ``DistanceJudge``, and the pedometer covers what positions leave open: from the line's
/// start to its first fix, from the last good fix to the next, and all of it on a treadmill.
struct DistanceMeter: Hashable, Sendable {
  /// The decided metres; `nil` while nothing has counted.
  private(set) var meters: Double?
  /// How many of these a pedometer measured; `nil` where none did.
  private(set) var pedometerMeters: Double?
  /// The sum with what is still open as far as it can be told, for display along the way: it never falls, and lags a
  /// reading behind a pedometer. `nil` while nothing has counted.
  private(set) var shownMeters: Double?
  /// The latest reading that counted or could have.
  private(set) var takenAt: BusTime?

  private var filter = FixFilter()
  private var arcs = ArcCorrection()
  private var pedometer = PedometerTrack()
  private var judge = DistanceJudge()
  /// The piece that grows.
  private var open: DistancePiece?
  /// Pieces that ended, and wait for the pedometer's next reading.
  private var waiting: Deque<DistancePiece> = []
  private var line: Stopwatch.Line?
  /// Up to where the line is covered by pieces that ended.
  private var coveredTo: BusTime?

  /// Waiting for more than a reading or two means that the pedometer has stopped: the oldest piece is decided without.
  private static let waitingMax = 4
  /// A pedometer that speaks so long after the last fix speaks of a stretch without fixes.
  private static let tailMin = BusDuration.seconds(5)

  /// The accuracy of the latest fix, metres; `nil` when unknown or invalid.
  var accuracyMeters: Double? { filter.accuracyMeters }
  /// A pedometer covers what positions leave open.
  func hasPedometer(at time: BusTime, settings: MetricsSettings) -> Bool {
    pedometer.isAlive(at: time, settings: settings)
  }
  /// When the latest fix was taken, counted or not.
  var fixedAt: BusTime? { filter.latestAt }

  /// Enters another line, or leaves the last one: nothing is covered from one to the other.
  mutating func enter(
    _ line: Stopwatch.Line?, settings: MetricsSettings, into increments: inout [DistanceIncrement]
  ) {
    finish(settings: settings, into: &increments)
    self.line = line
  }

  /// Takes a fix; `nil` when its coordinates do not exist.
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
    case .repeated, .otherReceiver, .notRunning, .autoPaused: break
    case .stationary:
      // Standing that is only inferred leaves everything as it is: the path goes on when the runner does.
      if !activity.isInferred { finish(settings: settings, into: &increments) }
    case .invalid, .inaccurate, .impossibleSpeed: loseTrack(at: time, settings: settings)
    case .anchored:
      takenAt = time
      meters = meters ?? 0
      end(at: pedometer.mark(at: time))
      open = DistancePiece(from: position, at: time, mark: pedometer.mark(at: time))
    case .counted:
      takenAt = time
      guard let before, let step = judgement.stepMeters else { break }
      let added = arcs.metersAdded(from: before, to: position, at: time, meters: step, settings: settings)
      extend(to: position, at: time, by: step + added, from: before, settings: settings)
    }
    decide(at: time, settings: settings, into: &increments)
    show(at: time, settings: settings)
    return judgement.verdict
  }

  /// Takes a pedometer's reading: metres since its own zero.
  mutating func fold(
    pedometerMeters reading: Double, from device: DeviceID, at time: BusTime, activity: ActivityMeter,
    settings: MetricsSettings, into increments: inout [DistanceIncrement]
  ) {
    guard settings.usesPedometer else { return }
    // Where a piece begins that positions have not begun.
    let start = pedometer.mark(at: min(uncoveredFrom ?? time, time))
    let count = pedometer.count
    guard pedometer.add(reading, from: device, at: time, settings: settings) else { return }
    for index in waiting.indices { waiting[index].interpolate(by: pedometer) }
    open?.interpolate(by: pedometer)
    let isOnFoot = activity.isInferred || activity.activity != .stationary
    // Steps end where the sensor begins anew, and while a motion sensor says that the runner stands.
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
      // Pieces of some seconds, so that splits, laps and the best minute see how the pace changes.
      if let piece = open, piece.path == nil, time - piece.start.time >= settings.pedometerPiece {
        waiting.append(piece)
        open = DistancePiece(from: piece.last)
      }
    }
    decide(at: time, settings: settings, into: &increments)
    show(at: time, settings: settings)
  }

  /// As far back as the line and the pedometer go, and what ended leaves open; `nil` when there is none of these.
  private var uncoveredFrom: BusTime? {
    var from = line?.startedAt
    if let takenAt = pedometer.takenAt { from = max(from ?? takenAt, takenAt) }
    if let coveredTo { from = max(from ?? coveredTo, coveredTo) }
    return from
  }

  /// Ends what is open: the line has ended, or the whole account is wanted.
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
      // The path goes on after a stretch that was closed for another reason.
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

  /// Positions have become useless: what was covered by them ends with the last good one.
  private mutating func loseTrack(at time: BusTime, settings: MetricsSettings) {
    arcs.restart()
    guard let piece = open, piece.path != nil else { return }
    waiting.append(piece)
    open = pedometer.isAlive(at: time, settings: settings) ? DistancePiece(from: piece.last) : nil
  }

  /// Ends what is open at a moment at which a path begins.
  private mutating func end(at mark: PedometerTrack.Mark) {
    arcs.restart()
    guard var piece = open else { return }
    if piece.path == nil { piece.last = mark }
    waiting.append(piece)
    open = nil
  }

  /// What the pedometer has covered after a path's last fix.
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

  /// Decides what can be, oldest first: increments come in the order of time.
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
