import RunCore

/// A second, slow and simple implementation of the control rules, with which the tests compare the arbiter.
///
/// The model keeps everything that ever happened and derives every answer from that. It shares no code of decisions
/// with `Sources/RunCore/Control`. Where the two differ, one of them is wrong, and docs/protocol.md decides which.
/// The model does not cover whole runs; these have transcripts of their own.
struct ControlModel {
  struct Transition {
    let kind: CommandKind
    let commandID: CommandID
    let deviceID: DeviceID
    let run: RunID
    let revision: UInt64
    let effectiveAt: BusTime
    /// Inserted into a run that was over; the present state is unaffected.
    var isAmendment = false
  }
  struct Settled {
    let first: BusTime
    let deadline: BusTime
    let applied: [(press: AcceptedCommand, verdict: Verdict)]
  }

  let length: BusDuration
  let lateAfter: BusDuration

  // What happened.
  private(set) var transitions: [Transition] = []
  private(set) var settledWindows: [Settled] = []
  private(set) var aliases: [(alias: RunID, run: RunID)] = []
  // What waits.
  private(set) var inWindow: [AcceptedCommand] = []
  private(set) var next: [AcceptedCommand] = []
  private(set) var late: [AcceptedCommand] = []

  init(length: BusDuration, lateAfter: BusDuration) {
    self.length = length
    self.lateAfter = lateAfter
  }

  // MARK: Interface

  /// In order of judgement.
  private(set) var judged: [(press: AcceptedCommand, verdict: Verdict)] = []
  var revision: UInt64 { present.last?.revision ?? 0 }
  var phase: RunPhase { present.last.flatMap { Self.phase(after: $0.kind) } ?? .idle }
  var run: RunID? { present.last?.run }

  /// An arrival. Windows that were due before it settle first; one that is due at the same moment settles after it.
  mutating func arrive(_ press: AcceptedCommand) {
    let now = press.arrivedAt
    while let deadline, deadline < now { settle(at: deadline) }
    sort(press)
    if deadline == nil { judgeLate(at: now) }
    if length == .zero { while deadline != nil { settle(at: now) } }
  }

  /// Settles everything that waits.
  mutating func finish() {
    while let deadline { settle(at: deadline) }
  }

  // MARK: The window

  /// "500 ms after the last press admitted to it, at the latest 2 s after the first."
  private var deadline: BusTime? {
    guard let first = inWindow.map(\.pressedAt).min(), let last = inWindow.map(\.pressedAt).max() else { return nil }
    return min(last + length, first + max(.seconds(2), length))
  }

  private mutating func sort(_ press: AcceptedCommand) {
    let age = press.arrivedAt - press.pressedAt
    let isOld = age > length && age > lateAfter
    if isOld, inWindow.allSatisfy({ press.pressedAt < $0.pressedAt }) { return late.append(press) }
    // A sender's presses keep their order: one that waits delays those behind it.
    if (late + next).contains(where: { $0.deviceID == press.deviceID }) { return next.append(press) }
    if let deadline, press.pressedAt >= deadline { return next.append(press) }
    inWindow.append(press)
  }

  private mutating func settle(at now: BusTime) {
    let presses = inWindow
    let first = presses.map(\.pressedAt).min() ?? now
    let deadline = deadline ?? now
    inWindow = []
    fold(presses.sorted(by: Self.isBefore), first: first, deadline: deadline)
    judgeLate(at: now)
    let waiting = next
    next = []
    for press in waiting.sorted(by: Self.isBefore) {
      if let open = self.deadline, press.pressedAt >= open { next.append(press) } else { inWindow.append(press) }
    }
  }

  private static func isBefore(_ left: AcceptedCommand, _ right: AcceptedCommand) -> Bool {
    if left.pressedAt != right.pressedAt { return left.pressedAt < right.pressedAt }
    if left.deviceID != right.deviceID { return left.deviceID < right.deviceID }
    if left.sequence != right.sequence { return left.sequence < right.sequence }
    return left.command.id < right.command.id
  }

  // MARK: Settling

  /// The fate of one press of a window, before it is known which transitions stay.
  private struct Projection {
    enum Fate {
      case kept, marked, rejected(RejectionReason)
      case past(Verdict)
      /// Coalesced into the transition that made the present phase.
      case present(Transition)
      case joined(CommandID)
      case superseded(CommandID)
    }
    let press: AcceptedCommand
    var run: RunID?
    var fate: Fate
  }

