/// Detects at a peer that its hub has failed: counts the hub's silence, and remembers whether an alarm was told.
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
  static let wakeEvery = BusDuration.seconds(5)
  /// How late a wake-up may be on a busy machine before the device counts as having slept.
  static let lateMax = BusDuration.seconds(2)

  /// The silence that raises an alarm: at least three beats, because a healthy hub may say nothing for as long.
  let limit: BusDuration
  private(set) var mark: HubFailureMark
  /// Whether the peer listens: the app has not disconnected it.
  private(set) var isListening = true
  private(set) var startedAt: BusTime?
  /// An alarm that is being made durable; it is told after that.
  private(set) var pending: HubLost?
  /// Counts the alarms of this incarnation.
  private var number: UInt64 = 0
  /// The last alarm before the pending one.
  private var earlier: HubLost?
  /// The state of the view that the app was last told.
  var shown = ViewState(age: nil, isStale: false, isHubOffDuty: false)
  private var counted = BusDuration.zero
  private var awakeAt: BusTime?

  init(limit: BusDuration, mark: HubFailureMark) {
    self.limit = max(limit, Heartbeat.silence(isRunOn: true))
    self.mark = mark
  }

  /// Whether the counted silence has reached the limit.
  var isDue: Bool { mark.duty == .armed && counted >= limit }

  /// The last alarm that was told.
  var lastTold: HubLost? { pending == nil ? mark.lastAlarm : earlier }

  /// The next wake-up; `nil` while no silence counts.
  func deadline(isRunOn: Bool) -> BusTime? { counts(isRunOn) ? awakeAt.map { $0 + promise } : nil }

  /// Begins to count.
  mutating func start(at now: BusTime) { (startedAt, awakeAt) = (now, now) }

  /// Counts the time since the last wake-up, unless the device slept.
  mutating func pass(to now: BusTime, isRunOn: Bool) {
    guard let last = awakeAt else { return }
    awakeAt = now
    guard counts(isRunOn) else { return }
    if now - last <= promise + Self.lateMax { counted += now - last } else { breathe() }
  }

  /// Ends the silence, because the hub was heard.
  ///
  /// - Returns: whether the mark in the store has to change.
  mutating func hear() -> Bool {
    counted = .zero
    return enter(.armed)
  }

  /// Ends the silence, because the hub said goodbye.
  ///
  /// - Returns: whether the mark in the store has to change.
  mutating func dismiss() -> Bool {
    counted = .zero
    return enter(.dismissed)
  }

  /// Makes an alarm of this silence and returns its number in this incarnation.
  mutating func alarm(_ lost: HubLost) -> UInt64 {
    number += 1
    earlier = mark.lastAlarm
    mark = HubFailureMark(duty: .alarmed, lastAlarm: lost)
    pending = lost
    return number
  }

  /// Removes and returns the alarm to be told: the one whose commit is durable, or with `nil` any that is pending.
  mutating func takePending(_ durable: UInt64? = nil) -> HubLost? {
    guard durable == nil || durable == number else { return nil }
    defer { pending = nil }
    return pending
  }

  /// Notes whether the peer listens. When it begins to again, the hub gets at least three beats to be heard.
  mutating func setListening(_ value: Bool) {
    isListening = value
    if value { breathe() }
  }

  /// Ends the silence. An alarm that was not told yet is dropped, and the one before it is the last one again.
  private mutating func enter(_ duty: HubFailureMark.Duty) -> Bool {
    if pending != nil { (mark.lastAlarm, pending) = (earlier, nil) }
    guard mark.duty != duty else { return false }
    mark.duty = duty
    return true
  }

  private func counts(_ isRunOn: Bool) -> Bool { isRunOn && isListening && mark.duty == .armed }

  /// How long after a wake-up the next one is due.
  private var promise: BusDuration { min(Self.wakeEvery, max(.zero, limit - counted)) }

  private mutating func breathe() { counted = min(counted, limit - Heartbeat.silence(isRunOn: true)) }
}
