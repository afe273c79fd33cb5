import RunBus

/// Draws the state as rows for a terminal of a given size.
///
/// With little room parts are left out in this order: the route, commands beyond the third, devices beyond the third,
/// the sparklines (below 50 columns), all commands, all devices. Clock, numbers, alarm and keys stay. Below 40 columns
/// or 10 rows there is one line only.
struct RunScreen: Sendable {
  static let columnsMin = 40
  static let rowsMin = 10
  /// From this width on the route stands beside devices and commands.
  static let wideFrom = 100
  /// From this height on blank rows part the clock, the numbers and the tables.
  static let spacedFrom = 28

  static func rows(_ state: ScreenState, on screen: Screen) -> [StyledRow] {
    guard screen.columns >= columnsMin, screen.rows >= rowsMin else {
      return [StyledRow("too small: \(columnsMin)x\(rowsMin)").cut(to: screen.columns)]
    }
    var rows = [title(state, screen.columns)]
    rows += state.isHelpShown ? help(state) : body(state, screen)
    let room = screen.rows - 1
    rows = Array(rows.prefix(room))
    rows += [StyledRow](repeating: StyledRow(), count: max(0, room - rows.count))
    rows.append(footer(state, screen.columns))
    return rows.map { $0.cut(to: screen.columns) }
  }

  private static func title(_ state: ScreenState, _ columns: Int) -> StyledRow {
    let left = " RunBus  \(state.bus)"
    let right = "presses as \(state.source.rawValue) "
    let blank = columns - TextWidth.of(left) - TextWidth.of(right)
    return StyledRow(
      blank > 0 ? left + String(repeating: " ", count: blank) + right : TextWidth.fitted(left, to: columns), .inverse)
  }

  private static func footer(_ state: ScreenState, _ columns: Int) -> StyledRow {
    if state.isHelpShown { return StyledRow(" any key closes the help", .dim) }
    let presses = ["s start", "p pause", "r resume", "x stop", "l lap"]
    let rows =
      state.hasNodes
      ? [
        (presses + ["1-3 node", "o offline", "k kill", "n restart", "a all press", "? help", "q quit"])
          .joined(separator: "  "),
        (presses + ["1-3 node", "o offline", "k kill", "n new", "a all", "?", "q"]).joined(separator: " "),
        "s p r x l  1-3 o k n a  ? help  q quit",
      ]
      : [
        (presses + ["tab source", "? help", "q quit"]).joined(separator: "  "),
        "s start p pause r resume x stop l lap ? help q quit", "s p r x l  tab  ? help  q quit",
      ]
    let text = rows.first { TextWidth.of($0) < columns } ?? rows[rows.count - 1]
    return StyledRow(TextWidth.cut(" \(text)", to: columns), .dim)
  }

  // MARK: The run

  private static func body(_ state: ScreenState, _ screen: Screen) -> [StyledRow] {
    let gap = screen.rows >= spacedFrom ? [StyledRow()] : []
    var top = gap + clock(state, screen.columns) + gap + numbers(state, screen.columns)
    let alarms = state.alarms.map { " ! \(ForeignText.shown($0))" }
    if let alarm = alarms.first(where: { TextWidth.of($0) <= screen.columns }) ?? alarms.last {
      top.append(StyledRow(alarm, .bad))
    }
    if !state.told.isEmpty { top.append(StyledRow(" \(ForeignText.shown(state.told))", .accent)) }
    top += gap
    let room = screen.rows - 2 - top.count
    guard room > 0 else { return top }
    guard screen.columns >= wideFrom else {
      let devices = Array(self.devices(state).prefix(max(2, min(4, room / 2))))
      let commands = Array(self.commands(state).prefix(room - devices.count >= 12 ? 6 : 4))
      var rows = top + devices + gap + commands + gap
      let left = screen.rows - 2 - rows.count
      if left >= 5 { rows += route(state, columns: screen.columns, rows: left) }
      return rows
    }
    let width = max(30, screen.columns * 2 / 5)
    let picture = route(state, columns: width - 2, rows: room)
    let right = Array(devices(state).prefix(max(2, room / 2))) + gap + commands(state)
    return top
      + (0..<room).map { index in
        (index < picture.count ? picture[index] : StyledRow()).beside(
          index < right.count ? right[index] : StyledRow(), at: width)
      }
  }

  private static func style(of phase: RunPhase) -> Style {
    switch phase {
    case .running: .good
    case .paused: .waiting
    case .idle, .completed, .unknown: .bold
    }
  }

  /// The clock in large digits, with the phase beside it.
  private static func clock(_ state: ScreenState, _ columns: Int) -> [StyledRow] {
    let snapshot = state.snapshot
    let time = DurationText.clock(state.active ?? snapshot.metrics.active)
    let digits = Pictures.large(time, hasUnicode: state.hasUnicode)
    var words = [StyledRow(state.predicted.rawValue.uppercased(), style(of: state.predicted))]
    if state.predicted != snapshot.phase, snapshot.phase != .unknown {
      words[0].add("  (the hub: \(snapshot.phase.rawValue))", .dim)
    }
    if let change = snapshot.changedBy {
      words.append(StyledRow("by \(ForeignText.shown(change.source.rawValue)) on \(change.deviceID)", .dim))
    }
    let elapsed = state.elapsed ?? snapshot.metrics.elapsed
    var facts = "elapsed \(DurationText.clock(elapsed))"
    if snapshot.metrics.isAutoPaused { facts += "  auto-paused" }
    if snapshot.metrics.lapCount > 0 { facts += "  laps \(snapshot.metrics.lapCount)" }
    words.append(StyledRow(facts, .dim))
    return digits.enumerated().map { index, line in
      StyledRow(" \(line)", style(of: snapshot.phase)).beside(
        index < words.count ? words[index] : StyledRow(), at: min(columns / 2, TextWidth.of(line) + 4))
    }
  }