  private mutating func fold(_ presses: [AcceptedCommand], first: BusTime, deadline: BusTime) {
    var done: [Projection] = []
    for press in presses { project(press, onto: &done) }

    // The transitions that stay, in order.
    for projection in done {
      guard case .kept = projection.fate, let run = projection.run else { continue }
      make(projection.press, run: run)
    }
    // Then every verdict.
    var verdicts: [CommandID: Verdict] = [:]
    for projection in done {
      switch projection.fate {
      case .kept:
        let own = transitions.last { $0.commandID == projection.press.command.id }
        verdicts[projection.press.command.id] = verdict(
          projection.press, .applied, run: own?.run, revision: own?.revision, effectiveAt: own?.effectiveAt)
      case .marked:
        verdicts[projection.press.command.id] = verdict(
          projection.press, .applied, run: projection.run,
          effectiveAt: lapTime(projection.press, run: projection.run))
      default: break
      }
    }
    for projection in done {
      let press = projection.press
      let answer: Verdict
      switch projection.fate {
      case .kept, .marked: answer = verdicts[press.command.id]!
      case .rejected(let reason): answer = verdict(press, .rejected(reason), run: projection.run)
      case .superseded(let undoer): answer = verdict(press, .superseded(by: undoer), run: projection.run)
      case .past(let past): answer = shared(press, past)
      case .present(let maker):
        answer = verdict(
          press, .coalesced(into: maker.commandID), run: maker.run, revision: maker.revision,
          effectiveAt: maker.effectiveAt)
      case .joined(let id): answer = shared(press, verdicts[id]!)
      }
      judged.append((press, answer))
    }
    let applied = done.compactMap { projection in
      switch projection.fate {
      case .kept, .marked: (projection.press, verdicts[projection.press.command.id]!)
      default: nil
      }
    }
    settledWindows.append(Settled(first: first, deadline: deadline, applied: applied))
  }

  private mutating func project(_ press: AcceptedCommand, onto done: inout [Projection]) {
    let kind = press.command.kind
    // The projected state: the present one plus what this window has kept so far.
    let kept = done.filter { if case .kept = $0.fate { true } else { false } }
    let phase = kept.last.flatMap { Self.phase(after: $0.press.command.kind) } ?? self.phase
    let run = kept.last?.run ?? self.run
    let named = press.command.runID.map(resolve)

    func end(_ fate: Projection.Fate, run: RunID?) {
      done.append(Projection(press: press, run: run, fate: fate))
    }
    /// A press that repeats the projected phase joins the press that made it.
    func joinMaker(of kept: [Projection]) -> Projection.Fate {
      kept.last.map { .joined($0.press.command.id) } ?? .present(present.last!)
    }

    if let expected = press.command.ifRevision, expected != revision || !counts(press, behind: done, in: phase) {
      return end(.rejected(.revisionChanged(expected)), run: run)
    }
    if let past = settled(kind, at: press.pressedAt, run: kind == .start ? nil : named) {
      alias(press, to: past.runID)
      return end(.past(past), run: past.runID)
    }
    switch kind {
    case .lap:
      guard let meant = named ?? run else { return end(.rejected(.illegal(phase)), run: nil) }
      if kept.contains(where: { $0.press.command.kind == .stop && $0.run == meant }) {
        return end(.rejected(.illegal(.completed)), run: meant)
      }
      if let other = done.last(where: { if case .marked = $0.fate { $0.run == meant } else { false } }) {
        return end(.joined(other.press.command.id), run: meant)
      }
      if meant == run, Self.isOn(phase) {
        let beganHere = kept.contains { $0.press.command.kind == .start && $0.run == meant }
        if !beganHere, isBeforeStart(press, of: meant) { return end(.rejected(.illegal(.idle)), run: meant) }
        return end(.marked, run: meant)
      }
      if Self.isOn(self.phase(of: meant, at: press.pressedAt)) { return end(.marked, run: meant) }
      guard let run else { return end(.rejected(.illegal(.idle)), run: nil) }
      return end(.rejected(meant == run ? .illegal(phase) : .otherRun), run: meant)
    case .start:
      // "Legality is judged against the projected run": a start does not begin a known run again.
      let own = resolve(mint(press))
      if kept.contains(where: { $0.run == own }) || isKnown(own), !(own == run && Self.isOn(phase)) {
        return end(.rejected(.illegal(.completed)), run: own)
      }
      if phase == .running {
        alias(press, to: run)
        return end(joinMaker(of: kept), run: run)
      }
      if phase == .paused { return end(.rejected(.illegal(.paused)), run: run) }
      return end(.kept, run: mint(press))
    case .pause, .resume, .stop:
      guard let run else { return end(.rejected(.illegal(.idle)), run: nil) }
      if let named, named != run { return end(.rejected(.otherRun), run: named) }
      if Self.phase(after: kind) == phase { return end(joinMaker(of: kept), run: run) }
      if let last = kept.last, Self.undoes(kind, last.press.command.kind),
        wish(in: done)?.made != last.press.command.id
      {
        for index in done.indices {
          if done[index].press.command.id == last.press.command.id {
            done[index].fate = .superseded(press.command.id)
          } else if case .joined(last.press.command.id) = done[index].fate {
            done[index].fate = .superseded(press.command.id)
          }
        }
        return end(joinMaker(of: kept.dropLast()), run: run)
      }
      guard Self.isLegal(kind, in: phase) else { return end(.rejected(.illegal(phase)), run: run) }
      return end(.kept, run: run)
    }
  }

