/// The numbers of a run that a lock screen shows. A value that is unknown or too old to describe the present is `nil`.
///
/// Distance and paces are those of the snapshot, so that a screen cuts them to the same digits as every other face of the
/// run, in kilometres as in miles. The others are rounded to what is visible.
public struct LiveNumbers: Hashable, Sendable {
  /// Metres covered.
  public var distanceMeters: Double?
  /// Seconds per kilometre over the last 30 s.
  public var paceSecondsPerKilometer: Double?
  /// Active seconds per kilometre over the whole run.
  public var averagePaceSecondsPerKilometer: Double?
  /// The latest heart rate, beats per minute.
  public var heartRateBpm: Int?
  /// Metres climbed.
  public var elevationGainMeters: Int?
  /// The number of laps marked by command.
  public var lapCount: Int

  /// Numbers from their parts.
  public init(
    distanceMeters: Double? = nil, paceSecondsPerKilometer: Double? = nil,
    averagePaceSecondsPerKilometer: Double? = nil, heartRateBpm: Int? = nil, elevationGainMeters: Int? = nil,
    lapCount: Int = 0
  ) {
    self.distanceMeters = distanceMeters
    self.paceSecondsPerKilometer = paceSecondsPerKilometer
    self.averagePaceSecondsPerKilometer = averagePaceSecondsPerKilometer
    self.heartRateBpm = heartRateBpm
    self.elevationGainMeters = elevationGainMeters
    self.lapCount = lapCount
  }

  /// What is visible of the metrics of a run. Distance, averages and climb stay when their readings stop: they describe
  /// the run. Pace and heart rate describe the present and go after ``Metric/staleAfter``.
  public init(_ metrics: RunMetrics) {
    func whole(_ value: Double?) -> Int? { value.flatMap { Int(exactly: $0.rounded()) } }
    distanceMeters = metrics.distanceMeters
    paceSecondsPerKilometer = metrics.isStale(.distance) ? nil : metrics.currentPaceSecondsPerKilometer
    averagePaceSecondsPerKilometer = metrics.averagePaceSecondsPerKilometer
    heartRateBpm = metrics.isStale(.heartRate) ? nil : whole(metrics.heartRateBpm)
    elevationGainMeters = whole(metrics.elevationGainMeters)
    lapCount = metrics.lapCount
  }

  /// Whether a screen shows the same digits for both, in kilometres as in miles.
  package func looksLike(_ other: LiveNumbers) -> Bool {
    func digits(_ value: Double?, _ scales: (Double, Double)) -> [Double]? {
      value.map { [($0 * scales.0).cut, ($0 * scales.1).cut] }
    }
    let mile = SplitUnit.mile.meters
    let (distances, paces) = ((0.1, 100 / mile), (1.0, mile / 1000))
    return digits(distanceMeters, distances) == digits(other.distanceMeters, distances)
      && digits(paceSecondsPerKilometer, paces) == digits(other.paceSecondsPerKilometer, paces)
      && digits(averagePaceSecondsPerKilometer, paces) == digits(other.averagePaceSecondsPerKilometer, paces)
      && heartRateBpm == other.heartRateBpm && elevationGainMeters == other.elevationGainMeters
      && lapCount == other.lapCount
  }
}

/// Active time on a lock screen. While it ticks, the screen draws it from this anchor without any further push.
public struct LiveClock: Hashable, Sendable {
  /// Active time at ``at``.
  public var active: BusDuration
  /// The moment on the hub's time line.
  public var at: BusTime
  /// Whether active time goes on from that moment.
  public var isTicking: Bool

  /// A clock from its parts.
  public init(active: BusDuration, at: BusTime, isTicking: Bool) {
    self.active = active
    self.at = at
    self.isTicking = isTicking
  }

  /// Active time at a moment; one before ``at`` counts as that.
  public func active(at now: BusTime) -> BusDuration { isTicking ? active + max(.zero, now - at) : active }

  /// Whether a screen that goes on with `self` shows other seconds than one that has `other`. Both agree when they
  /// tick alike and differ by less than half a second, which no glance sees.
  func looksLike(_ other: LiveClock) -> Bool {
    guard isTicking == other.isTicking else { return false }
    let moment = max(at, other.at)
    let difference = active(at: moment) - other.active(at: moment)
    return max(difference, .zero - difference) < .milliseconds(500)
  }
}

/// Everything that is visible of a run on a lock screen, as of one snapshot of the hub.
public struct LiveContent: Hashable, Sendable {
  /// The run; in the countdown of a room the one that it leads to.
  public var runID: RunID
  /// The phase of the run; `idle` in the countdown of a room, and after one that was held.
  public var phase: RunPhase
  /// Who changed the phase last; `nil` when that is not known.
  public var changedBy: ControlSource?
  /// Whether the hub waits for a decision about the run; see ``Snapshot/isRecovering``.
  public var isRecovering: Bool
  /// Active time.
  public var clock: LiveClock
  /// The numbers.
  public var numbers: LiveNumbers
  /// The commands that the hub has accepted and not judged yet, each kind once.
  public var pending: [CommandKind]
  /// When the run of the room starts, while its countdown is on: a screen counts down to it without any further push.
  public var startsAt: BusTime?
  /// How the runner stands in the room of the run; `nil` in a run without one.
  public var room: LiveRoom?

  /// A content from its parts.
  public init(
    runID: RunID, phase: RunPhase, changedBy: ControlSource? = nil, isRecovering: Bool = false, clock: LiveClock,
    numbers: LiveNumbers = LiveNumbers(), pending: [CommandKind] = [], startsAt: BusTime? = nil, room: LiveRoom? = nil
  ) {
    self.runID = runID
    self.phase = phase
    self.changedBy = changedBy
    self.isRecovering = isRecovering
    self.clock = clock
    self.numbers = numbers
    self.pending = pending
    self.startsAt = startsAt
    self.room = room
  }

  /// What is visible of a snapshot; `nil` while there is no run to show.
  public init?(_ snapshot: Snapshot, pending: [CommandKind] = []) {
    guard let runID = snapshot.runID, snapshot.phase != .idle else { return nil }
    var numbers = LiveNumbers(snapshot.metrics)
    // A run that is over has no present pace: a screen shows its average, as every other face of it.
    if !snapshot.phase.isOn { numbers.paceSecondsPerKilometer = nil }
    self.init(
      runID: runID, phase: snapshot.phase, changedBy: snapshot.changedBy?.source, isRecovering: snapshot.isRecovering,
      clock: LiveClock(
        active: snapshot.metrics.active, at: snapshot.capturedAt, isTicking: snapshot.isActiveTimeRunning),
      numbers: numbers, pending: pending)
  }

  /// Whether something goes on that the screen shows by a clock of its own: a run, or the countdown to one.
  package var isUnderWay: Bool { phase.isOn || startsAt != nil }

  /// Whether the screen would be wrong, and not only behind, with `other` instead of this content: another run, phase,
  /// clock or countdown.
  func isTurn(from other: LiveContent) -> Bool {
    (runID, phase, isRecovering) != (other.runID, other.phase, other.isRecovering) || changedBy != other.changedBy
      || startsAt != other.startsAt || !clock.looksLike(other.clock)
  }

  /// Whether a screen shows the same numbers for both.
  func hasSameNumbers(as other: LiveContent) -> Bool {
    let isSameRoom =
      switch (room, other.room) {
      case (nil, nil): true
      case (let room?, let other?): room.looksLike(other)
      case (nil, _?), (_?, nil): false
      }
    return isSameRoom && numbers.looksLike(other.numbers)
  }
}
