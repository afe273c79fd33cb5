import Foundation
import SystemC

/// When progress is shown: work that is done within half a second needs none, and no eye reads more than ten lines a
/// second.
struct ProgressPace {
  private static let (patience, pace) = (Duration.milliseconds(500), Duration.milliseconds(100))
  private var due: ContinuousClock.Instant

  init(began: ContinuousClock.Instant = .now) { due = began + Self.patience }

  /// Whether to show progress now. After a yes the next one is due a moment later.
  mutating func isDue(at now: ContinuousClock.Instant = .now) -> Bool {
    guard now >= due else { return false }
    due = now + Self.pace
    return true
  }
}

/// How far a long piece of work is: one line of standard error that is written over, and removed at the end. It is shown
/// on a terminal only.
struct ProgressLine {
  private let isShown = Output.showsProgress
  private var pace = ProgressPace()
  private var isThere = false

  /// Shows a short text in place of the one before, when it is time.
  mutating func show(_ text: @autoclosure () -> String) {
    guard isShown, pace.isDue() else { return }
    Output.show(progress: text())
    isThere = true
  }

  /// Removes the line, so that another one can be written.
  mutating func clear() {
    if isThere { Output.show(progress: "") }
    isThere = false
  }
}
