import RunCore
import RunWire

extension DrivenNode {
  /// Checks readings before the node takes all of them in.
  ///
  /// - Throws: ``RunBusError/Code/closed`` when the node does not run, ``RunBusError/Code/badInput`` for a value that no
  ///   sensor gives.
  func checkReadings(_ samples: [Sample]) throws(RunBusError) {
    guard driver.lifecycle.isRunning else { throw RunBusError(.closed, "the node does not run") }
    if let wrong = samples.first(where: { !$0.value.isCarried }) {
      throw RunBusError(.badInput, "\(wrong.value) is no reading of a sensor: none of \(samples.count) was taken in")
    }
  }
}
