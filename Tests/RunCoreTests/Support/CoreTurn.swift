@testable import RunCore

extension HubCore {
  /// Calls a function of the core in a turn of its own, and returns its result without the actions.
  mutating func inTurn<Result>(at now: BusTime, _ body: (inout HubCore, inout Turn) -> Result) -> Result {
    var turn = Turn(at: now, &rest)
    let result = body(&self, &turn)
    _ = turn.end(&rest)
    return result
  }
}
