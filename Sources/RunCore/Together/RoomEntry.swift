/// What a member asks of a room, or tells it.
package enum RoomAskKind: Hashable, Sendable {
  /// Opens the room.
  case open(RoomTerms, RoomCard)
  /// Takes a place. `metres` is the distance to the room's start by the own hub's measure, `nil` if unknown; `seek` is
  /// what is sought in a matched room.
  case enter(RoomCard, metres: Int?, seek: Seek?)
  /// Is ready to begin, or not any more.
  case ready(Bool)
  /// Is within 100 m of the start, or not any more.
  case here(Bool)
  /// Gives up the place.
  case leave
  /// Ends a search.
  case close
  /// Begins: gathers where the room has a start, otherwise counts down.
  case begin
  /// Counts down when all are at the start.
  case proceed
  /// Stops the countdown.
  case hold
  /// Ends the room before its run.
  case cancel
  /// Takes a member's place away for good.
  case remove(MemberID)
  /// Still here.
  case stay
  /// Lets the log's time pass.
  case tick
  /// How far the run has come.
  case mark(RoomMark)
  /// What the run came to.
  case record(RoomRecord)
  /// An ask that this version does not know.
  case unknown
}

/// How far a member's run had come at a moment.
package struct RoomMark: Hashable, Sendable {
  /// Time since the start.
  package var elapsed: BusDuration
  /// Tenths of a metre.
  package var decimetres: Int
  /// A mark from its parts.
  package init(elapsed: BusDuration, decimetres: Int) { (self.elapsed, self.decimetres) = (elapsed, decimetres) }
}

/// What a member's run came to, by its own hub.
package struct RoomRecord: Hashable, Sendable {
  /// A part of the distance.
  package struct Part: Hashable, Sendable {
    /// What measured it.
    package var source: DistanceSource
    /// Whole metres.
    package var metres: Int
    /// A part from its parts.
    package init(source: DistanceSource, metres: Int) { (self.source, self.metres) = (source, metres) }
  }
  /// Counts the member's records of this room; the highest one counts.
  package var version: UInt32
  /// Tenths of a metre from the room's start to its end; `nil` if unknown.
  package var decimetres: Int?
  /// How long the run lasted.
  package var elapsed: BusDuration
  /// Whether it lasted until the goal.
  package var isFinished: Bool
  /// What measured the distance, one part a source.
  package var parts: [Part]
  /// The run.
  package var run: RunID

  /// A record from its parts.
  package init(
    version: UInt32, decimetres: Int?, elapsed: BusDuration, isFinished: Bool, parts: [Part] = [], run: RunID
  ) {
    self.version = version
    self.decimetres = decimetres
    self.elapsed = elapsed
    self.isFinished = isFinished
    self.parts = parts
    self.run = run
  }
}

/// How much of the log an author had read when it wrote an entry.
package struct Seen: Hashable, Sendable {
  /// How many entries of the room.
  package var count: UInt64
  /// The first eight bytes of the author's digest after them.
  package var digest: UInt64
  /// What was seen, from its parts.
  package init(count: UInt64, digest: UInt64) { (self.count, self.digest) = (count, digest) }

  /// Nothing yet.
  package static let nothing = Seen(count: 0, digest: 0)
}

/// An entry of a room's log, as its reader hands it over: its signature is its author's, and it is of this room.
package struct RoomEntry: Hashable, Sendable {
  /// Its place in the log. Positions grow; gaps between them are usual.
  package var position: UInt64
  /// When the log took it.
  package var time: LogTime
  /// Who wrote it.
  package var author: MemberID
  /// Its number among the author's entries of this room: 1, 2, 3 …
  package var number: UInt64
  /// What the author had read.
  package var seen: Seen
  /// What it asks.
  package var ask: RoomAskKind
  /// Whether the room's id is made from the author's key and the number in `open`.
  package var ownsRoom: Bool

  /// An entry from its parts.
  package init(
    position: UInt64, time: LogTime, author: MemberID, number: UInt64, seen: Seen = .nothing, ask: RoomAskKind,
    ownsRoom: Bool = false
  ) {
    self.position = position
    self.time = time
    self.author = author
    self.number = number
    self.seen = seen
    self.ask = ask
    self.ownsRoom = ownsRoom
  }
}
