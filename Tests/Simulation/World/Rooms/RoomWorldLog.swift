import RunCore

/// The log of a simulated fleet: rooms of entries, a clock of its own, and hashes that are good enough for a world.
struct RoomWorldLog {
  struct Row: Hashable {
    let position: UInt64
    let time: LogTime
    let content: RoomContent
    let hash: LogHash
    /// Of the room's log up to it.
    let digest: LogHash
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
    var hasher = WorldHash()
    hasher.add(content)
    let hash = hasher.value
    if let last = rows[content.room]?.last { hasher.add(last.digest) }
    hasher.add(lastPosition)
    hasher.add(UInt64(bitPattern: lastTime.nanoseconds))
    rows[content.room, default: []].append(
      Row(position: lastPosition, time: lastTime, content: content, hash: hash, digest: hasher.value))
    return true
  }

  /// An older copy takes the log's place, which lacks the last entries of a room. Their positions are used again.
  mutating func lose(_ count: Int, of room: RoomID) {
    for row in rows[room]?.suffix(count) ?? [] { counts[row.content.author, default: 0] -= 1 }
    rows[room] = rows[room]?.dropLast(count)
    lastPosition = rows.values.compactMap(\.last?.position).max() ?? 0
    copies += 1
  }

  /// The entries of a room from a position on.
  func read(_ room: RoomID, from position: UInt64) -> [ReadEntry] {
    (rows[room] ?? []).filter { $0.position >= position }
      .map { ReadEntry(entry: $0.entry, hash: $0.hash, digest: $0.digest) }
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
