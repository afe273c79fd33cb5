import RunCore

/// The world's own account of conditional presses, derived only from what the hub writes: one that was applied had its
/// revision before its window, and beside it no other kind of them changed the run.
struct WorldConditions {
  private(set) var faults: [String] = []
  /// The presses that the commit answers, and the windows that it settles.
  private var judged: [(verdict: Verdict, press: AcceptedCommand)] = []
  private var windows: [SettledWindow] = []

  mutating func judge(_ verdict: Verdict, _ press: AcceptedCommand) {
    let id = verdict.commandID
    guard let expected = press.command.ifRevision else {
      if case .rejected(.revisionChanged) = verdict.outcome { faults.append("\(id) has no condition, and failed it") }
      return
    }
    switch verdict.outcome {
    case .applied: judged.append((verdict, press))
    case .superseded: faults.append("\(id) is conditional, and was undone")
    case .rejected(.revisionChanged(let told)):
      if told != expected { faults.append("\(id) expects revision \(expected), and is told \(told)") }
    case .coalesced, .rejected, .unknown: break
    }
  }

  mutating func settle(_ window: SettledWindow) { windows.append(window) }

  /// Ends the checks of a commit.
  ///
  /// - Parameter made: all transitions that made revisions.
  mutating func end(made: [PastTransition]) {
    defer { (judged, windows) = ([], []) }
    let conditional = Set(judged.filter { $0.press.command.kind != .lap }.map(\.verdict.commandID))
    for window in windows {
      let winners = window.applied.map(\.commandID).filter(conditional.contains)
      if winners.count > 1 { faults.append("\(winners.count) conditional presses changed the run in one window") }
    }
    for (verdict, press) in judged {
      let id = verdict.commandID
      let window = windows.first { $0.applied.contains { $0.commandID == id } }
      let beside = Set(window?.applied.map(\.commandID) ?? [id])
      let first = made.first { beside.contains($0.change.commandID) }
      let before = first.map { $0.revision - 1 } ?? verdict.revision
      if press.command.ifRevision != before {
        faults.append("\(id) counts at revision \(press.command.ifRevision ?? 0), and was applied at \(before)")
      }
    }
  }
}
