import RunBus
import RunScripts

/// Draws the state as rows for a terminal of a given size.
///
/// With little room parts are left out in this order: the members of a room, splits and laps (below 120 columns), the
/// route, commands beyond the third, devices (each role but the chosen one is a row then), the scales of the sparklines
/// (below 70 columns) and these (below 50), columns of the devices, all commands, all devices. A heading says how many
/// rows are missing below it, and a text that is cut ends with an ellipsis. Clock, numbers, alarm and keys stay.
/// Below 40 columns or 10 rows there is one line only.
struct RunScreen: Sendable {
  static let columnsMin = 40
  static let rowsMin = 10
  /// From this width on the route stands beside devices and commands.
  static let wideFrom = 100
  /// From this width on splits and laps have room, and the route takes up to half of it.
  static let splitsFrom = 120
  /// What the longest verdict of a command takes.
  private static let commandColumns = 66
  /// From this width on a sparkline has a scale: its lowest and highest value.
  static let scaleFrom = 70
  /// From this height on blank rows part the clock, the numbers and the tables.
  static let spacedFrom = 28

  static func rows(_ state: ScreenState, on screen: Screen) -> [StyledRow] {
    guard screen.columns >= columnsMin, screen.rows >= rowsMin else {
      return [StyledRow(Tongue.say(.tooSmall, ["columns": columnsMin, "rows": rowsMin])).cut(to: screen.columns)]
    }
    let room = screen.rows - 2
    var rows = state.isHelpShown ? fitted(help(state), to: room) : body(state, screen)
    rows = [title(state, screen.columns)] + rows.prefix(room)
    rows += [StyledRow](repeating: StyledRow(), count: max(0, screen.rows - 1 - rows.count))
    rows.append(footer(state, screen.columns))
    return rows.map { $0.shortened(to: screen.columns, hasUnicode: state.hasUnicode) }
  }

  private static func title(_ state: ScreenState, _ columns: Int) -> StyledRow {
    let source = state.source.spoken
    let pairs = [
      (" RunBus  \(state.bus)", Tongue.say(.pressesAs, ["source": source])),
      (" \(state.bus)", Tongue.say(.pressesAs, ["source": source])),
      (" \(state.bus)", "\(source) "),
    ]
    func blank(_ pair: (String, String)) -> Int { columns - TextWidth.of(pair.0) - TextWidth.of(pair.1) }
    guard let pair = pairs.first(where: { blank($0) > 0 }) else { return StyledRow(" \(state.bus)", .inverse) }
    return StyledRow(pair.0 + String(repeating: " ", count: blank(pair)) + pair.1, .inverse)
  }

  /// The keys that have a use now. The help shows all.
  private static func footer(_ state: ScreenState, _ columns: Int) -> StyledRow {
    if state.isHelpShown { return StyledRow(Tongue.say(.helpCloses), .dim) }
    let presses = state.usefulPresses.map { "\($0.key) \($0.does)" }
    let letters = state.usefulPresses.map { String($0.key) }.joined(separator: " ")
    let ends = [Tongue.say(.keyHelp), Tongue.say(.keyQuit)]
    let least = ends.joined(separator: "  ")
    let rows: [String]
    if state.hasNodes {
      let isOffline = state.devices?.contains { $0.name == state.chosenNode && $0.state == "offline" } == true
      let line = "o " + (isOffline ? Tongue.say(.keyOnline) : Tongue.say(.keyOffline))
      let node = [Tongue.say(.keyNode, ["keys": state.nodeKeys]), line, Tongue.say(.keyKill)]
      let all = Tongue.say(.keyAll, ["command": state.commandForAll.spoken])
      let long = presses + node + [Tongue.say(.keyRestart), all] + ends
      let short = presses + node + [Tongue.say(.keyNew), Tongue.say(.keyAllShort)]
      rows = [
        long.joined(separator: "  "), (short + ends).joined(separator: " "),
        (short + ["?", "q"]).joined(separator: " "),
        "\(letters)  \(state.nodeKeys) o k n a  \(least)",
      ]
    } else {
      let long = presses + [Tongue.say(.keySource)]
      rows = [
        (long + ends).joined(separator: "  "), (long + ["?", "q"]).joined(separator: " "),
        "\(letters)  tab  \(least)",
      ]
    }
    let text = rows.first { TextWidth.of($0) < columns } ?? rows[rows.count - 1]
    return StyledRow(" \(text)", .dim)
  }

  /// The rows for which there is room. The last one says how many are missing.
  private static func fitted(_ rows: [StyledRow], to room: Int) -> [StyledRow] {
    guard rows.count > room, room > 0 else { return rows }
    return rows.prefix(room - 1) + [StyledRow(Tongue.say(.moreRows, ["count": rows.count - room + 1]), .dim)]
  }

