import RunCore

extension RoomWorld {
  /// At the end: one room for all, one verdict for each ask, one result.
  mutating func checkEnd() {
    checkAsks()
    let fold = strangersFold()
    if !fold.state.stage.isEnd, fold.state.stage != .none { fault("the room has not ended: \(fold.state.stage)") }
    if case .over = fold.state.stage { count("run") }
    checkMended(fold)
    guard case .over = fold.state.stage, !hasLostTail else { return }
    for member in fold.state.members {
      guard let hub = hubs.firstIndex(where: { $0.member == member.id }) else { continue }
      checkRecord(of: member, hub)
    }
    if counts["clock step"] == nil, fold.result?.rows.contains(where: { $0.isConfirmed }) == false {
      count("no distance")
    }
  }

  /// The room as who has never read anything folds what the log has at the end.
  private func strangersFold() -> RoomMachine {
    var fold = RoomMachine()
    for read in log.read(room, from: 0, at: now) { _ = fold.apply(read.folded, digest: read.digest) }
    fold.advance(to: log.clock(at: now) + .seconds(60 * 3600))
    return fold
  }

  private mutating func checkAsks() {
    for hub in hubs.indices where hubs[hub].isAlive {
      for (_, ask) in hubs[hub].asks.sorted(by: { $0.key < $1.key }) {
        guard case .pending = ask.answer else { continue }
        fault("hub \(hub): an ask has no verdict: \(ask.wish)")
      }
    }
  }

  private mutating func checkRecord(of member: RoomState.Member, _ hub: Int) {
    if hubs[hub].started == nil, member.record?.decimetres != nil { fault("hub \(hub) has a record without a run") }
    guard let record = member.record else { return fault("hub \(hub) has stated no record") }
    guard let started = hubs[hub].started else { return }
    if hubs[hub].stopped == nil { fault("hub \(hub) never stops the room's run") }
    // The newest version, however often it was amended.
    guard counts["clock step"] == nil, !hubs[hub].wasHeld, let stopped = hubs[hub].stopped else { return }
    let span = min(terms.speed.bus(fromReal: stopped - started), terms.goal)
    let expected = hubs[hub].hasRemoved ? nil : Int(span.nanoseconds / 1_000_000) * hubs[hub].pace / 1000
    let error = hubs[hub].pace * 5
    let isRight = expected.map { abs($0 - (record.decimetres ?? .min / 2)) <= error } ?? (record.decimetres == nil)
    if !isRight { fault("hub \(hub) ran \(expected ?? -1), and its record says \(record.decimetres ?? -1)") }
  }

  /// Where the log has lost entries of a run, all who were in it have one result, with the records of all.
  private mutating func checkMended(_ fold: RoomMachine) {
    guard hasLostTail else { return }
    var results: [LogTime: (roster: [MemberID], result: RoomResult?)] = [:]
    for hub in hubs.indices where hubs[hub].isAlive && !hubs[hub].wasVoid && !hubs[hub].isBlind {
      guard var copy = hubs[hub].desk.machine(of: room) else { continue }
      copy.advance(to: log.clock(at: now) + .seconds(60 * 3600))
      guard case .over(let startsAt) = copy.state.stage, copy.state.member(hubs[hub].member) != nil else { continue }
      count("mended run")
      if fold.nextNumber(of: hubs[hub].member) != copy.nextNumber(of: hubs[hub].member) {
        fault("hub \(hub) has not appended again all that the log lost")
      }
      for member in copy.state.members {
        guard let other = hubs.firstIndex(where: { $0.member == member.id }), !hubs[other].wasVoid, !hubs[other].isBlind
        else { continue }
        guard let theirs = hubs[other].desk.machine(of: room), theirs.state.stage.startsAt == startsAt else { continue }
        checkRecord(of: member, other)
      }
      let roster = copy.state.members.map(\.id)
      if let (other, result) = results[startsAt] {
        if other != roster { fault("hub \(hub) has another roster of one start") }
        if result != copy.result { fault("hub \(hub) has another result of one start") }
      }
      results[startsAt] = (roster, copy.result)
      let isSame = fold.state.members.map(\.id) == roster && fold.result == copy.result
      count(isSame ? "stranger agrees" : "stranger differs")
    }
  }
}
