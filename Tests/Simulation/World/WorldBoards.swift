import RunCore

// The boards of all nodes of a simulated world: at its end every screen shows the same run.
extension World {
  mutating func checkBoards() {
    check(hub.board, "the hub's board")
    for index in peers.indices where !isImpersonated(index) {
      let board = peers[index].board
      check(board, "the board of peer \(index)")
      let (mine, theirs) = (board.snapshot, hub.board.snapshot)
      if mine.order.revision != theirs.order.revision || mine.phase != theirs.phase || mine.runID != theirs.runID {
        faults.append("the board of peer \(index) shows \(mine.order) \(mine.phase), the hub's \(theirs.order)")
      }
      let signs = [
        ("no link", !board.link.isReachable), ("stale", board.view.isStale), ("off duty", board.view.isHubOffDuty),
        ("an alarm", board.lost != nil), ("the lock screen", board.lockScreen?.isHubLost == true),
      ].filter(\.1).map(\.0)
      if !signs.isEmpty {
        faults.append("the board of peer \(index) has lost the hub, which is there: \(signs.joined(separator: ", "))")
      }
      // What others publish in its name, and what is published late about a press that has left the board, is not its own.
      for press in board.commands where press.isOpen && press.isOwn {
        faults.append("the board of peer \(index) waits for \(press.receipt.commandID), which is judged")
      }
    }
  }

  /// No verdict on a board is another than the durable one. Those on presses of other devices may be missing, because what
  /// is published can be lost.
  private mutating func check(_ board: RunBoard, _ name: String) {
    for press in board.commands {
      let id = press.receipt.commandID
      guard loss == .none, !id.isWrong, let judged = hub.store.verdicts[id] else { continue }
      if case .verdict(let verdict) = press.receipt.stage, verdict != asRead(judged), verdict != judged {
        faults.append("\(name) has another verdict on \(id)")
      }
    }
  }
}
