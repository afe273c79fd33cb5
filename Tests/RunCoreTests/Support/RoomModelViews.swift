@testable import RunCore

/// What the model finds when it looks through what happened.
extension RoomModel {
  var stage: RoomStage {
    for case (.stage(let stage), _) in facts.reversed() { return stage }
    return .none
  }

  var terms: RoomTerms? {
    for case (.opened(let terms), _) in facts { return terms }
    return nil
  }

  var openedAt: LogTime? {
    for case (.opened, let time) in facts { return time }
    return nil
  }

  var isMatched: Bool { terms?.isMatched ?? false }

  /// The members, longest there first.
  var roster: [MemberID] { comings.map(\.member) }

  /// Comings that no going followed: whose, and where in the list of facts.
  private var comings: [(member: MemberID, place: Int)] {
    facts.indices.compactMap { place in
      guard case .came(let member, _, _) = facts[place].fact else { return nil }
      let goes = facts[place...].contains { if case .went(member) = $0.fact { true } else { false } }
      return goes ? nil : (member, place)
    }
  }

  /// What happened since a member came.
  private func since(_ member: MemberID) -> ArraySlice<(fact: Fact, at: LogTime)> {
    comings.first { $0.member == member }.map { facts[$0.place...] } ?? []
  }

  func card(_ member: MemberID) -> RoomCard? {
    for case (.came(_, let card, _), _) in since(member).prefix(1) { return card }
    return nil
  }

  func seek(_ member: MemberID) -> Seek? {
    for case (.came(_, _, let seek), _) in since(member).prefix(1) { return seek }
    return nil
  }

  func isReady(_ member: MemberID) -> Bool {
    for (fact, _) in since(member).reversed() {
      switch fact {
      case .ready(member, let on): return on
      case .nobodyReady: return false
      default: continue
      }
    }
    return false
  }

  func isHere(_ member: MemberID) -> Bool {
    for (fact, _) in since(member).reversed() {
      switch fact {
      case .here(member, let on): return on
      case .nobodyHere: return false
      default: continue
      }
    }
    return false
  }

  /// Members never go once a run is on: all that a member told of it is of this run.
  func mark(_ member: MemberID) -> RoomMark? {
    let marks = facts.compactMap { if case .marked(member, let mark) = $0.fact { mark } else { nil } }
    return marks.first { mark in marks.allSatisfy { $0.elapsed <= mark.elapsed } }
  }

  func record(_ member: MemberID) -> RoomRecord? {
    let records = facts.compactMap { if case .recorded(member, let record) = $0.fact { record } else { nil } }
    return records.first { record in records.allSatisfy { $0.version <= record.version } }
  }

  var barred: Set<MemberID> {
    Set(facts.compactMap { if case .barred(let member) = $0.fact { member } else { nil } })
  }

  /// When the room last had this many members after having had that many.
  func lastTime(size: Int, after before: Int) -> LogTime? {
    var found: LogTime?
    var sizes = [0]
    for (fact, time) in facts {
      switch fact {
      case .came: sizes.append(sizes.last! + 1)
      case .went: sizes.append(sizes.last! - 1)
      default: continue
      }
      if sizes.suffix(2) == [before, size] { found = time }
    }
    return found
  }

  // MARK: State

  var state: RoomState {
    var state = RoomState()
    state.stage = stage
    state.terms = terms
    state.owner = roster.first
    state.members = roster.map { id in
      var member = RoomState.Member(id: id, card: card(id)!)
      member.isReady = isReady(id)
      member.isHere = isHere(id)
      member.mark = mark(id)
      member.record = record(id)
      return member
    }
    state.barred = barred
    state.disputes = Set(facts.compactMap { if case .disputed(let member) = $0.fact { member } else { nil } })
    state.time = now
    return state
  }

  // MARK: Result

  var result: RoomResult? {
    let isOver: Bool
    switch stage {
    case .none, .recruiting, .gathering, .countdown, .cancelled: return nil
    case .running, .settling: isOver = false
    case .over: isOver = true
    }
    let lines = roster.map { (member: $0, line: line($0)) }
    let allIn = roster.allSatisfy { record($0) != nil }
    let standing: RoomResult.Standing
    if isOver {
      standing = .final
    } else if case .settling = stage, allIn {
      standing = .complete
    } else {
      standing = .provisional
    }
    let isOpen = standing == .provisional || lines.allSatisfy { $0.line.decimetres == nil }
    let rows = lines.map { own in
      // A place is one more than there are better ones.
      let place = 1 + lines.count { Self.isBetter($0.line, own.line) }
      let firsts = lines.count { other in !lines.contains { Self.isBetter($0.line, other.line) } }
      let outcome: RoomResult.Outcome? = isOpen ? nil : place > 1 ? .lost : firsts == 1 ? .won : .drawn
      return RoomResult.Row(
        member: own.member, decimetres: own.line.decimetres, isConfirmed: own.line.isConfirmed,
        isFinished: record(own.member)?.isFinished, place: place, outcome: outcome)
    }
    let sorted = (1...max(1, rows.count)).flatMap { place in rows.filter { $0.place == place } }
    return RoomResult(standing: standing, rows: sorted)
  }

  private struct Line {
    let decimetres: Int?
    let isConfirmed: Bool
  }

  private func line(_ member: MemberID) -> Line {
    if let record = record(member) { return Line(decimetres: record.decimetres, isConfirmed: record.decimetres != nil) }
    return Line(decimetres: mark(member)?.decimetres, isConfirmed: false)
  }

  private static func isBetter(_ one: Line, _ other: Line) -> Bool {
    guard let metres = one.decimetres else { return false }
    guard let others = other.decimetres else { return true }
    return one.isConfirmed == other.isConfirmed ? metres > others : one.isConfirmed
  }
}
