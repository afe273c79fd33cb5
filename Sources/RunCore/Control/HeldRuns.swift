/// Runs that were made out of reach and wait for their stop, or for the open window to settle. Each is a start with
/// `stopFollows` and what its device pressed after it (docs/protocol.md, "Whole runs").
///
/// The held presses of unfinished runs are bounded, because a stop may never arrive. Beyond the bounds the oldest
/// unfinished run falls apart: its presses become late ones.
struct HeldRuns: Sendable {
  /// A held run, as far as it has arrived.
  struct Run: Sendable {
    /// The start with which it was first held.
    let start: AcceptedCommand
    /// All its presses, the start included, in order of arrival.
    fileprivate(set) var presses: [AcceptedCommand]
    /// Whether its stop is not expected any more. It then falls apart when no window is open, unless the stop arrives
    /// before that.
    fileprivate(set) var isLost = false

    /// Whether its stop has arrived.
    var isWhole: Bool { presses.contains { $0.command.kind == .stop } }
  }

  /// Bounds on the held presses of unfinished runs: of one device, and of all devices together.
  static let (deviceMax, totalMax) = (256, 512)

  /// The held runs, in order of arrival of their starts.
  private(set) var runs: [Run] = []

  /// How many presses are held.
  var count: Int { runs.reduce(0) { $0 + $1.presses.count } }

  /// How many held presses belong to runs whose stop has not arrived.
  var unfinishedCount: Int { runs.reduce(0) { $0 + ($1.isWhole ? 0 : $1.presses.count) } }

  /// Whether a press is held and belongs to a run whose stop has not arrived.
  func isUnfinished(_ id: CommandID) -> Bool {
    runs.contains { !$0.isWhole && $0.presses.contains { $0.command.id == id } }
  }

  /// Whether a press is held.
  func contains(_ id: CommandID) -> Bool { runs.contains { $0.presses.contains { $0.command.id == id } } }

  /// Whether a run is held whose start arrived in a stream.
  func waits(on stream: StreamID?) -> Bool { stream != nil && runs.contains { $0.start.stream == stream } }

  /// Whether a press belongs to a held run of its device: it names that run, or it names none and follows the start in
  /// the same stream. A conditional press belongs to none, because the runs that are held have no revisions.
  func claims(_ press: AcceptedCommand) -> Bool { press.command.ifRevision == nil && index(of: press) != nil }

  private func index(of press: AcceptedCommand) -> Int? {
    runs.lastIndex { run in
      guard run.start.deviceID == press.deviceID else { return false }
      if press.command.kind == .start || press.command.runID != nil {
        let named = press.command.kind == .start ? press.runOfStart : press.command.runID
        return named == run.start.runOfStart
      }
      return press.store != nil && run.start.store == press.store && run.start.sequence < press.sequence
    }
  }

  /// Adds a press to the held run to which it belongs, or begins a held run with it.
  mutating func hold(_ press: AcceptedCommand) {
    if let index = index(of: press) {
      runs[index].presses.append(press)
      if press.command.kind != .stop, !press.stopFollows { runs[index].isLost = true }
    } else {
      runs.append(Run(start: press, presses: [press]))
    }
    goOn(press, in: index(of: press))
  }

  /// Marks the stream's earlier runs as lost, because its next press belongs to none of them.
  mutating func goOn(_ press: AcceptedCommand) { goOn(press, in: nil) }

  private mutating func goOn(_ press: AcceptedCommand, in own: Int?) {
    for index in runs.indices where index != own && press.store != nil && runs[index].start.store == press.store {
      if runs[index].start.sequence < press.sequence { runs[index].isLost = true }
    }
  }

  /// Removes the oldest unfinished runs until those of a device, and all together, are within the bounds. The runs of
  /// devices with slots of their own in the command queue go last.
  ///
  /// - Returns: the presses of the removed runs, run by run.
  mutating func trim(_ device: DeviceID, hasSlots: (DeviceID) -> Bool) -> [AcceptedCommand] {
    var fallen: [AcceptedCommand] = []
    while unfinished(of: device) > Self.deviceMax, let index = oldest(where: { $0 == device }) {
      fallen += runs.remove(at: index).presses
    }
    while unfinishedCount > Self.totalMax, let index = oldest(where: { !hasSlots($0) }) ?? oldest(where: { _ in true })
    {
      fallen += runs.remove(at: index).presses
    }
    return fallen
  }

  private func unfinished(of device: DeviceID) -> Int {
    runs.reduce(0) { $0 + ($1.start.deviceID == device && !$1.isWhole ? $1.presses.count : 0) }
  }

  private func oldest(where isMeant: (DeviceID) -> Bool) -> Int? {
    runs.firstIndex { !$0.isWhole && isMeant($0.start.deviceID) }
  }

  /// Removes the unfinished runs of a stream that has ended or skipped their stop, and returns their presses.
  mutating func abandon(_ stream: StreamID) -> [AcceptedCommand] {
    take { $0.start.stream == stream && !$0.isWhole }.flatMap(\.presses)
  }

  /// Removes presses for good and returns them. A run whose start is removed falls apart with its next press.
  mutating func remove(where isMeant: (AcceptedCommand) -> Bool) -> [AcceptedCommand] {
    var removed: [AcceptedCommand] = []
    for index in runs.indices.reversed() {
      removed += runs[index].presses.filter(isMeant)
      runs[index].presses.removeAll(where: isMeant)
      if runs[index].presses.isEmpty { runs.remove(at: index) }
    }
    return removed
  }

  /// Removes the runs whose stop is not expected any more and returns their presses.
  mutating func takeLost() -> [AcceptedCommand] { take { $0.isLost && !$0.isWhole }.flatMap(\.presses) }

  /// Removes and returns the whole runs that are due, ordered by their first presses. The presses of each are in press
  /// order.
  mutating func takeWhole(where isDue: (Run) -> Bool) -> [Run] {
    var whole = take { $0.isWhole && isDue($0) }
    for index in whole.indices { whole[index].presses.sort(by: AcceptedCommand.precedes) }
    return whole.sorted { AcceptedCommand.precedes($0.presses[0], $1.presses[0]) }
  }

  private mutating func take(_ isWanted: (Run) -> Bool) -> [Run] {
    let taken = runs.filter(isWanted)
    if !taken.isEmpty { runs.removeAll(where: isWanted) }
    return taken
  }
}
