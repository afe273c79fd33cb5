package import RunCore

/// What a ``LogID`` identifies.
package enum LogTag: Sendable {}
/// Identifies a log; a log that begins anew has another one.
package typealias LogID = Identifier<LogTag>

/// The log service of a fleet: rooms with ordered entries, adverts, names and live messages.
///
/// It carries bytes, and signatures are made and checked by those who write and read. The log itself looks at them only
/// when a member has as much as a log takes: nobody uses up what belongs to another. An entry counts once its author has
/// read it in the log, so a failed ``append(_:author:to:)`` may be repeated.
package protocol SharedLog: Sendable {
  /// Which log it is now.
  func identity() async throws(SharedLogError) -> LogID
  /// How the log's clock stands.
  func now() async throws(SharedLogError) -> LogTime

  /// Follows a room, the entry at a position included: a reader that has that entry sees whether the log still has it.
  func follow(_ room: RoomID, from position: UInt64) async throws(SharedLogError) -> LogFeed
  /// Appends an entry; it is durable when this returns.
  func append(_ bytes: [UInt8], author: MemberID, to room: RoomID) async throws(SharedLogError)
  /// The rooms that have entries; the room with the newest entry first.
  func rooms() async throws(SharedLogError) -> [LogRoom]
  /// At most `count` entries of a room in order, the one at a position included.
  func rows(of room: RoomID, from position: UInt64, count: Int) async throws(SharedLogError) -> [LogRow]

  /// Replaces a member's advert of a class; `nil` takes it away.
  func announce(_ advert: [UInt8]?, class: String, author: MemberID) async throws(SharedLogError)
  /// The adverts of some classes that are at most ``LogBounds/advertAge`` old, the oldest first.
  func adverts(_ classes: [String]) async throws(SharedLogError) -> [LogAdvert]

  /// Takes a nickname for a member, whose former one is free then.
  ///
  /// - Returns: Whether the member has it now; `false` when another one has it, in capitals or not and however its
  ///   letters are encoded.
  func claim(_ nickname: Nickname, for member: MemberID) async throws(SharedLogError) -> Bool

  /// Sends a live message: it replaces the author's earlier one of that kind, and may be lost.
  func shout(_ bytes: [UInt8], kind: LiveKind, room: RoomID, author: MemberID)
  /// The live messages of a room, those that are there first.
  func listen(_ room: RoomID) async throws(SharedLogError) -> LiveFeed

  /// Ends all feeds. Later calls throw ``SharedLogError/closed``.
  func close() async
}

/// An entry as the log has it.
package struct LogRow: Hashable, Sendable {
  /// Its place in the log. Later entries have greater ones; entries of other rooms lie between.
  package let position: UInt64
  /// When the log took it; never before the time of an entry before it.
  package let time: LogTime
  /// Who appended it, as the appender said.
  package let author: MemberID
  /// The bytes that were appended.
  package let body: [UInt8]
  /// An entry from its parts.
  package init(position: UInt64, time: LogTime, author: MemberID, body: [UInt8]) {
    self.position = position
    self.time = time
    self.author = author
    self.body = body
  }
}

/// Entries of a followed room.
package struct LogBatch: Hashable, Sendable {
  /// The entries, in order.
  package let rows: [LogRow]
  /// When this process learned of them, on its monotonic clock: never before the last of them was in the log.
  package let heard: BusTime
  /// Whether the room has more entries already.
  package let hasMore: Bool
  /// How the log's clock stood when they were read: it has stamped none of them later.
  package let clock: LogTime
  /// A batch from its parts.
  package init(rows: [LogRow], heard: BusTime, hasMore: Bool, clock: LogTime) {
    self.rows = rows
    self.heard = heard
    self.hasMore = hasMore
    self.clock = clock
  }
}

/// What a follower of a room learns.
package enum LogNews: Hashable, Sendable {
  /// The next entries, each once and without holes. The first batch comes at once; without rows if there are none.
  case rows(LogBatch)
  /// The log is another one, or lacks an entry that this feed has given. What it has from that entry's position on, that
  /// position included, comes next, at once; a reader that wants what is before follows the room anew.
  case replaced(LogID)
  /// The log cannot be read, for the reason in the sentence; told once. The feed goes on when it can be, with a batch at
  /// once, also one without rows.
  case unavailable(String)
}

