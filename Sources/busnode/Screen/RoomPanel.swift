import RunBus
import RunScripts

/// The panel of a room on the live screen: where the room stands, what it waits for, and a row for each member.
enum RoomPanel {
  /// The widest that a nickname is drawn.
  private static let nameMax = 24

  /// The rows for a room as of now; empty without one, and where there is no row for it. With too little room for all
  /// members the heading says how many are missing, and with one row it says the most important in short.
  ///
  /// - Parameter rows: How many there may be.
  static func rows(_ state: ScreenState, _ columns: Int, rows: Int) -> [StyledRow] {
    guard let view = state.room, rows > 0 else { return [] }
    guard rows > 2 else { return [short(view)] }
    let notes = notes(view, isBlind: state.isBlind)
    let members = view.ranked
    let shown = members.prefix(max(0, rows - 1 - notes.count))
    var heading = heading(view, columns)
    if members.count > shown.count { heading.add(Tongue.say(.more, ["count": members.count - shown.count]), .dim) }
    let table = table(Array(shown), of: view, state, columns)
    return Array(([heading] + notes + table).prefix(rows))
  }

  /// How many rows the whole panel takes; 0 without a room.
  static func wanted(_ state: ScreenState) -> Int {
    state.room.map { 1 + notes($0, isBlind: state.isBlind).count + $0.members.count } ?? 0
  }

  private static func style(_ view: RoomView) -> Style {
    switch view.stage {
    case .countdown: .waiting
    case .running: .good
    case .recruiting, .gathering, .settling, .over, .cancelled, .unknown: .bold
    }
  }

  /// The room in one row: the countdown, the own place, or what it waits for.
  private static func short(_ view: RoomView) -> StyledRow {
    var row = StyledRow(Tongue.say(.panelRoom), .dim)
    row.add(RoomViewText.stage(view), style(view))
    var words: [String] = []
    if let finish = view.own?.finish {
      words.append(Tongue.say(.rankOf, ["place": finish.place, "count": view.members.count]))
      if let outcome = finish.outcome { words.append(outcome.spoken) }
    } else if let standing = view.own?.standing, let place = standing.place {
      words.append(Tongue.say(.rankOf, ["place": place, "count": view.members.count]))
    }
    words += RoomViewText.gate(view).prefix(1)
    if !words.isEmpty { row.add("  \(ForeignText.shown(words.joined(separator: "  ")))") }
    return row
  }

  /// `ROOM 32d9626b  recruiting  3 of 4  goal 30:00  start Olympic Park`, as much of it as there is room for.
  private static func heading(_ view: RoomView, _ columns: Int) -> StyledRow {
    var row = StyledRow(Tongue.say(.panelRoomNamed, ["room": RoomViewText.short(view.room)]), .dim)
    row.add(RoomViewText.stage(view), style(view))
    var facts = [RoomViewText.places(view)]
    if let goal = view.goal { facts.append(Tongue.say(.goalIs, ["goal": DurationText.clock(goal)])) }
    if view.isMatched { facts.append(Tongue.say(.panelMatched)) }
    if let label = view.startLabel { facts.append(Tongue.say(.panelStart, ["label": ForeignText.shown(label)])) }
    for fact in facts where row.width + 2 + TextWidth.of(fact) <= columns { row.add("  \(fact)", .dim) }
    return row
  }

  /// What the room waits for, and what makes the view uncertain, a row each.
  private static func notes(_ view: RoomView, isBlind: Bool) -> [StyledRow] {
    let gate = RoomViewText.gate(view)
    let doubts = RoomViewText.doubts(view) + (isBlind ? [Tongue.say(.panelAsHeard)] : [])
    var rows: [StyledRow] = []
    if !gate.isEmpty {
      rows.append(
        StyledRow(" \(ForeignText.shown(gate.joined(separator: "; ")))", view.gate == .open ? .good : .waiting))
    }
    if !doubts.isEmpty { rows.append(StyledRow(" \(doubts.joined(separator: "; "))", .dim)) }
    return rows
  }

  // MARK: Members

  private typealias Cell = (text: String, style: Style)

