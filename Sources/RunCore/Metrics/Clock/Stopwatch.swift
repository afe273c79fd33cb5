/// The phase of a run and its clocks, which follow from transitions, gaps and auto-pauses.
///
/// A *line* is a stretch in which the run was running without interruption. It includes both of its ends: a sample
/// taken at the very moment of a pause still belongs to the line that the pause ends, as the last fix of a recording
/// does.
struct Stopwatch: Hashable, Sendable {
  /// A stretch in which the run was running without interruption.
  struct Line: Hashable, Sendable {
    /// Counts from 0.
    let number: Int
    /// When it began.
    let startedAt: BusTime
  }

  private var machine = RunMachine()
  private(set) var startedAt: BusTime?
  private(set) var stoppedAt: BusTime?
  /// Whether auto-pause has stopped the clock. A pause by command replaces it, and only a command ends that one.
  private(set) var isAutoPaused = false

  /// Active time up to `countedTo`.
  private var counted = BusDuration.zero
  private var countedTo = BusTime.zero
  /// The end of the last gap, in which the hub was down; `nil` when there was none.
  private var gapEnd: BusTime?
  /// The number of the line that is open, or opens next.
  private var line = 0
  /// The last line that ended, and when.
  private var closed: Closed?

  private struct Closed: Hashable {
    let line: Line
    let time: BusTime
  }

  /// The phase after the applied transitions.
  var phase: RunPhase { machine.phase }

  /// Applies a transition. One that the phase does not allow changes nothing (``RunMachine/applyInOneRun(_:)``).
  mutating func apply(_ kind: CommandKind, at time: BusTime) {
    var next = machine
    next.applyInOneRun(kind)
    guard next != machine else { return }
    halt(at: time)
    isAutoPaused = false
    switch next.phase {
    case .idle: break
    case .running:
      startedAt = startedAt ?? time
      countedTo = time
    case .paused: break
    case .completed: stoppedAt = time
    case .unknown: break
    }
    machine = next
  }

  /// Applies a gap in which the hub was down. The phase stays and elapsed time goes on, but active time does not.
  mutating func leaveOut(_ duration: BusDuration, from time: BusTime) {
    guard phase.isOn, duration > .zero else { return }
    halt(at: time)
    gapEnd = max(gapEnd ?? time, time + duration)
  }

  /// Stops the clock because the runner stands, until ``autoResume(at:)`` or a transition.
  mutating func autoPause(at time: BusTime) {
    guard phase == .running, !isAutoPaused else { return }
    halt(at: time)
    isAutoPaused = true
  }
  /// Restarts the clock after ``autoPause(at:)``, because the runner moves again.
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
  /// Time in which the run was running, without auto-pauses and gaps.
  func active(at now: BusTime) -> BusDuration {
    isCounting ? counted + max(.zero, now - countingFrom) : counted
  }
  /// Whether the run is on at a moment, its end included. The moment must not be before the last applied change.
  func isOn(at time: BusTime) -> Bool { phase.isOn || stoppedAt == time }
  /// The line that a moment belongs to; `nil` when active time does not run then.
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
  /// Stops counting active time and ends the line, if the clock runs.
  private mutating func halt(at time: BusTime) {
    guard isCounting else { return }
    // In a gap the line has already ended, at the gap's beginning.
    if !isDead(at: time) {
      closed = Closed(line: openLine, time: time)
      line += 1
    }
    counted = active(at: time)
    countedTo = max(countedTo, time)
  }
}
