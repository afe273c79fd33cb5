import RunCore
import Testing

/// A press as a test writes it.
func press(
  _ kind: CommandKind, _ device: DeviceID = .phone, at pressed: Int64, arriving: Int64? = nil, id: UInt64,
  run: UInt64? = nil, base: ObservedRevision? = nil, source: ControlSource = .phone, sequence: UInt64? = nil,
  stopFollows: Bool = false, stream: UInt64 = 1, ifRevision: UInt64? = nil
) -> AcceptedCommand {
  var command = Command(id: .number(id), kind: kind, source: source, runID: run.map(RunID.number), base: base)
  command.ifRevision = ifRevision
  return AcceptedCommand(
    command: command, deviceID: device,
    origin: .store(StoreID(high: stream, low: device.rawValue.utf8.reduce(0) { $0 << 8 | UInt64($1) })),
    sequence: sequence ?? id, pressedAt: .milliseconds(pressed), arrivedAt: .milliseconds(arriving ?? pressed),
    stopFollows: stopFollows)
}

extension Identifier {
  /// A command or run with a small number as its id.
  static func number(_ value: UInt64) -> Self { Self(high: 0, low: value) }
}

extension DeviceID {
  static let phone = DeviceID("phone")
  static let watch = DeviceID("watch")
  static let widget = DeviceID("widget")
}

extension BusTime {
  static func milliseconds(_ count: Int64) -> BusTime { .zero + .milliseconds(count) }
}

/// Arrivals at an arbiter, driven as the hub drives it.
struct DrivenArbiter {
  var arbiter: Arbiter
  let window: BusDuration
  /// Accepted commands without a verdict, as the store keeps them.
  var accepted: [(press: AcceptedCommand, class: Admission)] = []
  /// The past, as the store keeps it.
  var transitions: [PastTransition] = []
  var windows: [SettledWindow] = []
  var aliases: [RunID: RunID] = [:]
  var answers: [Settlement.Answer] = []
  var lines: [Settlement.Line] = []
  var wholeRuns: [RunID: Bool] = [:]
  var classes: [Admission: Int] = [:]

  init(window: BusDuration = .milliseconds(500)) {
    self.window = window
    arbiter = Arbiter(window: window, lateAfter: .milliseconds(500), term: 1)
  }

  /// An arrival. As in the hub's loop, sockets are drained before timers fire: a window that is due at this moment
  /// settles after it.
  @discardableResult
  mutating func arrive(_ press: AcceptedCommand, crashing: Bool = false) -> Admission {
    let now = press.arrivedAt
    while let deadline = arbiter.deadline, deadline < now {
      note(arbiter.settle(at: deadline))
      if crashing { crash() }
    }
    let reception = arbiter.receive(press)
    let admission = reception.admission
    accepted.append((press, admission))
    for index in accepted.indices where reception.fallen.contains(accepted[index].press.command.id) {
      accepted[index].class = .late
    }
    classes[admission, default: 0] += 1
    if crashing { crash() }
    note(arbiter.judgeLate(at: now))
    if crashing { crash() }
    if window == .zero { while arbiter.deadline != nil { note(arbiter.settle(at: now)) } }
    return admission
  }

  mutating func finish() {
    while let deadline = arbiter.deadline { note(arbiter.settle(at: deadline)) }
  }

  private mutating func note(_ settlement: Settlement) {
    guard !settlement.isEmpty else { return }
    answers += settlement.answers
    lines += settlement.lines
    windows += settlement.windows
    aliases.merge(settlement.aliases) { $1 }
    for record in settlement.wholeRuns { wholeRuns[record.runID] = record.isConflicted }
    let judged = Set(settlement.answers.map(\.press.command.id))
    accepted.removeAll { judged.contains($0.press.command.id) }
    for index in accepted.indices where settlement.admitted.contains(accepted[index].press.command.id) {
      accepted[index].class = .window
    }
    for line in settlement.lines {
      guard case .transition(let transition) = line.event else { continue }
      transitions.append(
        PastTransition(
          kind: transition.kind, revision: transition.revision, change: transition.change, runID: line.runID,
          effectiveAt: line.time))
    }
  }

