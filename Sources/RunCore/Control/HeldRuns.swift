/// The whole runs whose stop has not come, or waits for a window to settle: each a start that said "my stop is behind me"
/// and what its device pressed after it (docs/protocol.md, "Whole runs").
///
/// What a sender holds here is bounded, for a stop may never come: beyond the bounds the oldest unfinished run falls apart.
struct HeldRuns: Sendable {
  /// A run that arrives piece by piece.
  struct Run: Sendable {
    /// Its first start.
    let start: AcceptedCommand
    /// All of it, in order of arrival.
    fileprivate(set) var presses: [AcceptedCommand]
    /// Its stop cannot come any more: it falls apart when no window is open, unless the stop comes before that.
    fileprivate(set) var isLost = false

    /// Its stop is here.
    var isWhole: Bool { presses.contains { $0.command.kind == .stop } }
  }

  /// Held commands of one device's unfinished runs, and of all devices' together.
  static let (deviceMax, totalMax) = (256, 512)

  /// In order of arrival of their starts.
  private(set) var runs: [Run] = []

  /// How many presses are held.
  var count: Int { runs.reduce(0) { $0 + $1.presses.count } }

  /// How many presses of runs without a stop are held.
  var unfinishedCount: Int { runs.reduce(0) { $0 + ($1.isWhole ? 0 : $1.presses.count) } }

  /// Whether a press is one of a run without a stop.
  func isUnfinished(_ id: CommandID) -> Bool {
    runs.contains { !$0.isWhole && $0.presses.contains { $0.command.id == id } }
  }

  /// Whether a press is held.
  func contains(_ id: CommandID) -> Bool { runs.contains { $0.presses.contains { $0.command.id == id } } }

  /// Whether a run is held whose start came by a stream.
  func waits(on stream: StreamID) -> Bool { runs.contains { $0.start.stream == stream } }

  /// Whether a press goes with a held run: it names its run, or it names none and came behind the start.
  func claims(_ press: AcceptedCommand) -> Bool { index(of: press) != nil }

  private func index(of press: AcceptedCommand) -> Int? {
    runs.lastIndex { run in
      guard run.start.deviceID == press.deviceID else { return false }
      if press.command.kind == .start || press.command.runID != nil {
        let named = press.command.kind == .start ? press.runOfStart : press.command.runID
        return named == run.start.runOfStart
      }
      return run.start.stream == press.stream && run.start.sequence < press.sequence
    }
  }

  /// Holds a press: a start that no held run claims begins one.
  mutating func hold(_ press: AcceptedCommand) {
    if let index = index(of: press) {
      runs[index].presses.append(press)
      if press.command.kind != .stop, !press.stopFollows { runs[index].isLost = true }
    } else {
      runs.append(Run(start: press, presses: [press]))
    }
    goOn(press, in: index(of: press))
  }

  /// A stream has gone on with a press of none of its runs: they have lost their stop.
  mutating func goOn(_ press: AcceptedCommand) { goOn(press, in: nil) }

  private mutating func goOn(_ press: AcceptedCommand, in own: Int?) {
    for index in runs.indices where index != own && runs[index].start.stream == press.stream {
      if runs[index].start.sequence < press.sequence { runs[index].isLost = true }
    }
  }

  /// Lets the oldest unfinished runs go until a device's, and all together, are within the bounds; those of devices with
  /// places of their own last. What has fallen apart, in order of arrival.
  mutating func trim(_ device: DeviceID, hasPlaces: (DeviceID) -> Bool) -> [AcceptedCommand] {
    var fallen: [AcceptedCommand] = []
    while unfinished(of: device) > Self.deviceMax, let index = oldest(where: { $0 == device }) {
      fallen += runs.remove(at: index).presses
    }
    while unfinishedCount > Self.totalMax, let index = oldest(where: { !hasPlaces($0) }) ?? oldest(where: { _ in true })
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

  /// Takes out the unfinished runs of a stream that will bring nothing more.
  mutating func abandon(_ stream: StreamID) -> [AcceptedCommand] {
    take { $0.start.stream == stream && !$0.isWhole }.flatMap(\.presses)
  }

  /// Takes out the runs whose stop cannot come.
  mutating func takeLost() -> [AcceptedCommand] { take { $0.isLost && !$0.isWhole }.flatMap(\.presses) }

  /// Takes out the runs that are whole, each in press order, ordered by their first presses.
  mutating func takeWhole() -> [Run] {
    var whole = take(\.isWhole)
    for index in whole.indices { whole[index].presses.sort(by: AcceptedCommand.precedes) }
    return whole.sorted { AcceptedCommand.precedes($0.presses[0], $1.presses[0]) }
  }

  private mutating func take(_ isWanted: (Run) -> Bool) -> [Run] {
    let taken = runs.filter(isWanted)
    if !taken.isEmpty { runs.removeAll(where: isWanted) }
    return taken
  }
}
