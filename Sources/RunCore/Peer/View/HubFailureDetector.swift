/// Detects at a peer that its hub has failed: counts the hub's silence, decides when the view is stale and when an alarm
/// is raised, and remembers whether the app has heard of it.
///
/// ```
///            silent for too long            heard
///   armed ─────────────────────▶ alarmed ─────────▶ armed
///     │                             │ goodbye
///     └──────── goodbye ───────▶ dismissed ─ heard ─▶
/// ```
///
/// Silence counts only while a run is on and the peer listens: the device is awake and the app has not disconnected the
/// peer. The driver wakes the detector every few seconds meanwhile. A wake-up that comes much later than it was due
/// shows that the device slept or was stopped; the time since the last wake-up is then not counted, and the hub gets at
/// least three beats to be heard.
struct HubFailureDetector: Sendable {
  /// The longest time between two wake-ups while silence counts.
  private static let wakeEvery = BusDuration.seconds(5)
  /// How late a wake-up may be on a busy machine before the device counts as having slept.
  private static let lateMax = BusDuration.seconds(2)

  /// The silence that raises an alarm, as the app has set it. See ``alarmLimit(_:)``.
  private let limit: BusDuration
  private var mark: HubFailureMark
  /// Whether the peer listens: the app has not disconnected it.
  private var isListening = true
  /// `nil` before the start.
  private var startedAt: BusTime?
  /// An alarm that is being made durable; the app gets it after that.
  private var pending: HubLost?
  /// Counts the alarms of this incarnation.
  private var number: UInt64 = 0
  /// The last alarm before the pending one.
  private var earlier: HubLost?
  /// The state of the view that the app has.
  private var shown = ViewState(age: nil, isStale: false, isHubOffDuty: false)
  private var counted = BusDuration.zero
  private var awakeAt: BusTime?

  init(limit: BusDuration, mark: HubFailureMark) {
    self.limit = limit
    self.mark = mark
  }

  /// The last alarm that the app has.
  var lastTold: HubLost? { pending == nil ? mark.lastAlarm : earlier }

  /// Whether an alarm stands: the hub has been silent for too long and was not heard since.
  var isAlarmed: Bool { mark.duty == .alarmed }

  /// How old the view is, whether it is stale, and whether the hub has said goodbye.
  func viewState(of view: Snapshot, hearing: HubHearing, at now: BusTime) -> ViewState {
    let isDismissed = mark.duty == .dismissed
    let isStale = isDismissed || staleAt(view, hearing).map { $0 <= now } ?? false
    return ViewState(age: hearing.heardAt.map { now - $0 }, isStale: isStale, isHubOffDuty: isDismissed)
  }

  /// When the view becomes stale or silence has to be counted, if no event comes before.
  func deadline(of view: Snapshot, hearing: HubHearing) -> BusTime? {
    let wake = counts(view.phase.isOn) ? awakeAt.map { $0 + promise(hearing) } : nil
    return BusTime.earliest(wake, shown.isStale ? nil : staleAt(view, hearing))
  }

  /// Begins to count.
  mutating func start(at now: BusTime) { (startedAt, awakeAt) = (now, now) }

  /// Counts the time since the last wake-up, unless the device slept.
  mutating func pass(to now: BusTime, isRunOn: Bool, hearing: HubHearing) {
    guard let last = awakeAt else { return }
    awakeAt = now
    guard counts(isRunOn) else { return }
    if now - last <= promise(hearing) + Self.lateMax { counted += now - last } else { breathe(hearing) }
  }

  /// Ends the silence, because the hub was heard.
  ///
  /// - Returns: the change of the mark in the store; `nil` when it stays.
  mutating func hear() -> StoreOperation? {
    counted = .zero
    return enter(.armed)
  }

  /// Ends the silence, because the hub said goodbye.
  ///
  /// - Returns: the change of the mark in the store; `nil` when it stays.
  mutating func dismiss() -> StoreOperation? {
    guard startedAt != nil else { return nil }
    counted = .zero
    return enter(.dismissed)
  }

  /// Notes whether the peer listens. When it begins to again, the hub gets at least three beats to be heard.
  mutating func setListening(_ value: Bool, hearing: HubHearing) {
    isListening = value
    if value { breathe(hearing) }
  }

  /// Tells the app when the state of the view differs from what it has, and prepares an alarm when the silence is over its
  /// limit. The alarm is durable before the app gets it, so that a later incarnation does not raise it again in the same
  /// silence; then call ``takePending(_:)`` with its number.
  ///
  /// - Parameters:
  ///   - view: the shown snapshot.
  ///   - hearing: when the hub was last heard, and how long it may be silent.
  ///   - hub: the hub's device.
  mutating func check(_ view: Snapshot, hearing: HubHearing, hub: DeviceID?, in turn: inout PeerCore.Turn) {
    let now = turn.now
    let state = viewState(of: view, hearing: hearing, at: now)
    if (state.isStale, state.isHubOffDuty) != (shown.isStale, shown.isHubOffDuty) {
      shown = state
      turn.act(.view(state))
    }
    guard mark.duty == .armed, counted >= alarmLimit(hearing), view.phase.isOn else { return }
    number += 1
    earlier = mark.lastAlarm
    let lost = HubLost(
      runID: view.runID, deviceID: hub, order: view.order, silence: now - (hearing.heardAt ?? startedAt ?? now))
    mark = HubFailureMark(duty: .alarmed, lastAlarm: lost)
    pending = lost
    turn.write([.setFailureMark(mark)], then: [.alarm(number)])
  }

  /// Removes and returns the alarm for the app: the one whose commit is durable, or with `nil` any that is pending.
  mutating func takePending(_ durable: UInt64? = nil) -> HubLost? {
    guard durable == nil || durable == number else { return nil }
    defer { pending = nil }
    return pending
  }

  /// Ends the silence. An alarm that the app has not got yet is dropped, and the one before it is the last one again.
  private mutating func enter(_ duty: HubFailureMark.Duty) -> StoreOperation? {
    if pending != nil { (mark.lastAlarm, pending) = (earlier, nil) }
    guard mark.duty != duty else { return nil }
    mark.duty = duty
    return .setFailureMark(mark)
  }

  /// When the hub will have missed three beats; `nil` before the start, and while there is no snapshot to show. A
  /// snapshot of an earlier incarnation is stale until the hub is heard.
  private func staleAt(_ view: Snapshot, _ hearing: HubHearing) -> BusTime? {
    guard let startedAt, view.order.term > 0 else { return nil }
    return hearing.silentAt ?? startedAt
  }

  private func counts(_ isRunOn: Bool) -> Bool { isRunOn && isListening && mark.duty == .armed }

  /// The silence that raises an alarm: at least three beats, because a healthy hub may say nothing for as long.
  private func alarmLimit(_ hearing: HubHearing) -> BusDuration { max(limit, hearing.silence) }

  /// How long after a wake-up the next one is due.
  private func promise(_ hearing: HubHearing) -> BusDuration {
    min(Self.wakeEvery, max(.zero, alarmLimit(hearing) - counted))
  }

  private mutating func breathe(_ hearing: HubHearing) {
    counted = min(counted, alarmLimit(hearing) - hearing.silence)
  }
}
