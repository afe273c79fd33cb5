import RunBus

/// A table of what the nodes show, redrawn in place on a terminal.
struct LiveTable: Sendable {
  /// What one node shows.
  struct Row: Sendable {
    var link = "starting"
    var snapshot: Snapshot?
    var button: RunPhase?
    var verdict: String?
    /// When the snapshot came.
    var seenAt: ContinuousClock.Instant?
  }

  /// What a column shows.
  enum Column: CaseIterable {
    case node, link, order, phase, elapsed, distance, pace, heart, age, button, verdict

    /// The columns that are left out on a narrow terminal, the first one first; node and phase always stay.
    static let droppable: [Column] = [.age, .heart, .pace, .button, .link, .order, .verdict, .distance, .elapsed]

    /// The heading.
    var title: String { layout.title }
    /// The width in characters, with the blank after it.
    var width: Int { layout.width }

    private var layout: (title: String, width: Int) {
      switch self {
      case .node: ("node", 8)
      case .link: ("link", 10)
      case .order: ("t.rev.tick", 12)
      case .phase: ("phase", 11)
      case .elapsed: ("elapsed", 9)
      case .distance: ("distance", 10)
      case .pace: ("pace", 11)
      case .heart: ("heart", 9)
      case .age: ("age", 6)
      case .button: ("button", 11)
      case .verdict: ("last verdict", 18)
      }
    }

    /// The columns that fit into `width`, in order.
    static func fitting(_ width: Int) -> [Column] {
      var columns = allCases
      for column in droppable where columns.reduce(0, { $0 + $1.width }) > width { columns.removeAll { $0 == column } }
      return columns
    }
  }

  private var linesDrawn = 0
  private var drawnOn: Screen?

  /// The text that draws the table over the previous one.
  ///
  /// The last column and row stay empty, because many terminals wrap or scroll when they are written. When there is not
  /// enough room, columns are left out as in ``Column/droppable``, and lines in this order: note, heading, last nodes.
  mutating func draw(
    _ rows: [(node: SpawnedNode, row: Row)], note: String, on screen: Screen, now: ContinuousClock.Instant
  ) -> String {
    let columns = Column.fitting(screen.columns - 1)
    let heading = columns.map { Self.padded($0.title, $0.width) }.joined()
    let nodes = rows.map { Self.line($0.node, $0.row, columns, now) }
    let room = max(1, screen.rows - 1)
    var lines = nodes
    if lines.count < room { lines.insert(heading, at: 0) }
    if lines.count < room { lines.append(note) }
    lines = lines.prefix(room).map { Self.cut($0, screen.columns - 1) }
    // Move up to the table's first line and overwrite each line. After a resize the terminal may have moved or wrapped
    // the old lines: clear the screen and begin at the top.
    let isResized = drawnOn.map { $0 != screen } ?? false
    let up = isResized ? "\u{1B}[H\u{1B}[2J" : linesDrawn > 0 ? "\u{1B}[\(linesDrawn)A" : ""
    linesDrawn = lines.count
    drawnOn = screen
    return up + lines.map { "\r\($0)\u{1B}[K\n" }.joined()
  }

  private static func line(
    _ node: SpawnedNode, _ row: Row, _ columns: [Column], _ now: ContinuousClock.Instant
  ) -> String {
    columns.map { padded(cell($0, node, row, now), $0.width) }.joined()
  }

  private static func cell(
    _ column: Column, _ node: SpawnedNode, _ row: Row, _ now: ContinuousClock.Instant
  ) -> String {
    let metrics = row.snapshot?.metrics
    return switch column {
    case .node: node.rawValue
    case .link: row.link
    case .order: row.snapshot.map(Sentence.order) ?? "-"
    case .phase: row.snapshot?.phase.rawValue ?? "-"
    case .elapsed: metrics.map { DurationText.clock($0.elapsed) } ?? "-"
    case .distance: metrics?.distanceMeters.map(Sentence.distance) ?? "-"
    case .pace: metrics?.currentPaceSecondsPerKilometer.map(Sentence.pace) ?? "-"
    case .heart: metrics?.heartRateBpm.map { "\(Sentence.whole($0)) bpm" } ?? "-"
    case .age: row.seenAt.map { "\((now - $0).components.seconds) s" } ?? "-"
    case .button: row.button?.rawValue ?? "-"
    case .verdict: row.verdict ?? "-"
    }
  }

  private static func cut(_ line: String, _ width: Int) -> String {
    let words = line.prefix(max(1, width))
    return String(words.reversed().drop { $0 == " " }.reversed())
  }

  static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }
}