  /// A row each: place, name, and what is known of the member in this stage. Columns for which there is no room are left
  /// out from the right, and names stay.
  private static func table(
    _ members: [RoomView.Member], of view: RoomView, _ state: ScreenState, _ columns: Int
  ) -> [StyledRow] {
    let names = RoomViewText.names(view)
    let texts = members.map { ForeignText.shown(names[$0.id] ?? "?") }
    let nameWidth = min(nameMax, max(6, texts.map { TextWidth.of($0) }.max() ?? 0)) + 2
    let cells = members.map { self.cells($0, of: view, state) }
    let count = cells.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in
      (cells.map { column < $0.count ? TextWidth.of($0[column].text) : 0 }.max() ?? 0) + 2
    }
    var left = columns - 4 - nameWidth
    let kept = widths.prefix { width in
      left -= width
      return left >= -2
    }
    return zip(members, zip(texts, cells)).map { member, parts in
      let place = member.finish?.place ?? member.standing?.place
      let base: Style = state.isBlind ? .dim : member.isSelf ? .bold : .plain
      var row = StyledRow(" \(TextWidth.fitted(place.map { "\($0)." } ?? "", to: 3))", .dim)
      row.add(TextWidth.fitted(parts.0, to: nameWidth), base)
      for (width, cell) in zip(kept, parts.1) {
        row.add(TextWidth.fitted(cell.text, to: width), state.isBlind || cell.style == .plain ? base : cell.style)
      }
      return row
    }
  }

  private static func cells(_ member: RoomView.Member, of view: RoomView, _ state: ScreenState) -> [Cell] {
    let role = [member.isSelf ? Tongue.say(.memberYou) : nil, member.isOwner ? Tongue.say(.memberOwner) : nil]
      .compactMap { $0 }.joined(separator: ", ")
    func mark(_ isSet: Bool, _ word: String, _ other: String) -> Cell { isSet ? (word, .good) : (other, .waiting) }
    switch view.stage {
    case .recruiting:
      return [
        mark(member.isReady, Tongue.say(.memberReady), Tongue.say(.memberNotReady)),
        (Tongue.say(.panelLevel, ["level": member.level]), .dim), (role, .dim),
      ]
    case .gathering: return [mark(member.isHere, Tongue.say(.memberHere), Tongue.say(.memberNotHere)), (role, .dim)]
    case .countdown, .cancelled, .unknown:
      return [(Tongue.say(.panelLevel, ["level": member.level]), .dim), (role, .dim)]
    case .running, .settling, .over:
      if let finish = member.finish { return self.cells(finish, role) }
      return self.cells(member.standing ?? RoomView.Standing(), role, in: state.units)
    }
  }

  private static func cells(_ finish: RoomView.Finish, _ role: String) -> [Cell] {
    let outcome: Cell =
      switch finish.outcome {
      case nil: ("", .plain)
      case .won: (Tongue.say(.outcomeWon), .good)
      case .drawn: (Tongue.say(.outcomeDrawn), .accent)
      case .lost: (Tongue.say(.outcomeLost), .plain)
      }
    return [(RoomViewText.distance(finish), .plain), outcome, (role, .dim)]
  }

  private static func cells(_ standing: RoomView.Standing, _ role: String, in units: Units) -> [Cell] {
    var note: Cell = ("", .dim)
    if standing.isStale {
      note = (
        standing.age.map { Tongue.say(.ageAlone, ["age": Sentence.old($0.seconds)]) } ?? Tongue.say(.notHeard), .waiting
      )
    }
    if let phase = standing.phase, phase != .running, !standing.isStale { note = (phase.spoken, .accent) }
    let style: Style = standing.isStale ? .dim : .plain
    return [
      (standing.meters.map(units.distanceText) ?? "-", style),
      (RoomViewText.behind(standing, in: units) ?? (standing.place == 1 ? Tongue.say(.panelAhead) : ""), style),
      (standing.paceSecondsPerKilometer.map { units.paceText(Double($0)) } ?? "-", style), note, (role, .dim),
    ]
  }
}