  /// What the first conditional press that changed the run in this window asked for, and the transition that does it.
  private func wish(in done: [Projection]) -> (kind: CommandKind, made: CommandID)? {
    for projection in done where projection.press.command.ifRevision != nil && projection.press.command.kind != .lap {
      switch projection.fate {
      case .kept: return (projection.press.command.kind, projection.press.command.id)
      case .joined(let id): return (projection.press.command.kind, id)
      case .marked, .rejected, .past, .present, .superseded: continue
      }
    }
    return nil
  }

  /// Whether a conditional press counts beside those before it: it asks for what an earlier one has got, or none got
  /// anything and it would undo nothing.
  private func counts(_ press: AcceptedCommand, behind done: [Projection], in phase: RunPhase) -> Bool {
    let kind = press.command.kind
    let last = done.last { if case .kept = $0.fate { true } else { false } }
    if let wish = wish(in: done) {
      return wish.kind == kind && wish.made == last?.press.command.id && Self.phase(after: kind) == phase
    }
    return !(last.map { Self.undoes(kind, $0.press.command.kind) } ?? false)
  }

  // MARK: Late presses

  private mutating func judgeLate(at now: BusTime) {
    let presses = late.sorted(by: Self.isBefore)
    late = []
    for press in presses {
      let answer = judgeAlone(press, at: now)
      judged.append((press, answer))
      // A late press that applies becomes a settled window of its own.
      if answer.outcome == .applied {
        settledWindows.append(
          Settled(first: press.pressedAt, deadline: press.pressedAt + length, applied: [(press, answer)]))
      }
    }
  }