  // MARK: The run

  private static func body(_ state: ScreenState, _ screen: Screen) -> [StyledRow] {
    let gap = screen.rows >= spacedFrom ? [StyledRow()] : []
    var top = gap + clock(state, screen.columns) + gap + numbers(state, screen.columns)
    let alarms = state.alarms.map { " ! \(ForeignText.shown($0))" }
    if let alarm = alarms.first(where: { TextWidth.of($0) <= screen.columns }) ?? alarms.last {
      top.append(StyledRow(alarm, .bad))
    }
    if let notice = state.notice { top.append(notice) }
    if let cue = state.cue { top.append(StyledRow(" \(ForeignText.shown(RoomViewText.sentence(cue)))", .accent)) }
    let panel = RoomPanel.rows(
      state, screen.columns, rows: panelRows(state, of: screen.rows - 2 - top.count - gap.count))
    if !panel.isEmpty { top += gap + panel }
    let room = screen.rows - 2 - top.count - gap.count
    guard room > 0 else { return top }
    top += gap
    guard screen.columns >= wideFrom else { return top + column(state, screen.columns, rows: room, gap: gap) }
    let isWidest = screen.columns >= splitsFrom
    let width = isWidest ? min(screen.columns / 2, screen.columns - commandColumns) : max(30, screen.columns * 2 / 5)
    let picture = route(state, columns: width - 2, rows: room)
    let devices = devices(
      state, screen.columns - width, rows: min(state.deviceCount + 1, max(2, room / 2)))
    let splits = isWidest ? splits(state, rows: (room - devices.count) / 2) : []
    let parts = splits.isEmpty ? gap : gap + splits + gap
    let right = devices + parts + commands(state, rows: room - devices.count - parts.count)
    return top
      + (0..<room).map { index in
        (index < picture.count ? picture[index] : StyledRow()).beside(
          index < right.count ? right[index] : StyledRow(), at: width)
      }
  }

  /// Devices, commands and route below each other, as ``RowShares`` shares the rows.
  private static func column(_ state: ScreenState, _ columns: Int, rows room: Int, gap: [StyledRow]) -> [StyledRow] {
    guard room > 1 else {
      let hidden = Tongue.say(.moreBelow, ["devices": state.devices?.count ?? 0, "commands": state.commands.count])
      return [StyledRow(hidden, .dim)]
    }
    let shares = RowShares(of: room, gap: gap.count, devices: state.deviceCount, hasRoute: !state.route.isEmpty)
    let devices = devices(state, columns, rows: shares.devices)
    let commands = commands(state, rows: shares.commands(below: devices.count))
    let routeRows = shares.route(below: devices.count + commands.count)
    let picture = routeRows > 0 ? route(state, columns: columns, rows: routeRows) : []
    return devices + gap + commands + gap + picture
  }

  /// How many of the rows below the numbers the panel of a room takes: it gives way first, and devices and commands
  /// keep eight rows. Where they have fewer, one row says the most important of the room.
  private static func panelRows(_ state: ScreenState, of room: Int) -> Int {
    let wanted = RoomPanel.wanted(state)
    guard wanted > 0, room > 3 else { return 0 }
    return min(wanted, max(1, room - 8))
  }

  private static func style(of phase: RunPhase) -> Style {
    switch phase {
    case .running: .good
    case .paused: .waiting
    case .idle, .completed, .unknown: .bold
    }
  }