  private static func numbers(_ state: ScreenState, _ columns: Int) -> [StyledRow] {
    let (metrics, units) = (state.metrics, state.units)
    let isRunning = state.snapshot.phase == .running
    /// A value, with its age in a run whose sensor is silent.
    func value(_ text: String?, _ metric: Metric) -> (text: String, style: Style) {
      guard let text else { return ("-", .bold) }
      guard isRunning, metrics.isStale(metric) else { return (text, .bold) }
      return (Sentence.aged(text, metric, of: metrics), .dim)
    }
    // Without positions the average pace still changes with time, so it does not stand for the present pace.
    let average = isRunning && metrics.isStale(.distance) ? nil : metrics.averagePaceSecondsPerKilometer
    let pace = metrics.currentPaceSecondsPerKilometer ?? average
    let values = [
      value(metrics.distanceMeters.map(units.distanceText), .distance), value(pace.map(units.paceText), .distance),
      value(metrics.heartRateBpm.map { "\(Sentence.whole($0)) bpm" }, .heartRate),
    ]
    let width = max(13, (values.map { TextWidth.of($0.text) }.max() ?? 0) + 2)
    func row(_ name: String, _ value: (text: String, style: Style), _ spark: String) -> StyledRow {
      var row = StyledRow(" \(TextWidth.fitted(name, to: 10))", .dim)
      row.add(TextWidth.fitted(value.text, to: width), value.style)
      row.add(spark, .accent)
      return row
    }
    let room = columns < 50 ? 0 : columns - 13 - width
    func spark(_ values: [Double?], isInverted: Bool) -> String {
      room > 0 ? Pictures.sparkline(values, columns: room, isInverted: isInverted, hasUnicode: state.hasUnicode) : ""
    }
    var distance = row("distance", values[0], "")
    if room > 0 {
      var more: [String] = []
      if let average = metrics.averagePaceSecondsPerKilometer { more.append("average \(units.paceText(average))") }
      if let climbed = metrics.elevationGainMeters { more.append("climbed \(units.heightText(climbed))") }
      if let energy = metrics.energyJoules { more.append(Units.energyText(energy)) }
      while !more.isEmpty, TextWidth.of(more.joined(separator: "  ")) > columns - distance.width { more.removeLast() }
      distance.add(more.joined(separator: "  "), .dim)
    }
    return [
      distance, row("pace", values[1], spark(state.pace, isInverted: true)),
      row("heart", values[2], spark(state.heartRate, isInverted: false)),
    ]
  }

  private static func devices(_ state: ScreenState) -> [StyledRow] {
    var rows = [StyledRow(" DEVICE        STATE     ROUND TRIP  WAITING  HEARD", .dim)]
    for device in state.devices {
      let isChosen = device.name == state.chosenNode
      var row = StyledRow("\(isChosen ? ">" : " ")\(TextWidth.fitted(device.name, to: 14))", isChosen ? .bold : .plain)
      let (word, style) = device.standing(isBlind: state.isBlind)
      row.add(TextWidth.fitted(word, to: 10), style)
      let roundTrip = device.roundTrip.map { "\(Sentence.fixed($0.seconds * 1000, 1)) ms" } ?? "-"
      let isOld = style == .dim
      row.add(
        TextWidth.fitted(isOld ? "-" : roundTrip, to: 12) + TextWidth.fitted(isOld ? "-" : "\(device.waiting)", to: 9),
        isOld ? .dim : .plain)
      row.add(device.ageSeconds.map { Sentence.old($0) } ?? "-", isOld ? .dim : .plain)
      rows.append(row)
    }
    if state.devices.isEmpty { rows.append(StyledRow(" no other device yet", .dim)) }
    return rows
  }

  private static func commands(_ state: ScreenState) -> [StyledRow] {
    var rows = [StyledRow(" COMMANDS", .dim)]
    for command in state.commands {
      var row = StyledRow(" \(command.time) ", .dim)
      row.add(TextWidth.fitted(ForeignText.shown(command.device), to: 10) + " ")
      row.add(ForeignText.shown(command.text), command.style)
      rows.append(row)
    }
    if state.commands.isEmpty { rows.append(StyledRow(" \(state.noPresses)", .dim)) }
    return rows
  }

  private static func route(_ state: ScreenState, columns: Int, rows: Int) -> [StyledRow] {
    let lines = Pictures.route(state.route, columns: columns - 2, rows: rows - 1, hasUnicode: state.hasUnicode)
    return [StyledRow(" ROUTE", .dim)]
      + (lines.isEmpty ? [StyledRow(" no positions yet", .dim)] : lines.map { StyledRow(" \($0)") })
  }

  private static func help(_ state: ScreenState) -> [StyledRow] {
    // At most 40 columns each: the help is whole on the smallest screen.
    var lines = [
      "", " s    start a run       p  pause", " r    resume            x  stop", " l    mark a lap",
      " tab  press as phone, watch, liveActivity", "      or shell",
    ]
    if state.hasNodes {
      lines += [
        " 1-3  choose phone, watch or widget", " o    take it offline, or back online", " k    kill it (kill -9)",
        " n    start it again", " a    all three: pause in a run, resume", "      in a pause, start otherwise",
      ]
    }
    lines += [" ?    this help         q  quit (Ctrl-C)", " Ctrl-Z  to the shell; fg comes back"]
    return lines.map { StyledRow($0) }
  }
}
