import RunCore

/// What somebody does who writes to the log's file past its rules.
enum RoomWorldTampering: CaseIterable {
  /// Takes an entry away that is not the last one.
  case delete
  /// Exchanges two entries.
  case swap
  /// Gives an entry another time.
  case date
  /// Puts a copy of another entry in an entry's place.
  case replace
  /// Gives the last entry a time that is far ahead.
  case dateAhead
  /// Appends an entry with a time that is far ahead.
  case appendAhead
}

/// What the log had where somebody changed it.
struct RoomWorldChange {
  let kind: RoomWorldTampering
  let room: RoomID
  let original: RoomWorldLog.Row
}

extension RoomWorld {
  /// Within what time a hub notices that what it had read was changed: a comparison, and what it takes in this world.
  private static let noticedWithin = (BusDuration.seconds(45), settling: BusDuration.seconds(620))

  /// Somebody changes the log. Nobody is told.
  mutating func tamper() {
    guard let rows = log.rows[room], rows.count > 3 else { return }
    let kind = RoomWorldTampering.allCases.randomElement(using: &random)!
    let place = Int.random(in: 1..<(rows.count - 1), using: &random)
    let other = Int.random(in: 0..<(rows.count - 1), using: &random)
    let (back, ahead) = (
      BusDuration.milliseconds(Int64.random(in: 1...600_000, using: &random)),
      log.clock(at: now) + .seconds(Int64.random(in: 60...864_000, using: &random))
    )
    let isLast = kind == .dateAhead || kind == .appendAhead
    let changed = isLast ? [rows.count - 1] : kind == .swap ? [place, other] : [place]
    let stranger = RoomContent(
      fleet: FleetID(high: 0, low: 1), room: room, author: Self.member(200, using: &random), number: 1, ask: .tick)
    log.tamper(with: room) { rows in
      switch kind {
      case .delete: rows.remove(at: place)
      case .swap:
        let (one, two) = (rows[place], rows[other])
        rows[place] = one.with(two.content)
        rows[other] = two.with(one.content)
      case .date: rows[place] = rows[place].with(rows[place].time - back)
      case .replace: rows[place] = rows[place].with(rows[other].content)
      case .dateAhead: rows[rows.count - 1] = rows[rows.count - 1].with(ahead)
      case .appendAhead: rows.append(rows[rows.count - 1].after(stranger, at: ahead))
      }
    }
    guard log.rows[room] != rows else { return }
    count("tampered")
    // What was agreed before may be void, and who had read less has another room: as after a loss.
    hasLostTail = true
    changes += changed.map { RoomWorldChange(kind: kind, room: room, original: rows[$0]) }
    let last = rows[changed.max() ?? 0].position
    for hub in hubs.indices {
      let hasRead = hubs[hub].feeds[room].map { $0.from > last } ?? false
      if kind != .appendAhead, !(hubs[hub].isAlive && hasRead) { hubs[hub].isBlind = true }
      plan(.notice(hub: hub, life: hubs[hub].life, kind, since: now), in: Self.noticedWithin.0)
    }
    if kind == .appendAhead { ring(room) }
  }

  /// A hub that has read what was changed, and for which something rests on it, has noticed it by now.
  mutating func checkNotice(_ hub: Int, _ kind: RoomWorldTampering, since: BusTime) {
    let desk = hubs[hub].desk
    guard !hubs[hub].isBlind, !desk.isVoid(room), !desk.isMended(room), let state = desk.machine(of: room)?.state,
      state.member(hubs[hub].member) != nil, state.members.count > 1, !state.stage.isEnd
    else { return }
    let later = if case .settling = state.stage { Self.noticedWithin.settling } else { Self.noticedWithin.0 }
    let due = max(since, awayUntil) + later
    guard now >= due else {
      return plan(.notice(hub: hub, life: hubs[hub].life, kind, since: since), in: due - now)
    }
    let warnings = desk.warnings(of: room)
    guard warnings.isEmpty else { return count("noticed \(warnings.map(\.rawValue).sorted())") }
    fault("hub \(hub) has not noticed that somebody has changed the log: \(kind)")
  }

  /// A hub whose disk has not kept what was changed reads it as it is now.
  mutating func checkSight(_ hub: Int) {
    for change in changes where change.kind != .appendAhead {
      let knows = (hubs[hub].disk[change.room] ?? []).contains { row in
        guard case .entry(let read) = row else { return false }
        return read.entry == change.original.entry && read.hash == change.original.hash
      }
      if !knows { hubs[hub].isBlind = true }
    }
  }

  /// No time that somebody wrote moves a room: none is ahead of the log's clock.
  mutating func checkTime(_ hub: Int) {
    guard counts["clock step"] == nil, let state = hubs[hub].desk.machine(of: room)?.state else { return }
    if state.time > log.clock(at: now) + .seconds(61) { fault("hub \(hub) is ahead of the log's clock") }
  }
}

extension RoomWorldLog.Row {
  func with(_ content: RoomContent) -> Self { Self(position: position, time: time, content: content) }
  func with(_ time: LogTime) -> Self { Self(position: position, time: time, content: content) }
  func after(_ content: RoomContent, at time: LogTime) -> Self {
    Self(position: position + 1, time: time, content: content)
  }
}