  /// Active time in large digits, with the phase and elapsed time beside it; in small ones where these would be cut.
  private static func clock(_ state: ScreenState, _ columns: Int) -> [StyledRow] {
    let snapshot = state.snapshot
    let time = DurationText.clock(state.active ?? snapshot.metrics.active)
    let digits = Pictures.large(time, hasUnicode: state.hasUnicode)
    let digitStyle: Style = state.isLastRun ? .dim : style(of: snapshot.phase)
    var phase =
      state.isKnown
      ? StyledRow(state.predicted.spoken.uppercased(), style(of: state.predicted))
      : StyledRow(Tongue.say(.askingPhone), .dim)
    if state.isLastRun { phase = StyledRow(Tongue.say(.lastRun), .dim) }
    if state.predicted != snapshot.phase, snapshot.phase != .unknown {
      phase.add(Tongue.say(.hubHas, ["phase": snapshot.phase.spoken]), .dim)
    }
    let author = snapshot.changedBy.map {
      Tongue.say(.byOn, ["source": ForeignText.shown($0.source.spoken), "device": $0.deviceID])
    }
    // It stands at the foot of the digits, or behind them, and begins with what they are.
    let elapsed = max(state.elapsed ?? snapshot.metrics.elapsed, state.active ?? snapshot.metrics.active)
    var facts = Tongue.say(.clockFacts, ["time": DurationText.clock(elapsed)])
    if snapshot.metrics.isAutoPaused { facts += Tongue.say(.clockAutoPaused) }
    if snapshot.metrics.lapCount > 0 { facts += Tongue.say(.clockLaps, ["count": snapshot.metrics.lapCount]) }
    let left = (digits.map { TextWidth.of($0) }.max() ?? 0) + 2
    if let goal = Sentence.goal(snapshot.goal, remaining: state.remaining) {
      // With little room there is only what remains.
      let remaining = state.remaining ?? .zero
      let short =
        remaining > .zero
        ? Tongue.say(.clockLeft, ["time": DurationText.countdown(remaining)]) : Tongue.say(.clockReached)
      let whole = Tongue.say(.goalIs, ["goal": goal])
      phase.add("  " + (left + phase.width + 2 + TextWidth.of(whole) <= columns ? whole : short))
    }
    guard left + TextWidth.of(facts) <= columns else {
      var row = StyledRow(" \(time)", digitStyle)
      row.add(" \(facts)", .dim)
      phase.add("  \(author ?? "")", .dim)
      return [StyledRow(" ").beside(phase, at: 1), row]
    }
    let words = [phase, StyledRow(author ?? "", .dim), StyledRow(facts, .dim)]
    return digits.enumerated().map { index, line in
      StyledRow(" \(line)", digitStyle).beside(
        index < words.count ? words[index] : StyledRow(), at: left)
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
    /// The last values as bars; behind them what a low and a high bar mean.
    func spark(_ values: [Double?], isInverted: Bool, _ text: (Double) -> String) -> String {
      guard room > 0 else { return "" }
      var scale = ""
      if columns >= scaleFrom, let range = Pictures.range(of: values.suffix(room)) {
        scale = [range.lowerBound, range.upperBound].sorted { isInverted ? $0 > $1 : $0 < $1 }.map(text)
          .joined(separator: Tongue.say(.toHigh))
        scale = " \(scale)"
      }
      return Pictures.sparkline(
        values, columns: max(0, room - TextWidth.of(scale)), isInverted: isInverted, hasUnicode: state.hasUnicode)
        + scale
    }
    var distance = row(Tongue.say(.labelDistance), values[0], "")
    if room > 0 {
      var more: [String] = []
      if let average = metrics.averagePaceSecondsPerKilometer {
        more.append(Tongue.say(.averageIs, ["pace": units.paceText(average)]))
      }
      if let climbed = metrics.elevationGainMeters {
        more.append(Tongue.say(.climbedIs, ["height": units.heightText(climbed)]))
      }
      if let energy = metrics.energyJoules { more.append(Units.energyText(energy)) }
      while !more.isEmpty, TextWidth.of(more.joined(separator: "  ")) > columns - distance.width { more.removeLast() }
      distance.add(more.joined(separator: "  "), .dim)
    }
    return [
      distance,
      row(Tongue.say(.labelPace), values[1], spark(state.pace, isInverted: true) { SplitText.pace($0, in: units) }),
      row(Tongue.say(.labelHeart), values[2], spark(state.heartRate, isInverted: false, Sentence.whole)),
    ]
  }

  /// The devices under a heading. Columns for which there is no room are left out, and names stay whole.
  private static func devices(_ state: ScreenState, _ columns: Int, rows: Int) -> [StyledRow] {
    let devices = state.devices ?? []
    let window = DeviceWindow(devices, chosen: state.chosenNode, rows: rows - 1)
    let shown = window.shown
    let more = more(window.hiddenCount)
    let table = shown.map { device -> [(text: String, style: Style)] in
      let (word, style) = device.standing(isBlind: state.isBlind)
      let isOld = style == .dim
      let rest: Style = isOld ? .dim : .plain
      let roundTrip = device.roundTrip.map { "\(Sentence.fixed($0.seconds * 1000, 1)) ms" } ?? "-"
      return [
        (word, style), (isOld ? "-" : roundTrip, rest), (isOld ? "-" : "\(device.waiting)", rest),
        (device.ageSeconds.map { Sentence.old($0) } ?? "-", rest),
      ]
    }
    let nameWidth = max(12, shown.map { TextWidth.of($0.name) }.max() ?? 0) + 2
    let headings = [
      (Tongue.say(.headingState), 10), (Tongue.say(.headingRoundTrip), 12), (Tongue.say(.headingWaiting), 9),
      (Tongue.say(.headingHeard), 8),
    ]
    var left = columns - 1 - nameWidth - TextWidth.of(more)
    let kept = headings.prefix { heading in
      left -= heading.1
      return left >= 0
    }
    let headingWidth = min(nameWidth, columns - 1 - TextWidth.of(more))
    var heading = StyledRow(" \(TextWidth.fitted(Tongue.say(.headingDevice), to: headingWidth))", .dim)
    for (name, width) in kept { heading.add(TextWidth.fitted(name, to: width), .dim) }
    heading.add(more, .dim)
    guard state.devices != nil else { return [heading, StyledRow(Tongue.say(.asking), .dim)] }
    guard !devices.isEmpty else { return [heading, StyledRow(Tongue.say(.noOtherDevice), .dim)] }
    let list = zip(shown, table).map { device, cells in
      let isChosen = device.name == state.chosenNode
      var row = StyledRow(
        "\(isChosen ? ">" : " ")\(TextWidth.fitted(device.name, to: nameWidth))", isChosen ? .bold : .plain)
      for ((_, width), cell) in zip(kept, cells) { row.add(TextWidth.fitted(cell.text, to: width), cell.style) }
      return row
    }
    return [heading] + window.groupsAbove.map { StyledRow(" \($0)", .dim) } + list
      + window.groupsBelow.map { StyledRow(" \($0)", .dim) }
  }

  /// The last commands under a heading.
  private static func commands(_ state: ScreenState, rows: Int) -> [StyledRow] {
    guard rows > 0 else { return [] }
    let shown = state.commands.prefix(rows - 1)
    let heading = StyledRow(Tongue.say(.headingPresses, ["more": more(state.commands.count - shown.count)]), .dim)
    guard !state.commands.isEmpty else { return [heading, StyledRow(" \(state.noPresses)", .dim)] }
    let width = max(8, shown.map { TextWidth.of(ForeignText.shown($0.device)) }.max() ?? 0) + 2
    return [heading]
      + shown.map { command in
        var row = StyledRow(" \(command.time)  ", .dim)
        row.add(TextWidth.fitted(ForeignText.shown(command.device), to: width))
        row.add(ForeignText.shown(command.text), command.style)
        return row
      }
  }

  /// The last splits under a heading, and the last laps where laps were marked; empty without either.
  private static func splits(_ state: ScreenState, rows: Int) -> [StyledRow] {
    let units = state.units
    let (splits, laps) = (state.splits.splits(per: units.splitUnit), state.splits.laps)
    func table(_ title: String, _ splits: [Split], rows: Int) -> [StyledRow] {
      guard !splits.isEmpty, rows > 2 else { return [] }
      let lines = SplitText.lines(splits, in: units)
      let shown = lines.dropFirst().suffix(rows - 2)
      return [StyledRow(" \(title)\(more(splits.count - shown.count))", .dim), StyledRow(" \(lines[0])", .dim)]
        + shown.map { StyledRow(" \($0)") }
    }
    let title = units.splitUnit == .kilometer ? Tongue.say(.headingKilometres) : Tongue.say(.headingMiles)
    guard !laps.isEmpty, rows >= 6 else { return table(title, splits, rows: rows) }
    guard !splits.isEmpty else { return table(Tongue.say(.headingLaps), laps, rows: rows) }
    let lapRows = min(laps.count + 2, rows / 2)
    return table(title, splits, rows: rows - lapRows) + table(Tongue.say(.headingLaps), laps, rows: lapRows)
  }

  /// How many rows are left out below a heading; empty when none are.
  private static func more(_ count: Int) -> String { count > 0 ? Tongue.say(.more, ["count": count]) : "" }

  private static func route(_ state: ScreenState, columns: Int, rows: Int) -> [StyledRow] {
    let lines = Pictures.route(state.route, columns: columns - 2, rows: rows - 1, hasUnicode: state.hasUnicode)
    return [StyledRow(Tongue.say(.headingRoute), .dim)]
      + (lines.isEmpty
        ? [StyledRow(state.isKnown ? Tongue.say(.noPositions) : Tongue.say(.asking), .dim)]
        : lines.map { StyledRow(" \($0)") })
  }

  private static func help(_ state: ScreenState) -> [StyledRow] {
    // At most 40 columns each: the help is whole on the smallest screen.
    var lines = [
      "", Tongue.say(.helpStart), Tongue.say(.helpResume), Tongue.say(.helpLap),
      Tongue.say(.helpSource), Tongue.say(.helpSourceMore),
    ]
    if state.hasNodes {
      lines += [
        Tongue.say(.helpNodes, ["keys": state.nodeKeys]), Tongue.say(.helpOffline),
        Tongue.say(.helpKill), Tongue.say(.helpRestart), Tongue.say(.helpAll),
        Tongue.say(.helpAllMore),
      ]
    }
    lines += [Tongue.say(.helpHelp), Tongue.say(.helpShell)]
    return lines.map { StyledRow($0) }
  }
}
