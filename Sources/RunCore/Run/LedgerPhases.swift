/// The transitions of a ledger alone, so that its phase at any moment is a binary search.
struct PhaseTrack: Hashable, Sendable {
  private struct Step: Hashable {
    let time: BusTime
    let position: UInt64
    let goal: RunGoal?
    let kind: CommandKind
    /// The run after it.
    var machine: RunMachine
  }

  private var steps: [Step] = []
  private(set) var startedAt: BusTime?
  private(set) var stoppedAt: BusTime?
  /// The goal that the start names with which the run begins.
  private(set) var goal: RunGoal?

  /// Inserts a transition in order of time, nearly always at the end, and computes the phases after it again.
  mutating func insert(_ transition: Transition, at time: BusTime, position: UInt64) {
    let before = steps.lastIndex { ($0.time.nanoseconds, $0.position) <= (time.nanoseconds, position) }
    let index = before.map { $0 + 1 } ?? 0
    var machine = index == 0 ? RunMachine() : steps[index - 1].machine
    steps.insert(
      Step(time: time, position: position, goal: transition.goal, kind: transition.kind, machine: machine), at: index)
    for index in index..<steps.count {
      machine.applyInOneRun(steps[index].kind)
      steps[index].machine = machine
    }
    let first = steps.first { $0.machine.phase != .idle }
    (startedAt, goal) = (first?.time, first?.goal)
    stoppedAt = steps.first { $0.machine.phase == .completed }?.time
  }

  /// The phase after all transitions up to and at a moment.
  func phase(at time: BusTime) -> RunPhase {
    var low = 0
    var high = steps.count
    while low < high {
      let middle = (low + high) / 2
      if time < steps[middle].time { high = middle } else { low = middle + 1 }
    }
    return low == 0 ? .idle : steps[low - 1].machine.phase
  }
}
