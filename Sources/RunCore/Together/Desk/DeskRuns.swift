// What the hub tells its desk of the runner's runs and records.
extension TogetherDesk {
  /// What became of a run's record.
  package enum RecordChange: Hashable, Sendable {
    /// It was made anew.
    case made
    /// The runner has removed it.
    case removed
  }

  /// An earlier life of the hub has begun a run: if it is that of a room, the room's start is known without the log's clock.
  ///
  /// - Parameters:
  ///   - startedAt: When the run started.
  ///   - isOn: Whether it is on.
  package mutating func resumed(_ run: RunID, startedAt: BusTime, isOn: Bool, at now: BusTime) -> [DeskAction] {
    for id in rooms.keys where rooms[id]?.run == run && rooms[id]?.stage.startsAt != nil {
      rooms[id]?.startedAt = startedAt
      rooms[id]?.hasStarted = true
      rooms[id]?.hasStopped = !isOn
    }
    return act(at: now)
  }

  /// The runs of which records are stated in rooms that still take records.
  package var statedRuns: [RunID] {
    followed.compactMap { id in
      guard let room = rooms[id], !room.isLost, !room.stage.isEnd else { return nil }
      return room.said?.run
    }
  }

  /// The record of a run has changed: what the room's log has of it is stated anew, until the room is over.
  package mutating func amended(_ run: RunID, _ change: RecordChange, at now: BusTime) -> [DeskAction] {
    var actions: [DeskAction] = []
    for id in rooms.keys.sorted() {
      guard let room = rooms[id], let own = room.run, let said = room.said, said.run == run || own == run else {
        continue
      }
      switch stage(of: room, at: now) {
      case .none, .recruiting, .gathering, .countdown, .over, .cancelled: continue
      case .running(let startsAt), .settling(let startsAt, _):
        switch change {
        case .removed:
          var record = said
          (record.decimetres, record.parts) = (nil, [])
          actions += amend(record, in: id, at: now)
        case .made:
          guard let started = local(of: startsAt, in: room, at: now) else { continue }
          actions.append(.measure(id, run, since: now - started, for: .amendment))
        }
      }
    }
    return actions
  }

  /// States a record, or a new version of it; nothing when that says what was said.
  mutating func amend(_ record: RoomRecord, in id: RoomID, at now: BusTime) -> [DeskAction] {
    guard let room = rooms[id], let said = room.said else { return [] }
    var record = record
    record.version = said.version
    guard record != said, room.waiting.count < DeskRoom.waitingMax, said.version < .max else { return [] }
    record.version += 1
    rooms[id]?.said = record
    rooms[id]?.recordVersion = record.version
    return say(.record(record), in: id, at: now)
  }
}
