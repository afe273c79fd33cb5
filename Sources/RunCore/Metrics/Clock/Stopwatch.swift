/// The phase of a run and its clocks: what transitions, gaps and pauses of its own make, without any measured value.
///
/// A *line* is a stretch in which the run ran without interruption. It includes both of its ends: a sample taken at the
/// very moment of a pause still belongs to the stretch that the pause ends, as the last fix of a recording does.
struct Stopwatch: Hashable, Sendable {
  /// A stretch in which the run ran without interruption.
  struct Line: Hashable, Sendable {
    /// Its number: 0, 1, 2 …
    let number: Int
    /// When it began.
    let startedAt: BusTime
  }

  private(set) var phase = RunPhase.idle
  private(set) var startedAt: BusTime?
  private(set) var stoppedAt: BusTime?
  /// The clock stands because the runner does. A pause by hand takes its place, and nothing by itself ends that one.
  private(set) var isAutoPaused = false

  /// Active time up to `countedTo`.
  private var counted = BusDuration.zero
  private var countedTo = BusTime.zero
  /// The hub was dead until then; `nil` when it never was.
  private var gapEnd: BusTime?
  /// The number of the line that is open, or opens next.
  private var line = 0
  /// The line that was closed last, and when.
  private var closed: Closed?

  private struct Closed: Hashable {
    let line: Line
    let time: BusTime
  }

  /// Applies a transition. One that the phase does not allow changes nothing: a late amendment may put a pause in front
  /// of another.
  mutating func apply(_ kind: CommandKind, at time: BusTime) {
    guard let next = phase.leniently(applying: kind), next != phase else { return }
    halt(at: time)
    isAutoPaused = false
    switch next {
    case .idle: break
    case .running:
      startedAt = startedAt ?? time
      countedTo = time
    case .paused: break
    case .completed: stoppedAt = time
    }
    phase = next
  }

  /// The hub was dead from `time` on: neither phase nor elapsed time change, active time stands still.
  mutating func leaveOut(_ duration: BusDuration, from time: BusTime) {
    guard phase.isOn, duration > .zero else { return }
    halt(at: time)
    gapEnd = max(gapEnd ?? time, time + duration)
  }

  /// The runner stands: the clock does, too, until ``autoResume(at:)`` or a transition.
  mutating func autoPause(at time: BusTime) {
    guard phase == .running, !isAutoPaused else { return }
    halt(at: time)
    isAutoPaused = true
  }
  /// The runner moves again.
  mutating func autoResume(at time: BusTime) {
    guard isAutoPaused else { return }
    isAutoPaused = false
    countedTo = max(countedTo, time)
  }

  /// Time since the start, pauses included.
  func elapsed(at now: BusTime) -> BusDuration {
    guard let startedAt else { return .zero }
    return max(.zero, (stoppedAt ?? now) - startedAt)
  }
  /// Time in which the run was running and the hub alive.
  func active(at now: BusTime) -> BusDuration {
    isCounting ? counted + max(.zero, now - countingFrom) : counted
  }
  /// A run is on at a moment that is not before anything folded so far, both ends included.
  func isOn(at time: BusTime) -> Bool { phase.isOn || stoppedAt == time }
  /// The line that a moment belongs to; `nil` when nothing counts then.
  func line(at time: BusTime) -> Line? {
    if isCounting, !isDead(at: time) { return openLine }
    guard let closed, closed.time == time else { return nil }
    return closed.line
  }

  /// When the line with this number ended; `nil` while it goes on.
  func end(ofLine number: Int) -> BusTime? { closed.flatMap { $0.line.number == number ? $0.time : nil } }

  private var isCounting: Bool { phase == .running && !isAutoPaused }
  private var openLine: Line { Line(number: line, startedAt: countingFrom) }
  private func isDead(at time: BusTime) -> Bool { gapEnd.map { time < $0 } ?? false }
  private var countingFrom: BusTime { max(countedTo, gapEnd ?? countedTo) }
  /// Ends what is being counted, if anything is.
  private mutating func halt(at time: BusTime) {
    guard isCounting else { return }
    // Inside a gap the line is closed already, where the gap began.
    if !isDead(at: time) {
      closed = Closed(line: openLine, time: time)
      line += 1
    }
    counted = active(at: time)
    countedTo = max(countedTo, time)
  }
}

extension RunPhase {
  /// The phase that a transition of a ledger makes; `nil` when it changes nothing there. One ledger is one run: nothing
  /// follows its stop.
  func leniently(applying kind: CommandKind) -> RunPhase? {
    switch (self, kind) {
    case (.idle, .start): .running
    case (.running, .pause): .paused
    case (.paused, .resume): .running
    case (.running, .stop), (.paused, .stop): .completed
    case (_, .lap), (.idle, _), (.running, _), (.paused, _), (.completed, _): nil
    }
  }
}
