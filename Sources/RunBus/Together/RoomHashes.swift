package import RunCore

// The hashes from which rooms and what is in them get their names. Each is SHA-256 over a word that says what it is,
// and parts of known lengths.

extension Identifier where Kind == RoomTag {
  /// The room that an owner opens with a nonce: the first 16 bytes of SHA-256("room" ‖ owner ‖ nonce).
  package static func made(owner: MemberID, nonce: RoomNonce) -> Self {
    Self(firstHalfOf: "room", owner.bytes + nonce.bytes)
  }
}

extension Identifier where Kind == RunTag {
  /// The run of a member in a room: the first 16 bytes of SHA-256("run" ‖ room ‖ member). A start that is pressed twice
  /// is one run.
  package static func made(room: RoomID, member: MemberID) -> Self {
    Self(firstHalfOf: "run", room.bytes + member.bytes)
  }
}

extension Identifier {
  init(firstHalfOf word: String, _ bytes: [UInt8]) {
    let hash = SHA256Sum.hash(Array(word.utf8) + bytes)
    guard let id = Self(bytes: hash.prefix(16)) else { preconditionFailure("half a hash has 16 bytes") }
    self = id
  }
}

extension Bytes32 where Kind == LogHashTag {
  /// The hash of bytes.
  package static func of(_ bytes: [UInt8]) -> Self {
    guard let hash = Self(SHA256Sum.hash(bytes)) else { preconditionFailure("a hash has 32 bytes") }
    return hash
  }

  /// The hash of a start: SHA-256("start" ‖ room ‖ members in the order of the roster ‖ moment, 8 bytes, highest
  /// first).
  package static func start(room: RoomID, roster: [MemberID], startsAt: LogTime) -> Self {
    of(Array("start".utf8) + room.bytes + roster.flatMap(\.bytes) + bigEndian(UInt64(bitPattern: startsAt.nanoseconds)))
  }
}

/// The hash of all entries of a room up to one, in order. Who has another one at the same count has read another log.
package struct EntryDigest: Hashable, Sendable {
  /// How many entries.
  package let count: UInt64
  /// Their hash; zeros for none.
  package let hash: LogHash

  /// Of no entry.
  package static let none: EntryDigest = {
    guard let hash = LogHash([UInt8](repeating: 0, count: LogHash.byteCount)) else {
      preconditionFailure("a hash has 32 bytes")
    }
    return EntryDigest(count: 0, hash: hash)
  }()

  /// A digest from its parts, as they were kept.
  package init(count: UInt64, hash: LogHash) { (self.count, self.hash) = (count, hash) }

  /// With one entry more: SHA-256("entry" ‖ hash before ‖ position ‖ time ‖ hash of the entry), numbers with 8 bytes,
  /// highest first.
  package func next(position: UInt64, time: LogTime, hash: LogHash) -> EntryDigest {
    EntryDigest(
      count: count + 1,
      hash: .of(
        Array("entry".utf8) + self.hash.bytes + bigEndian(position)
          + bigEndian(UInt64(bitPattern: time.nanoseconds)) + hash.bytes))
  }

  /// What an author who has read so far says.
  package var seen: Seen { Seen(count: count, digest: count == 0 ? 0 : hash.prefix) }
}

private func bigEndian(_ value: UInt64) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
