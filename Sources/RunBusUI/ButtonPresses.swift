import Foundation
import RunBus

/// The presses of a model: those that wait for their verdict, and the last ones that have it.
struct ButtonPresses {
  /// The most presses that wait. A person does not press that often; more are refused, so that the list is bounded
  /// while the hub is out of reach.
  static let pendingMax = 64
  /// How many presses are kept after their verdict: as many as a screen shows.
  static let decidedMax = 16

  /// Oldest first.
  private(set) var all: [ButtonPress] = []

  /// The presses that wait for their verdict, oldest first.
  var pending: [ButtonPress] { all.filter(\.isPending) }

  /// Adds a press.
  ///
  /// - Returns: Whether the node is to be given its command; `false` when too many wait.
  mutating func add(_ command: Command, at date: Date) -> Bool {
    var press = ButtonPress(command: command, date: date, stage: .pressed, message: nil)
    let isTaken = pending.count < Self.pendingMax
    if !isTaken {
      press.stage = .failed
      press.message = "\(command.kind.rawValue) was not taken: \(Self.pendingMax) presses wait for the hub already"
    }
    all.append(press)
    trim()
    return isTaken
  }

  /// Notes a stage of a command. A press does not go back to an earlier stage, and other commands are ignored.
  mutating func note(_ receipt: Receipt) {
    guard let index = all.firstIndex(where: { $0.id == receipt.commandID }), all[index].isPending else { return }
    switch receipt.stage {
    case .queued: if all[index].stage == .pressed { all[index].stage = .queued }
    case .pending: all[index].stage = .pending
    case .verdict(let verdict):
      all[index].stage = .judged(verdict.outcome)
      all[index].message = verdict.message
      trim()
    }
  }

  /// Notes that the node refused a command.
  mutating func fail(_ id: CommandID, _ message: String) {
    guard let index = all.firstIndex(where: { $0.id == id }), all[index].isPending else { return }
    all[index].stage = .failed
    all[index].message = message
    trim()
  }

  /// The phase with those presses on top that the node has not stored yet, so that its own prediction may lack them.
  func predicted(from phase: RunPhase) -> RunPhase {
    all.reduce(into: RunMachine(phase: phase)) { if $1.stage == .pressed { _ = $0.apply($1.kind) } }.phase
  }

  /// Removes the oldest decided presses beyond the bound.
  private mutating func trim() {
    var surplus = all.count { !$0.isPending } - Self.decidedMax
    all.removeAll { press in
      guard surplus > 0, !press.isPending else { return false }
      surplus -= 1
      return true
    }
  }
}
