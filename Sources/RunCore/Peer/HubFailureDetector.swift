/// A peer's watch over its hub: how long it has been silent, and whether that was told.
///
/// ```
///            silent for too long            heard
///   armed ─────────────────────▶ alarmed ─────────▶ armed
///     │                             │ goodbye
///     └──────── goodbye ───────▶ dismissed ─ heard ─▶
/// ```
///
/// Only silence counts in which the peer listened: awake, on the air, and while a run is on. Whoever drives the machine
/// wakes it every few seconds while that is so; a wake-up that comes much later than it was due says that this device
/// slept (or was stopped), and what it slept through is no silence of the hub's. After it the hub gets three beats to be
/// heard, however much was counted before.
struct HubFailureDetector: Sendable {
  /// Between two wake-ups: a handful a minute, for as long as the hub is silent and that was not told.
  static let wakeEvery = BusDuration.seconds(5)
  /// How late a wake-up of a busy machine may be and still count as awake.
  static let lateMax = BusDuration.seconds(2)

  /// How much silence is too much: never less than three beats, within which a hub that is well may say nothing.
  let limit: BusDuration
  private(set) var mark: HubFailureMark
  /// The peer is on the air.
  private(set) var isListening = true
  private(set) var startedAt: BusTime?
  /// An alarm on its way to the disk: it is told once it is there.
  private(set) var pending: HubLost?
  /// Counts the alarms of this life.
  private var number: UInt64 = 0
  /// The last alarm before the pending one.
  private var earlier: HubLost?
  /// What was last told about the view.
  var shown = ViewState(age: nil, isStale: false, isHubOffDuty: false)
  private var counted = BusDuration.zero
  private var awakeAt: BusTime?

  init(limit: BusDuration, mark: HubFailureMark) {
    self.limit = max(limit, Heartbeat.silence(isRunOn: true))
    self.mark = mark
  }

  /// The silence that counts has reached the limit.
  var isDue: Bool { mark.duty == .armed && counted >= limit }

  /// The last alarm that was told.
  var lastTold: HubLost? { pending == nil ? mark.lastAlarm : earlier }

  /// The next wake-up; `nil` when nothing counts.
  func deadline(isRunOn: Bool) -> BusTime? { counts(isRunOn) ? awakeAt.map { $0 + promise } : nil }

  /// The peer begins.
  mutating func start(at now: BusTime) { (startedAt, awakeAt) = (now, now) }

  /// It is awake, and counts what has passed since it last was.
  mutating func pass(to now: BusTime, isRunOn: Bool) {
    guard let last = awakeAt else { return }
    awakeAt = now
    guard counts(isRunOn) else { return }
    if now - last <= promise + Self.lateMax { counted += now - last } else { breathe() }
  }

  /// The hub spoke. Whether that changes what the store remembers.
  mutating func hear() -> Bool {
    counted = .zero
    return enter(.armed)
  }

  /// The hub said goodbye. Whether that changes what the store remembers.
  mutating func dismiss() -> Bool {
    counted = .zero
    return enter(.dismissed)
  }

  /// This silence comes to an alarm; its number in this life.
  mutating func alarm(_ lost: HubLost) -> UInt64 {
    number += 1
    earlier = mark.lastAlarm
    mark = HubFailureMark(duty: .alarmed, lastAlarm: lost)
    pending = lost
    return number
  }

  /// The alarm that is to be told now, once: the one whose commit is durable, or without one whichever waits.
  mutating func takePending(_ durable: UInt64? = nil) -> HubLost? {
    guard durable == nil || durable == number else { return nil }
    defer { pending = nil }
    return pending
  }

  /// It goes off the air, or comes back.
  mutating func setListening(_ value: Bool) {
    isListening = value
    if value { breathe() }
  }

  /// This silence is over, or no silence any more. An alarm that was not told yet never will be, and never was the last.
  private mutating func enter(_ duty: HubFailureMark.Duty) -> Bool {
    if pending != nil { (mark.lastAlarm, pending) = (earlier, nil) }
    guard mark.duty != duty else { return false }
    mark.duty = duty
    return true
  }

  private func counts(_ isRunOn: Bool) -> Bool { isRunOn && isListening && mark.duty == .armed }

  /// How long it may take until somebody looks again.
  private var promise: BusDuration { min(Self.wakeEvery, max(.zero, limit - counted)) }

  private mutating func breathe() { counted = min(counted, limit - Heartbeat.silence(isRunOn: true)) }
}
