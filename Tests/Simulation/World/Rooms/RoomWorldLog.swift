import RunCore

/// The log of a simulated fleet: rooms of entries, a clock of its own, and hashes that are good enough for a world.
struct RoomWorldLog {
  struct Row: Hashable {
    let position: UInt64
    let time: LogTime
    let content: RoomContent
    let hash: LogHash
    /// Of the room's log up to it.
    private(set) var digest: LogHash

    init(position: UInt64, time: LogTime, content: RoomContent, after last: LogHash? = nil) {
      (self.position, self.time, self.content) = (position, time, content)
      var hasher = WorldHash()
      hasher.add(content)
      (hash, digest) = (hasher.value, hasher.value)
      chain(to: last)
    }
    /// Is the next one after a digest.
    mutating func chain(to last: LogHash?) {
      digest = RoomWorldLog.digest(after: last, position: position, time: time, hash: hash)
    }
  }
  private(set) var rows: [RoomID: [Row]] = [:]
  /// How many entries each author has.
  private var counts: [MemberID: Int] = [:]
  private var lastPosition: UInt64 = 0
  private var lastTime = LogTime.zero
  /// How far the log's clock is ahead of the world's.
  var ahead: BusDuration
  /// How often an older copy was put in the log's place.
  private(set) var copies = 0

  init(ahead: BusDuration) { self.ahead = ahead }

  /// The log's clock. It stands where it was set back, until it is caught up.
  func clock(at now: BusTime) -> LogTime { max(lastTime, LogTime(nanoseconds: (now + ahead).nanoseconds)) }

  /// Takes an entry; at most 600 of an author in a room.
  mutating func append(_ content: RoomContent, at now: BusTime) -> Bool {
    guard counts[content.author, default: 0] < 600 else { return false }
    counts[content.author, default: 0] += 1
    lastPosition += 1
    lastTime = max(LogTime(nanoseconds: lastTime.nanoseconds + 1), clock(at: now))
    rows[content.room, default: []].append(
      Row(position: lastPosition, time: lastTime, content: content, after: rows[content.room]?.last?.digest))
    return true
  }

  /// An older copy takes the log's place, which lacks the last entries of a room. Their positions are used again.
  mutating func lose(_ count: Int, of room: RoomID) {
    for row in rows[room]?.suffix(count) ?? [] { counts[row.content.author, default: 0] -= 1 }
    rows[room] = rows[room]?.dropLast(count)
    lastPosition = rows.values.compactMap(\.last?.position).max() ?? 0
    copies += 1
  }

  /// Somebody changes what the log has of a room. Its clock does not follow, and its writers go on after it.
  mutating func tamper(with room: RoomID, _ change: (inout [Row]) -> Void) {
    guard var changed = rows[room] else { return }
    change(&changed)
    for place in changed.indices { changed[place].chain(to: place > 0 ? changed[place - 1].digest : nil) }
    rows[room] = changed
    lastPosition = max(lastPosition, changed.last?.position ?? 0)
  }

  static func digest(after last: LogHash?, position: UInt64, time: LogTime, hash: LogHash) -> LogHash {
    var hasher = WorldHash()
    hasher.add(hash)
    if let last { hasher.add(last) }
    hasher.add(position)
    hasher.add(UInt64(bitPattern: time.nanoseconds))
    return hasher.value
  }

  /// The next entries of a reading. Their digests are the reader's own: they rest on what it has read.
  func read(_ room: RoomID, _ feed: inout RoomWorldFeed, at now: BusTime) -> [ReadEntry] {
    var entries = read(room, from: feed.from, at: now)
    for place in entries.indices {
      let read = entries[place]
      if feed.digest == nil, let known = feed.reading.digest, read.entry.position == feed.reading.from {
        feed.digest = known
      } else {
        feed.digest = Self.digest(
          after: feed.digest, position: read.entry.position, time: read.entry.time, hash: read.hash)
      }
      entries[place].digest = feed.digest ?? read.digest
    }
    if let last = entries.last { feed.from = last.entry.position + 1 }
    return entries
  }

  /// The entries of a room from a position on, as they are read now.
  func read(_ room: RoomID, from position: UInt64, at now: BusTime) -> [ReadEntry] {
    LogStamps.believed(
      (rows[room] ?? []).filter { $0.position >= position }
        .map { ReadEntry(entry: $0.entry, hash: $0.hash, digest: $0.digest) }, by: clock(at: now))
  }

  /// The digest of a room's log after the last entry up to a position.
  func digest(_ room: RoomID, through position: UInt64) -> LogHash {
    rows[room]?.last { $0.position <= position }?.digest ?? WorldHash().value
  }
}

extension RoomWorldLog.Row {
  var entry: RoomEntry {
    RoomEntry(
      position: position, time: time, author: content.author, number: content.number, seen: content.seen,
      ask: content.ask, ownsRoom: content.nonce.map { RoomWorld.room(of: content.author, $0) } == content.room)
  }
}

/// A hash for worlds. It is the same on every machine, unlike Swift's own, and nobody in a world looks for collisions.
struct WorldHash {
  private var words: (UInt64, UInt64, UInt64, UInt64) = (1, 2, 3, 4)

  mutating func add(_ number: UInt64) {
    words.0 = (words.0 ^ number) &* 0x9E37_79B9_7F4A_7C15
    words.1 = (words.1 &+ words.0).byteSwapped &* 0xBF58_476D_1CE4_E5B9
    words.2 = (words.2 ^ words.1) &* 0x94D0_49BB_1331_11EB
    words.3 = (words.3 &+ words.2 ^ words.0 >> 31) &* 0x9E37_79B9_7F4A_7C15
  }
  mutating func add(_ hash: LogHash) {
    for place in 0..<4 {
      add(hash.bytes[(8 * place)..<(8 * place + 8)].reduce(0) { $0 << 8 | UInt64($1) })
    }
  }
  /// Anything else, by its description.
  mutating func add(_ value: some Hashable) {
    for byte in String(describing: value).utf8 { add(UInt64(byte)) }
  }
  var value: LogHash {
    let bytes = [words.1, words.0, words.2, words.3].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
    }
    return LogHash(bytes)!
  }
}
