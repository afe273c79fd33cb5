// What a hub notices of a log that somebody changes past its rules: entries that are not as they were read, and times that
// cannot be true.

/// What was noticed about the log of a room.
package enum RoomWarning: String, Hashable, Sendable, CaseIterable {
  /// Entries that were read are not there any more as they were read.
  case altered
  /// An entry has a time that the log's clock cannot have shown. It was not followed.
  case misdated

  /// One sentence for a person.
  package var message: String {
    switch self {
    case .altered: "the log of this room was changed after it was read"
    case .misdated: "an entry of the log has a time that cannot be true; it was not followed"
    }
  }
}

extension TogetherDesk {
  /// How often the log of a room is compared with what was read of it, until the run is over and while records come in.
  static let (provenEvery, provenSettling) = (BusDuration.seconds(30), BusDuration.seconds(600))
  /// How far a log's clock may jump ahead by the hub's own clock: all follow it alike. Of a longer jump nothing is carried
  /// into a room.
  static let jumpMax = BusDuration.seconds(60)

  // MARK: What was read

  /// When a room's log is to be compared with what was read of it: at once when a reading has come to its end or the stage
  /// has changed, else at moments that are the same for all rooms of the hub, so that it wakes up once. Who is alone has
  /// agreed on nothing yet.
  func offerProof(_ room: DeskRoom, at now: BusTime, _ offer: (BusTime?, DeskDuty) -> Void) {
    guard room.machine.state.members.count > 1, let every = room.stage.provenEvery else { return }
    guard let last = room.provenAt else { return offer(now, .prove) }
    let phase = Int64(settings.member.prefix % UInt64(every.nanoseconds))
    let beats = (last.nanoseconds - phase) / every.nanoseconds + 1
    offer(BusTime(nanoseconds: phase + beats * every.nanoseconds), .prove)
  }

  /// Has a room's log compared with what was read of it.
  mutating func prove(_ id: RoomID, at now: BusTime) -> [DeskAction] {
    rooms[id]?.provenAt = now
    guard let room = rooms[id], let last = room.last else { return [] }
    return [.prove(id, RoomReading(number: room.reading, from: last.entry.position, digest: last.digest))]
  }

  /// A room's log was compared with what was read of it. A log that was changed there has lost what was read, and what
  /// follows is the same.
  ///
  /// - Parameters:
  ///   - reading: What it was compared with: a reading, the last position of it, and the digest there.
  ///   - found: The digest that the log has there now.
  package mutating func proved(
    _ id: RoomID, _ reading: RoomReading, found: LogHash, at now: BusTime
  ) -> [DeskAction] {
    guard found != reading.digest, let room = rooms[id], !room.isLost, room.isCaughtUp, room.reading == reading.number,
      room.stage.provenEvery != nil
    else { return [] }
    return lose(id, at: now)
  }

  // MARK: Times

  /// An entry with the time at which the hub takes it to be written, and whether that says something about the log's clock.
  func believed(_ read: ReadEntry, in room: DeskRoom, at now: BusTime) -> (read: ReadEntry, isOfClock: Bool) {
    guard read.taken == nil else { return (read, false) }
    var read = read
    if let time = time(in: room, at: now) {
      let error = clock.estimate(at: now)?.error ?? .zero
      guard read.entry.time > time + error + Self.jumpMax else { return (read, true) }
      read.taken = time
      return (read, false)
    }
    // An earlier life has seen the log's clock jump: it goes on from there.
    if let last = room.last, let taken = last.taken, read.entry.time >= last.entry.time {
      read.taken = taken + (read.entry.time - last.entry.time)
    }
    return (read, true)
  }

  /// Whether an entry has a time that the log's clock cannot have shown, or that is before the entry before it. What a log
  /// has that was mended may be by another clock.
  func isMisdated(_ read: ReadEntry, in room: DeskRoom) -> Bool {
    guard room.mending == nil else { return false }
    return read.taken != nil || room.last.map { LogStamps.isAhead($0.folded.time, of: read.entry.time) } ?? false
  }

  // MARK: Warnings

  /// Tells of something that was noticed, once in a room.
  mutating func warn(_ warning: RoomWarning, in id: RoomID) -> [DeskAction] {
    rooms[id]?.warnings.insert(warning).inserted == true ? [.warn(id, warning)] : []
  }
  /// What was noticed about the log of a room.
  package func warnings(of id: RoomID) -> Set<RoomWarning> { rooms[id]?.warnings ?? [] }
}

extension RoomStage {
  /// How often the log of a room is compared with what was read of it; `nil` where nothing rests on it any more.
  fileprivate var provenEvery: BusDuration? {
    switch self {
    case .recruiting, .gathering, .countdown, .running: TogetherDesk.provenEvery
    case .settling: TogetherDesk.provenSettling
    case .none, .over, .cancelled: nil
    }
  }
}
