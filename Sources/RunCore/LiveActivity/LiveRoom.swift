/// How the runner stands in the room of the run, on a lock screen: the second of four, 120 m behind the one before.
public struct LiveRoom: Hashable, Sendable {
  /// The place, from 1; equal distances share one.
  public var place: Int
  /// How many run.
  public var count: Int
  /// Metres to the runner before this one; `nil` for the first one, and once the result is known.
  public var metersBehind: Double?

  /// A line from its parts.
  public init(place: Int, count: Int, metersBehind: Double? = nil) {
    self.place = place
    self.count = count
    self.metersBehind = metersBehind
  }

  /// The line of the runner in a view: the standing in the run, then the place in a result that is complete; `nil`
  /// without a place.
  init?(_ view: RoomView) {
    guard let own = view.own else { return nil }
    switch view.stage {
    case .running:
      guard let standing = own.standing, let place = standing.place else { return nil }
      self.init(place: place, count: view.members.count, metersBehind: standing.metersBehind)
    case .settling, .over:
      guard let finish = own.finish, finish.meters != nil, view.settled != .provisional else { return nil }
      self.init(place: finish.place, count: view.members.count)
    case .recruiting, .gathering, .countdown, .cancelled, .unknown: return nil
    }
  }

  /// Whether a screen shows the same digits for both: tens of metres, as those of the distance.
  func looksLike(_ other: LiveRoom) -> Bool {
    func digits(_ meters: Double?) -> Double? { meters.map { ($0 / 10).cut } }
    return place == other.place && count == other.count && digits(metersBehind) == digits(other.metersBehind)
  }
}

/// What the pusher knows of the room of the runner: the countdown to its run, and the line for the lock screen.
struct LiveTogether: Hashable, Sendable {
  /// Two moments of a countdown that differ by less are the same: each view estimates it anew.
  private static let tolerance = BusDuration.milliseconds(500)

  /// The countdown that is on, or whose run is about to be shown.
  private struct Countdown: Hashable {
    /// The run that it leads to.
    let run: RunID
    let startsAt: BusTime
    /// Whether the moment has come, by the view.
    var isOver = false
  }

  /// Which room: 32 lowercase hexadecimal digits.
  let room: String
  private var countdown: Countdown?
  /// Whether the room's run is on.
  private var isRunning = false
  /// The run that the runner runs in the room; `nil` before it is shown.
  private var run: RunID?
  private var line: LiveRoom?

  /// A room of which nothing is known.
  init(_ room: String) { self.room = room }

  /// Takes the room as the hub has just published it.
  ///
  /// - Parameters:
  ///   - run: The run that the hub starts in it; `nil` where it starts none.
  ///   - shown: The snapshot that is shown.
  mutating func take(_ view: RoomView, run: RunID?, shown: Snapshot?, at now: BusTime, speed: BusSpeed) {
    switch view.stage {
    case .countdown:
      // Without the log's time there is nothing new to count to.
      if let run, let startsIn = view.startsIn { count(to: now + speed.bus(fromReal: startsIn), of: run) }
    case .running: countdown?.isOver = true
    case .recruiting, .gathering, .settling, .over, .cancelled, .unknown: countdown = nil
    }
    isRunning = view.stage == .running
    line = LiveRoom(view)
    observe(shown)
  }

  private mutating func count(to startsAt: BusTime, of run: RunID) {
    if let countdown, !countdown.isOver {
      let difference = startsAt - countdown.startsAt
      if max(difference, .zero - difference) < Self.tolerance { return }
    }
    countdown = Countdown(run: run, startsAt: startsAt)
  }

  /// Takes the snapshot that is shown: a run that is on while the room's is belongs to the room.
  mutating func observe(_ shown: Snapshot?) {
    guard let shown, let id = shown.runID else { return }
    if isRunning, run == nil, shown.phase.isOn { run = id }
    if id == countdown?.run { countdown = nil }
  }

  /// When the countdown ends, on the hub's time line; `nil` while none is on.
  var startsAt: BusTime? { countdown.flatMap { $0.isOver ? nil : $0.startsAt } }

  /// The content for a countdown whose run is not shown yet; `nil` without one. It has the id of that run, so that one
  /// activity lasts through both, and its clock stands: a screen shows only what is durable at the hub.
  ///
  /// A run that goes on until then is shown itself, with the countdown beside it.
  func content(beside shown: Snapshot) -> LiveContent? {
    guard let countdown, !shown.phase.isOn else { return nil }
    return LiveContent(
      runID: countdown.run, phase: .idle,
      clock: LiveClock(active: .zero, at: countdown.startsAt, isTicking: false), startsAt: countdown.startsAt)
  }

  /// The line of the runner in a run; `nil` in a run that is not the room's.
  func line(in shown: RunID?) -> LiveRoom? { shown != nil && shown == run ? line : nil }
}
