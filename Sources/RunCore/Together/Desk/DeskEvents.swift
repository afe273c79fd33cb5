// What a desk is told, and what it wants.

/// An entry as the log's reader hands it over.
package struct ReadEntry: Hashable, Sendable {
  /// The entry.
  package var entry: RoomEntry
  /// Its hash.
  package var hash: LogHash
  /// The digest of the room's log after it.
  package var digest: LogHash
  /// When it is taken to be written, if the log's time of it cannot be true; `nil`: as the log says.
  package var taken: LogTime?
  /// An entry from its parts.
  package init(entry: RoomEntry, hash: LogHash, digest: LogHash, taken: LogTime? = nil) {
    self.entry = entry
    self.hash = hash
    self.digest = digest
    self.taken = taken
  }

  /// The entry for the fold: with the time at which it is taken to be written.
  package var folded: RoomEntry {
    var entry = entry
    entry.time = taken ?? entry.time
    return entry
  }

  /// Whether two are the same entry at the same place of a log.
  func isSame(as other: ReadEntry) -> Bool {
    entry.position == other.entry.position && entry.time == other.entry.time && hash == other.hash
  }
}

/// A reading of a room's log, from a place on.
package struct RoomReading: Hashable, Sendable {
  /// Counts the readings of a desk: what an earlier one of the room still brings is of no use.
  package var number: UInt64
  /// The position of the first entry; 0: the log's beginning.
  package var from: UInt64
  /// The digest of the log after the entry at that position, as the desk has it; `nil` for the log's beginning.
  package var digest: LogHash?
  /// A reading from its parts.
  package init(number: UInt64, from: UInt64, digest: LogHash?) {
    (self.number, self.from, self.digest) = (number, from, digest)
  }
}

/// What a hub keeps of a room, so that its next life goes on with it.
package enum RoomRow: Hashable, Sendable {
  /// The hub takes part in the room, which is one of this fleet, and this is its run there. Older hubs kept no fleet.
  case followed(run: RunID, fleet: FleetID?)
  /// An entry of the log.
  case entry(ReadEntry)
  /// The log has lost entries before this row. Those after it are of what the log has now, from its beginning on.
  case lost
  /// An entry of the hub's own that was not in the log yet: what it asks, what was seen, and the ask that it answers.
  case own(number: UInt64, RoomAskKind, nonce: RoomNonce?, seen: Seen, ask: Identifier<RoomAskTag>?)

  /// The fleet of the room, in the row that says it.
  var fleet: FleetID? { if case .followed(_, let fleet) = self { fleet } else { nil } }
}

/// How a runner's run stands, as its hub measures it.
package struct RunStanding: Hashable, Sendable {
  /// The run that was measured: the room's, or one that was started by hand before.
  package var run: RunID
  /// Its phase.
  package var phase: RunPhase
  /// Time since the room's start, in bus time.
  package var elapsed: BusDuration
  /// Tenths of a metre since the room's start; `nil` if unknown.
  package var decimetres: Int?
  /// The present pace; `nil` if unknown.
  package var paceSecondsPerKilometre: Int?
  /// What measured them.
  package var parts: [RoomRecord.Part]
  /// A standing from its parts.
  package init(
    run: RunID, phase: RunPhase, elapsed: BusDuration, decimetres: Int?, paceSecondsPerKilometre: Int? = nil,
    parts: [RoomRecord.Part] = []
  ) {
    self.run = run
    self.phase = phase
    self.elapsed = elapsed
    self.decimetres = decimetres
    self.paceSecondsPerKilometre = paceSecondsPerKilometre
    self.parts = parts
  }
}

/// What a desk wants done.
package enum DeskAction: Hashable, Sendable {
  /// Make these rows of a room durable in one transaction, then call ``TogetherDesk/kept(_:at:)`` with the receipt.
  case keep(RoomID, [RoomRow], DeskReceipt)
  /// Delete everything that is kept of a room.
  case forget(RoomID)
  /// Read a room's log, and no more in the way of an earlier reading.
  case follow(RoomID, RoomReading)
  /// Read it no more.
  case unfollow(RoomID)
  /// Compare a room's log with what was read of it: up to the position, where it had the digest. Then call
  /// ``TogetherDesk/proved(_:_:found:at:)``.
  case prove(RoomID, RoomReading)
  /// Tell that something was noticed about a room's log.
  case warn(RoomID, RoomWarning)
  /// Sign an entry and append it to the room's log.
  case append(RoomContent)
  /// Tell who asked.
  case answer(Identifier<RoomAskTag>, RoomAnswer)
  /// Press a button of the hub: `age` ago by the real clock.
  case press(RoomPress, age: BusDuration)
  /// Measure the run from the room's start on, which was `age` ago by the real clock, then call
  /// ``TogetherDesk/measured(_:_:for:at:)``.
  case measure(RoomID, RunID, since: BusDuration, for: StandingUse)
  /// Hear what the members of a room tell beside its log, then call ``TogetherDesk/heard(_:at:)``.
  case listen(RoomID)
  /// Sign a message and tell it to the members beside the log. It may be lost.
  case shout(RoomLive)
  /// The runner should notice this.
  case cue(RoomCue)
  /// What the runner's devices are shown has changed: how far the members have come.
  case show
  /// Something happened in the room that the hub has a place in, at this log time.
  case event(RoomID, RoomEvent)
  /// Read the adverts of a class every second, then call ``TogetherDesk/heard(_:at:now:)``; `nil`: of none any more.
  case seek(listedAs: String?)
  /// Make the keys to enter a room, or for `nil` to open one, then call ``TogetherDesk/keyed(_:at:)``.
  case key(RoomID?)
  /// Put the runner's advert of a class in the place of the one before; `nil` takes that away.
  case advertise(RoomAdvert?, listedAs: String)
}

/// What a measured run is for.
package enum StandingUse: Hashable, Sendable {
  /// A mark in the log.
  case mark
  /// The record in the log.
  case record
  /// What the others are told while the run is on.
  case live
  /// A new version of it, if it says something else.
  case amendment
}

/// A press that a room makes.
package enum RoomPress: Hashable, Sendable {
  /// Start this run, with this goal.
  case start(RunID, goal: BusDuration)
  /// Stop this run.
  case stop(RunID)
}

/// What follows once rows are durable.
package enum DeskReceipt: Hashable, Sendable {
  /// The own entry with this receipt may be appended.
  case own(RoomID, receipt: UInt64)
  /// These asks are answered, and these things happened.
  case read(RoomID, [DeskAction])
}