/// A room of the log.
package struct LogRoom: Hashable, Sendable {
  /// The room.
  package let room: RoomID
  /// The position of its newest entry.
  package let position: UInt64
  /// The greatest time of its entries.
  package let time: LogTime
  /// How many entries it has.
  package let count: Int
  /// A room from its parts.
  package init(room: RoomID, position: UInt64, time: LogTime, count: Int) {
    self.room = room
    self.position = position
    self.time = time
    self.count = count
  }
}

/// An advert as the log has it.
package struct LogAdvert: Hashable, Sendable {
  /// Who announced it, as the announcer said.
  package let author: MemberID
  /// When, on the log's clock.
  package let time: LogTime
  /// The bytes that were announced.
  package let body: [UInt8]
  /// An advert from its parts.
  package init(author: MemberID, time: LogTime, body: [UInt8]) {
    self.author = author
    self.time = time
    self.body = body
  }
}

/// What a live message is about.
package enum LiveKind: String, Hashable, Sendable, CaseIterable {
  /// That a member is there.
  case beat
  /// How far a member is.
  case standing
  /// Where a member is.
  case place
}

/// The newest live message of a member and kind.
package struct LiveRow: Hashable, Sendable {
  /// Who sent it, as the sender said.
  package let author: MemberID
  /// What it is about.
  package let kind: LiveKind
  /// The bytes that were sent.
  package let body: [UInt8]
  /// When it was sent, on this process's monotonic clock.
  package let sent: BusTime
  /// A message from its parts.
  package init(author: MemberID, kind: LiveKind, body: [UInt8], sent: BusTime) {
    self.author = author
    self.kind = kind
    self.body = body
    self.sent = sent
  }
}

/// How much of one author a log takes. Tests have less, because they sign all of it.
package struct LogCapacity: Hashable, Sendable {
  /// Entries of an author in a room.
  package var entriesOfAuthor = LogBounds.entriesOfAuthor
  /// Adverts of an author.
  package var advertsOfAuthor = LogBounds.advertsOfAuthor
  /// What a log takes outside of tests.
  package init() {}
}

/// What a log takes.
package enum LogBounds {
  /// Entries of a member in a room, each counted once: the rules judge 512, and what is beyond those is of use to nobody.
  package static let entriesOfAuthor = 600
  /// Bytes of an entry, an advert or a live message. A signed entry has at most half of it.
  package static let bytes = 4096
  /// Adverts of a member: 7 goals for searches, and 257 areas of open rooms.
  package static let advertsOfAuthor = 264
  /// Bytes of the name of a class of adverts.
  package static let classBytes = 64
  /// How long an advert lasts; it is renewed three times meanwhile.
  package static let advertAge = BusDuration.seconds(180)
  /// Live messages of a member in a room that are taken within a second; further ones are dropped.
  package static let liveInSecond = 2
  /// How far the newest entry may be ahead of what the wall clock says at the first opening of a boot: wall clocks are set.
  package static let awayError = BusDuration.seconds(24 * 3600)
  /// How long a live message lasts: a standing is stale after 9 s.
  package static let liveAge = BusDuration.seconds(60)
  /// How many entries are read at a time, so that no read holds up a writer for long.
  package static let batch = 256
  /// The greatest position and the greatest time of an entry, in the year 2116: what is beyond them is none, so that sums
  /// with either stay numbers.
  package static let (positionMax, timeMax) = (Int64(1) << 62, LogTime(nanoseconds: 1 << 62))
  /// How many adverts of a class are read, the newest.
  package static let advertsRead = 4096
}

/// Why a log did not do what was asked.
package enum SharedLogError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What there is too much of.
  package enum Bound: String, Hashable, Sendable {
    case entries = "a member has at most 600 entries in a room"
    case bytes = "an entry, an advert or a live message has at most 4,096 bytes"
    case adverts = "a member has at most 264 adverts"
    case className = "the name of a class of adverts has 1 to 64 bytes"
  }
  /// The log does not take so much.
  case full(Bound)
  /// Another process held the log for 5 s: try again.
  case busy
  /// The log cannot be used now; one sentence says why, and what helps.
  case unavailable(String)
  /// The log was closed.
  case closed

  /// One sentence for people.
  package var description: String {
    switch self {
    case .full(let bound): bound.rawValue
    case .busy: "another process writes to the log for too long: try again"
    case .unavailable(let sentence): sentence
    case .closed: "the log is closed"
    }
  }
}
