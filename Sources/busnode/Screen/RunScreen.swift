import RunBus

/// Draws the state as rows for a terminal of a given size.
///
/// With little room parts are left out in this order: the route, commands beyond the third, devices beyond the third, the
/// sparklines (below 50 columns), all commands, all devices. Clock, numbers, alarm and keys stay. Below 40 columns or 10
/// rows there is one line only.
struct RunScreen: Sendable {
  static let columnsMin = 40
  static let rowsMin = 10
  /// From this width on the route stands beside devices and commands.
  static let wideFrom = 100
  /// From this height on blank rows part the clock, the numbers and the tables.
  static let spacedFrom = 28

  static func rows(_ state: ScreenState, on screen: Screen) -> [StyledRow] {
    guard screen.columns >= columnsMin, screen.rows >= rowsMin else {
      return [StyledRow("this terminal is too small: \(columnsMin) by \(rowsMin) at least").cut(to: screen.columns)]
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
    let words =
      state.isHelpShown
      ? ["any key closes the help"]
      : ["s start", "p pause", "r resume", "x stop", "l lap", "tab source"]
        + (state.hasNodes ? ["1-3 node", "o offline", "k kill", "n restart", "a all press"] : []) + [
          "? help", "q quit",
        ]
    var text = ""
    for word in words {
      let next = text.isEmpty ? " \(word)" : "\(text)  \(word)"
      // Help and quit stay.
      guard TextWidth.of(next) <= columns - (word == words.last ? 0 : 16) || word == "? help" || word == "q quit" else {
        continue
      }
      text = next
    }
    return StyledRow(TextWidth.cut(text, to: columns), .dim)
  }

  // MARK: The run

  private static func body(_ state: ScreenState, _ screen: Screen) -> [StyledRow] {
    let gap = screen.rows >= spacedFrom ? [StyledRow()] : []
    var top = gap + clock(state, screen.columns) + gap + numbers(state, screen.columns)
    if let alarm = state.alarm { top.append(StyledRow(" ! \(ForeignText.shown(alarm))", .bad)) }
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
    let (metrics, units) = (state.snapshot.metrics, state.units)
    func row(_ name: String, _ value: String, _ spark: String) -> StyledRow {
      var row = StyledRow(" \(TextWidth.fitted(name, to: 10))", .dim)
      row.add(TextWidth.fitted(value, to: 13), .bold)
      row.add(spark, .accent)
      return row
    }
    let room = columns < 50 ? 0 : columns - 26
    func spark(_ values: [Double?], isInverted: Bool) -> String {
      room > 0 ? Pictures.sparkline(values, columns: room, isInverted: isInverted, hasUnicode: state.hasUnicode) : ""
    }
    let pace = metrics.currentPaceSecondsPerKilometer ?? metrics.averagePaceSecondsPerKilometer
    var distance = row("distance", metrics.distanceMeters.map(units.distanceText) ?? "-", "")
    if room > 0 {
      var more: [String] = []
      if let average = metrics.averagePaceSecondsPerKilometer { more.append("average \(units.paceText(average))") }
      if let climbed = metrics.elevationGainMeters { more.append("climbed \(units.heightText(climbed))") }
      if let energy = metrics.energyJoules { more.append(Units.energyText(energy)) }
      distance.add(more.joined(separator: "  "), .dim)
    }
    return [
      distance, row("pace", pace.map(units.paceText) ?? "-", spark(state.pace, isInverted: true)),
      row(
        "heart", metrics.heartRateBpm.map { "\(Sentence.whole($0)) bpm" } ?? "-",
        spark(state.heartRate, isInverted: false)),
    ]
  }

  private static func devices(_ state: ScreenState) -> [StyledRow] {
    var rows = [StyledRow(" DEVICE        STATE     ROUND TRIP  QUEUE  AGE", .dim)]
    for device in state.devices {
      let isChosen = device.name == state.chosenNode
      var row = StyledRow("\(isChosen ? ">" : " ")\(TextWidth.fitted(device.name, to: 14))", isChosen ? .bold : .plain)
      row.add(TextWidth.fitted(device.state ?? (device.isHere ? "here" : "gone"), to: 10), device.isHere ? .good : .bad)
      let roundTrip = device.roundTrip.map { "\(Sentence.fixed($0.seconds * 1000, 1)) ms" } ?? "-"
      row.add(TextWidth.fitted(roundTrip, to: 12) + TextWidth.fitted("\(device.waiting)", to: 7))
      row.add(device.ageSeconds.map { "\(Int($0)) s" } ?? "-")
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
    if state.commands.isEmpty { rows.append(StyledRow(" no presses yet", .dim)) }
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
        " n    start it again", " a    press on all three at once",
      ]
    }
    lines += [" ?    this help         q  quit (Ctrl-C)", " Ctrl-Z  to the shell; fg comes back"]
    return lines.map { StyledRow($0) }
  }
}
