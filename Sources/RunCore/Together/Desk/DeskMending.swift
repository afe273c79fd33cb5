// A log that has lost entries: noticed, because a reading begins at the last entry of the one before, and mended from what
// the hubs have read.
extension TogetherDesk {
  /// A room's log is another one, or lacks something that was read: it is read once more from the hub's last entry on.
  ///
  /// - Parameter reading: The number of the reading that ends with this.
  package mutating func replaced(_ id: RoomID, reading: UInt64) -> [DeskAction] {
    guard let room = rooms[id], !room.isLost, room.reading == reading else { return [] }
    return [follow(id)]
  }

  /// Reads a room's log from the last entry on that was read, which has to come again.
  mutating func follow(_ id: RoomID) -> DeskAction {
    let last = rooms[id]?.last
    readings += 1
    rooms[id]?.reading = readings
    rooms[id]?.isOverlapDue = last != nil
    return .follow(id, RoomReading(number: readings, from: last?.entry.position ?? 0, digest: last?.digest))
  }

  /// A room's log has lost entries that were read here, which a member is told. What was agreed before the countdown is
  /// void; what began stands as it was read, and the log is mended.
  mutating func lose(_ id: RoomID, at now: BusTime) -> [DeskAction] {
    guard rooms[id]?.machine.state.member(settings.member) != nil else { return void(id) }
    let warnings = warn(.altered, in: id)
    guard var room = rooms[id], room.run != nil else { return warnings + void(id) }
    switch stage(of: room, at: now) {
    case .none, .recruiting, .gathering, .over, .cancelled: return warnings + void(id)
    case .countdown(let startsAt), .running(let startsAt), .settling(let startsAt, _):
      // From here on the log's clock may be another one.
      if !room.hasStarted || room.startedAt == nil { room.startedAt = local(of: startsAt, in: room, at: now) }
      room.mending = RoomMending()
      room.last = nil
      room.caughtUpAt = nil
      rooms[id] = room
      return warnings + [.keep(id, [.lost], .read(id, [])), follow(id)]
    }
  }

  /// Nothing that was agreed in a room holds any more.
  mutating func void(_ id: RoomID) -> [DeskAction] {
    guard var room = rooms[id] else { return [] }
    room.isLost = true
    let asks = room.waiting.compactMap(\.id) + (room.own?.id.map { [$0] } ?? [])
    let answers = asks.map { DeskAction.answer($0, .refused(.unknownRoom)) }
    for ask in asks { room.asks[ask] = nil }
    (room.waiting, room.own) = ([], nil)
    rooms[id] = room
    return answers + [.unfollow(id)] + breakSearch(in: id)
  }

  /// What is due in the mending of a room's log; `nil` when nothing is.
  func mendingPlan(for room: DeskRoom, at now: BusTime) -> (at: BusTime, duty: DeskDuty)? {
    guard room.isCaughtUp, let mending = room.mending, !mending.isFull else { return nil }
    let missing = room.missing(of: settings.member)
    if let wait = mending.wait {
      guard missing != nil || room.own != nil else { return nil }
      return (wait.since + RoomMending.patience, .giveUp)
    }
    guard let missing, let own = room.copy.own[missing] else { return nil }
    if let sent = mending.sent, sent.number == missing { return (sent.again, .mend(missing)) }
    return mending.mayAppend(own.ask, at: now).map { ($0, .mend(missing)) }
  }

  /// Appends an own entry again that the log has lost.
  mutating func mend(_ number: UInt64, in id: RoomID, at now: BusTime) -> [DeskAction] {
    guard let own = rooms[id]?.copy.own[number] else { return [] }
    let again = now + repeatAfter
    rooms[id]?.mending?.append(number, at: now, again: again)
    return [.append(content(number, own.ask, own.nonce, own.seen, in: id))]
  }

  /// Waits no more for a member whose entry is missing in a room's log.
  mutating func giveUp(in id: RoomID, at now: BusTime) {
    rooms[id]?.mending?.giveUp()
    rooms[id]?.look(me: settings.member, at: now)
  }
}

extension DeskRoom {
  /// The hub's own first entry that the log lacks and can get; `nil` for none, also in a room that has ended.
  func missing(of me: MemberID) -> UInt64? {
    guard let mending, !mending.isFull, !stage.isEnd else { return nil }
    let next = mending.log.nextNumber(of: me)
    guard next < machine.nextNumber(of: me), let own = copy.own[next] else { return nil }
    // Of an `open` that another process has written with the same key the nonce is not known.
    if case .open = own.ask, own.nonce == nil { return nil }
    return next
  }

  /// Looks at what the log lacks.
  mutating func look(me: MemberID, at now: BusTime) {
    guard mending != nil else { return }
    let next = missing(of: me)
    mending?.look(for: next, in: copy, at: now)
  }

  /// When the entry on its way may be appended; `nil` while the log lacks what is before it.
  func mayAppend(_ own: Own, me: MemberID, at now: BusTime) -> BusTime? {
    guard let mending else { return now }
    guard isCaughtUp, missing(of: me) == nil else { return nil }
    return mending.mayAppend(own.ask, at: now)
  }

  /// An entry as the room takes it that was read before a loss.
  func mended(_ entry: RoomEntry) -> RoomEntry {
    var entry = entry
    // Positions and digests are others than those of before.
    entry.seen = .nothing
    // The run has begun, whatever the clock of the log is now.
    if entry.ask.isOfRun, case .countdown(let startsAt) = stage { entry.time = max(entry.time, startsAt) }
    return entry
  }
}
