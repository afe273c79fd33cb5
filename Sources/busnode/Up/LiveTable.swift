import RunBus

/// The nodes' views side by side, redrawn in place on a terminal.
struct LiveTable: Sendable {
  /// What one node shows.
  struct Row: Sendable {
    var link = "starting"
    var snapshot: SnapshotJSON?
    var button: RunPhase?
    var verdict: String?
    /// When the snapshot came.
    var seenAt: ContinuousClock.Instant?
  }

  private static let columns: [(title: String, width: Int)] = [
    ("node", 8), ("link", 10), ("t.rev.tick", 12), ("phase", 11), ("elapsed", 9), ("distance", 10), ("pace", 11),
    ("heart", 9), ("age", 6), ("button, last verdict", 40),
  ]
  private var linesDrawn = 0

  /// The text that draws the table over the one before.
  mutating func draw(_ rows: [(node: SpawnedNode, row: Row)], note: String, now: ContinuousClock.Instant) -> String {
    var lines = [Self.columns.map { Self.padded($0.title, $0.width) }.joined()]
    for (node, row) in rows { lines.append(Self.line(node, row, now)) }
    lines.append(note)
    // Up to the table's first line; then each line is written over and the rest of it cleared.
    let up = linesDrawn > 0 ? "\u{1B}[\(linesDrawn)A" : ""
    linesDrawn = lines.count
    return up + lines.map { "\r\($0)\u{1B}[K\n" }.joined()
  }

  private static func line(_ node: SpawnedNode, _ row: Row, _ now: ContinuousClock.Instant) -> String {
    let metrics = row.snapshot?.metrics
    var cells = [node.rawValue, row.link]
    cells.append(row.snapshot.map(Sentence.order) ?? "-")
    cells.append(row.snapshot?.phase.rawValue ?? "-")
    cells.append(metrics.map { Sentence.clock($0.elapsedSeconds) } ?? "-")
    cells.append(metrics?.distanceMeters.map(Sentence.distance) ?? "-")
    cells.append(metrics?.currentPaceSecondsPerKilometer.map(Sentence.pace) ?? "-")
    cells.append(metrics?.heartRateBpm.map { "\(Sentence.whole($0)) bpm" } ?? "-")
    cells.append(row.seenAt.map { "\((now - $0).components.seconds) s" } ?? "-")
    cells.append([row.button?.rawValue, row.verdict].compactMap { $0 }.joined(separator: ", "))
    // One column stays free: a line that fills the terminal would wrap and break the redrawing.
    let line = zip(cells, columns).map { padded($0, $1.width) }.joined()
    return String(line.prefix(119))
  }

  static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }
}