  private mutating func judgeAlone(_ press: AcceptedCommand, at now: BusTime) -> Verdict {
    let kind = press.command.kind
    let named = press.command.runID.map(resolve)
    // "The run that the ledger shows at its press time."
    let meant = named ?? transitions.last { !$0.isAmendment && $0.effectiveAt <= press.pressedAt }?.run

    if let expected = press.command.ifRevision, expected != revision {
      return verdict(press, .rejected(.revisionChanged(expected)), run: meant)
    }
    // 1
    if let past = settled(kind, at: press.pressedAt, run: kind == .start ? nil : named) {
      alias(press, to: past.runID)
      return shared(press, past)
    }
    if kind != .start, meant == run, let maker = present.last, Self.phase(after: kind) == phase {
      return verdict(
        press, .coalesced(into: maker.commandID), run: maker.run, revision: maker.revision,
        effectiveAt: maker.effectiveAt)
    }
    // 2
    if now - press.pressedAt > .seconds(24 * 60 * 60) { return verdict(press, .rejected(.tooOld), run: meant) }
    // A start neither begins a known run again nor another run while one is on.
    let own = resolve(mint(press))
    if kind == .start, isKnown(own), !(own == run && Self.isOn(phase)) {
      return verdict(press, .rejected(.illegal(.completed)), run: own)
    }
    if kind == .start, Self.isOn(phase), let run, let start = present.last(where: { $0.kind == .start }) {
      alias(press, to: run)
      return verdict(
        press, .coalesced(into: start.commandID), run: run, revision: start.revision, effectiveAt: start.effectiveAt)
    }
    // After stop.
    if kind != .start, let meant, let stop = transitions.last(where: { $0.run == meant && $0.kind == .stop }),
      press.pressedAt < stop.effectiveAt
    {
      let there = phase(of: meant, at: press.pressedAt)
      if kind == .lap, Self.isOn(there) {
        return verdict(press, .applied, run: meant, effectiveAt: press.pressedAt)
      }
      if kind == .pause || kind == .resume, press.deviceID == stop.deviceID {
        if Self.isLegal(kind, in: there) {
          transitions.append(
            Transition(
              kind: kind, commandID: press.command.id, deviceID: press.deviceID, run: meant, revision: revision,
              effectiveAt: press.pressedAt, isAmendment: true))
          return verdict(press, .applied, run: meant, effectiveAt: press.pressedAt)
        }
        if Self.phase(after: kind) == there, let maker = last(of: meant, at: press.pressedAt) {
          return verdict(
            press, .coalesced(into: maker.commandID), run: meant, revision: maker.revision,
            effectiveAt: maker.effectiveAt)
        }
        return verdict(press, .rejected(.illegal(there)), run: meant)
      }
    }
    // 3
    if kind != .lap, isStale(press) { return verdict(press, .rejected(.staleRevision), run: meant) }
    // 4
    if kind == .start {
      make(press, run: mint(press))
      return verdict(press, .applied, run: run, effectiveAt: present.last?.effectiveAt)
    }
    guard let meant else { return verdict(press, .rejected(.illegal(.idle)), run: nil) }
    if meant != run {
      return verdict(press, .rejected(run == nil ? .illegal(.idle) : .otherRun), run: meant)
    }
    if kind == .lap {
      if Self.isOn(phase), isBeforeStart(press, of: meant) {
        return verdict(press, .rejected(.illegal(.idle)), run: meant)
      }
      guard Self.isOn(phase) else { return verdict(press, .rejected(.illegal(phase)), run: meant) }
      return verdict(press, .applied, run: meant, effectiveAt: lapTime(press, run: meant))
    }
    guard Self.isLegal(kind, in: phase) else { return verdict(press, .rejected(.illegal(phase)), run: meant) }
    make(press, run: meant)
    return verdict(press, .applied, run: meant, effectiveAt: present.last?.effectiveAt)
  }

  private func isStale(_ press: AcceptedCommand) -> Bool {
    let byOthers = judged.contains { other in
      guard other.press.deviceID != press.deviceID, other.press.command.kind != .lap else { return false }
      if case .rejected = other.verdict.outcome { return false }
      return other.press.pressedAt > press.pressedAt
    }
    if byOthers { return true }
    if let base = press.command.base,
      base.commandID == present.last(where: { $0.revision == base.revision })?.commandID, base.revision <= revision
    {
      let own = judged.filter { $0.press.deviceID == press.deviceID && countsForBase($0) }.map(\.verdict.revision)
      let effective = max(base.revision, own.max() ?? 0)
      return present.contains { $0.deviceID != press.deviceID && $0.revision > effective }
    }
    return present.contains { $0.effectiveAt > press.pressedAt }
  }

  /// Laps and amendments do not make a base stale.
  private func countsForBase(_ answer: (press: AcceptedCommand, verdict: Verdict)) -> Bool {
    if answer.press.command.kind == .lap { return false }
    switch answer.verdict.outcome {
    case .applied: return present.contains { $0.commandID == answer.verdict.commandID }
    case .coalesced(let maker): return present.contains { $0.commandID == maker }
    case .superseded, .rejected, .unknown: return false
    }
  }

  // MARK: State and its queries

  /// The transitions of the authoritative state.
  private var present: [Transition] { transitions.filter { !$0.isAmendment } }

  private static func phase(after kind: CommandKind) -> RunPhase? {
    switch kind {
    case .start, .resume: .running
    case .pause: .paused
    case .stop: .completed
    case .lap: nil
    }
  }

  private static func isOn(_ phase: RunPhase) -> Bool { phase == .running || phase == .paused }