  /// The hub dies and restarts with what the store holds.
  mutating func crash() {
    let control = ControlState(
      transitions: transitions, windows: windows, aliases: aliases,
      verdicts: answers.map { (verdict: $0.verdict, press: $0.press) })
    arbiter = Arbiter(
      control: control, accepted: accepted, window: window, lateAfter: .milliseconds(500), term: 1)
  }
}

/// The arbiter and the model, fed with the same presses.
struct ControlPair {
  var driven: DrivenArbiter
  var model: ControlModel
  private(set) var presses: [AcceptedCommand] = []

  init(window: BusDuration = .milliseconds(500)) {
    driven = DrivenArbiter(window: window)
    model = ControlModel(length: window, lateAfter: .milliseconds(500))
  }

  mutating func arrive(_ press: AcceptedCommand) {
    presses.append(press)
    driven.arrive(press)
    model.arrive(press)
  }

  /// The first difference once everything has settled, or `nil`.
  func complaint() -> String? {
    var driven = driven
    var model = model
    driven.finish()
    model.finish()
    for press in presses {
      let given = driven.answers.filter { $0.verdict.commandID == press.command.id }.map(\.verdict)
      let expected = model.judged.filter { $0.verdict.commandID == press.command.id }.map(\.verdict)
      if given.count != 1 || given != expected {
        return "\(press.shown): the code says \(given.map(\.shown)), the model says \(expected.map(\.shown))"
      }
    }
    let control = driven.arbiter.control
    if (control.phase, control.revision, control.runID) != (model.phase, model.revision, model.run) {
      return "ends \(control.phase) \(control.revision), the model ends \(model.phase) \(model.revision)"
    }
    return driven.broken(by: presses)
  }

  /// The arrivals, as text to paste into a test.
  var transcript: String { presses.map(\.shown).joined(separator: "\n") }
}

extension DrivenArbiter {
  /// The first violated invariant: each press has one verdict, each verdict at most one effect, revisions have no
  /// gaps, and time does not go back along them.
  func broken(by presses: [AcceptedCommand]) -> String? {
    if answers.count != presses.count { return "\(presses.count) presses, \(answers.count) verdicts" }
    if arbiter.unjudgedCount != 0 { return "\(arbiter.unjudgedCount) wait for ever" }
    let applied = answers.filter { $0.verdict.outcome == .applied }
    let changes = lines.compactMap { line -> CommandID? in
      switch line.event {
      case .transition(let transition): transition.change.commandID
      case .lap(let change): change.commandID
      case .sample, .gap, .setup: nil
      }
    }
    if applied.map(\.verdict.commandID).sorted() != changes.sorted() { return "applied and effects differ" }
    var revision: UInt64 = 0
    var latest: BusTime?
    for transition in transitions where transition.revision > revision {
      if transition.revision != revision + 1 { return "a hole in the revisions" }
      if let latest, transition.effectiveAt < latest { return "effective times run backwards" }
      revision = transition.revision
      latest = transition.effectiveAt
    }
    return revision == arbiter.control.revision ? nil : "the revision is not the number of kept transitions"
  }
}

extension AcceptedCommand {
  var shown: String {
    let base = command.base.map { " base \($0.revision)/\($0.commandID?.low ?? 0)" } ?? ""
    let run =
      (command.runID.map { " run \($0.low)" } ?? "") + (command.ifRevision.map { " if revision \($0)" } ?? "")
    return "#\(command.id.low) \(command.kind) by \(deviceID) at \(pressedAt.nanoseconds / 1_000_000) "
      + "arriving \(arrivedAt.nanoseconds / 1_000_000)\(run)\(base)"
  }
}

extension Verdict {
  var shown: String {
    let outcome =
      switch outcome {
      case .applied: "applied"
      case .coalesced(let id): "coalesced into #\(id.low)"
      case .superseded(let id): "superseded by #\(id.low)"
      case .rejected(.illegal(let phase)): "rejected illegal(\(phase))"
      case .rejected(.revisionChanged(let expected)): "rejected revisionChanged(\(expected))"
      case .rejected(let reason): "rejected \(reason.code)"
      case .unknown: "unknown"
      }
    let time = effectiveAt.map { " at \($0.nanoseconds / 1_000_000)" } ?? ""
    return "\(outcome), run \(runID.map { "\($0.low)" } ?? "none"), revision \(revision)\(time)"
  }
}
