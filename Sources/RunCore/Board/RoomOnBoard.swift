// The room of a board as a screen shows it now.
extension RunBoard {
  /// How long a room that is over stays on a screen, in real time: long enough to read the result, and gone at the next
  /// run.
  package static let pastRoomShown = TogetherDesk.shownAfter
  /// How long a cue stays on a screen, in real time.
  package static let cueShown = BusDuration.seconds(10)

  /// The room as a screen shows it: its spans hold now. `nil` without a room, and some time after the room has ended or
  /// the runner has lost its place in it.
  package func roomShown(at now: BusTime) -> RoomView? {
    guard var view = room else { return nil }
    let passed = max(.zero, now - roomAt)
    if view.isPast, passed >= Self.pastRoomShown { return nil }
    view.startsIn = roomStartsIn(at: now)
    for index in view.members.indices {
      guard let standing = view.members[index].standing, let age = age(of: standing, at: now) else { continue }
      view.members[index].standing?.age = age
      view.members[index].standing?.isStale = standing.isStale || age >= StandingsTable.staleAfter
    }
    return view
  }

  /// The last cue, while a screen shows it; `nil` without one, and once another room is shown.
  package func cueShown(at now: BusTime) -> RoomCue? {
    guard let cue, now - cue.heardAt < Self.cueShown, room.map({ $0.room == cue.cue.room }) ?? true else { return nil }
    return cue.cue
  }
}

extension RoomView {
  /// Whether its run has begun, so that members have a standing or a finish.
  package var hasBegun: Bool {
    switch stage {
    case .running, .settling, .over: true
    case .recruiting, .gathering, .countdown, .cancelled, .unknown: false
    }
  }

  /// Whether the runner waits in it for a run that is to come.
  package var isBeforeRun: Bool {
    switch stage {
    case .recruiting, .gathering, .countdown: own != nil && !isLost
    case .running, .settling, .over, .cancelled, .unknown: false
    }
  }

  /// Whether nothing goes on in it for the runner any more.
  package var isPast: Bool {
    switch stage {
    case .over, .cancelled: true
    case .recruiting, .gathering: isLost || own == nil
    case .countdown, .running, .settling, .unknown: false
    }
  }
}