  private static func isLegal(_ kind: CommandKind, in phase: RunPhase) -> Bool {
    switch (phase, kind) {
    case (.idle, .start), (.completed, .start): true
    case (.running, .pause), (.running, .stop), (.running, .lap): true
    case (.paused, .resume), (.paused, .stop), (.paused, .lap): true
    default: false
    }
  }

  private static func undoes(_ kind: CommandKind, _ last: CommandKind) -> Bool {
    kind == .resume && last == .pause || kind == .pause && last == .resume
  }

  /// The phase of a run at a moment, amendments included.
  private func phase(of run: RunID, at time: BusTime) -> RunPhase {
    last(of: run, at: time).flatMap { Self.phase(after: $0.kind) } ?? .idle
  }

  /// The transition that made the phase of a run at a moment.
  private func last(of run: RunID, at time: BusTime) -> Transition? {
    let past = transitions.filter { $0.run == run && $0.effectiveAt <= time }
    let latest = past.map(\.effectiveAt).max()
    return past.last { $0.effectiveAt == latest }
  }

  private func isKnown(_ run: RunID) -> Bool { transitions.contains { $0.run == run } }

  /// Whether a press is before the run's start by more than clocks may differ.
  private func isBeforeStart(_ press: AcceptedCommand, of run: RunID) -> Bool {
    guard let start = present.last(where: { $0.kind == .start && $0.run == run }) else { return false }
    return press.pressedAt < start.effectiveAt - max(length, lateAfter)
  }

  /// A lap is not earlier than the start of its run.
  private func lapTime(_ press: AcceptedCommand, run: RunID?) -> BusTime {
    let start = present.last { $0.kind == .start && $0.run == run }
    return max(press.pressedAt, start?.effectiveAt ?? press.pressedAt)
  }

  /// The applied command of a settled window that contains this moment.
  private func settled(_ kind: CommandKind, at time: BusTime, run: RunID?) -> Verdict? {
    for window in settledWindows.reversed() where window.first <= time && time < window.deadline {
      for applied in window.applied.reversed() where applied.verdict.kind == kind {
        let isBehindStop = window.applied.contains {
          $0.verdict.kind == .stop && $0.verdict.runID == applied.verdict.runID && $0.verdict.effectiveAt! <= time
        }
        if isBehindStop, kind != .start, kind != .stop { continue }
        if run == nil || applied.verdict.runID == run { return applied.verdict }
      }
      // A press does not repeat what was undone since its moment.
      let isUndone = window.applied.contains {
        Self.undoes($0.verdict.kind, kind) && (run == nil || $0.verdict.runID == run)
      }
      if isUndone { return nil }
    }
    return nil
  }

  private func resolve(_ run: RunID) -> RunID { aliases.last { $0.alias == run }?.run ?? run }

  private mutating func alias(_ press: AcceptedCommand, to run: RunID?) {
    guard press.command.kind == .start, let own = press.command.runID, let run, own != run, !isKnown(own),
      !aliases.contains(where: { $0.alias == own })
    else {
      return
    }
    aliases.append((own, run))
  }

  private func mint(_ press: AcceptedCommand) -> RunID {
    press.command.runID ?? RunID(high: press.command.id.high, low: press.command.id.low)
  }

  /// "Effective at their press times, clamped to not precede the last transition."
  private mutating func make(_ press: AcceptedCommand, run: RunID) {
    let last = present.last?.effectiveAt ?? press.pressedAt
    transitions.append(
      Transition(
        kind: press.command.kind, commandID: press.command.id, deviceID: press.deviceID, run: run,
        revision: revision + 1, effectiveAt: max(press.pressedAt, last)))
  }

  private func verdict(
    _ press: AcceptedCommand, _ outcome: Outcome, run: RunID?, revision: UInt64? = nil, effectiveAt: BusTime? = nil
  ) -> Verdict {
    Verdict(
      commandID: press.command.id, kind: press.command.kind, source: press.command.source, outcome: outcome,
      runID: run, term: 1, revision: revision ?? self.revision, effectiveAt: effectiveAt)
  }

  /// Coalesced into another command, whose result it shares.
  private func shared(_ press: AcceptedCommand, _ other: Verdict) -> Verdict {
    verdict(
      press, .coalesced(into: other.commandID), run: other.runID, revision: other.revision,
      effectiveAt: other.effectiveAt)
  }
}
