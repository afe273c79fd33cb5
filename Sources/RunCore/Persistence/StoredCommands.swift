/// What a hub's store holds of commands.
package struct StoredCommands: Sendable {
  /// A command that waits for its verdict, and its place in the order of acceptance.
  package typealias Accepted = (press: AcceptedCommand, class: Admission, place: UInt64)
  private typealias Judged = (verdict: Verdict, press: AcceptedCommand, judgedAt: BusTime, place: UInt64)

  /// Accepted commands without a verdict.
  package private(set) var accepted: [CommandID: Accepted] = [:]
  /// The further stores that have sent an accepted command, ordered by their ids.
  package private(set) var claims: [CommandID: [StoreID]] = [:]
  private var judged: [CommandID: Judged] = [:]
  private var windows: [SettledWindow] = []
  private var place: UInt64 = 0

  /// A command that is accepted again goes to the end.
  mutating func accept(_ press: AcceptedCommand, _ admission: Admission) {
    place += 1
    accepted[press.command.id] = (press, admission, place)
  }

  mutating func claim(_ id: CommandID, by store: StoreID) {
    let others = claims[id]?.filter { $0 != store } ?? []
    claims[id] = (others + [store]).sorted()
  }

  mutating func reclassify(_ id: CommandID, _ admission: Admission) { accepted[id]?.class = admission }

  /// Of a command that is judged again the last verdict counts.
  mutating func judge(_ verdict: Verdict, _ press: AcceptedCommand, at moment: BusTime) {
    place += 1
    accepted[press.command.id] = nil
    claims[press.command.id] = nil
    judged[press.command.id] = (verdict, press, moment, place)
  }

  mutating func forgetVerdicts(before moment: BusTime) { judged = judged.filter { $0.value.judgedAt >= moment } }

  mutating func settle(_ window: SettledWindow) {
    windows.append(window)
    let excess = windows.count - ControlHistory.windowsMax
    if excess > 0 { windows.removeFirst(excess) }
  }

  func fill(_ history: inout HubHistory) {
    history.accepted = accepted.values.sorted { $0.place < $1.place }.map { ($0.press, $0.class) }
    history.claims = claims
    history.verdicts = judged.values.sorted { $0.place < $1.place }.map { ($0.verdict, $0.press, $0.judgedAt) }
    history.windows = windows
  }
}
