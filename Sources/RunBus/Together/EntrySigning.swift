package import RunCore
import RunWire

/// What a signature is for. Its prefix is signed with the content, so that a signed advert is never an entry.
enum SignedKind: String {
  case entry, advert, live

  var prefix: [UInt8] { Array("runbus room \(rawValue) 1".utf8) }
}

/// Why a message of a room is left out. All readers of a room leave out the same ones.
package enum SignedFault: Error, Hashable, Sendable {
  /// It is longer than a log takes.
  case tooLong
  /// It breaks a rule of the schema, or is of a later version; the text says which.
  case malformed(String)
  /// It is of another fleet.
  case otherFleet
  /// It is of another room, or listed under another class than it says.
  case otherPlace
  /// It names another author than its place in the log does.
  case otherAuthor
  /// The signature is not its author's.
  case wrongSignature
}

/// An entry of a room as it was read from the log: of this room and its author.
package struct SignedEntry: Hashable, Sendable {
  /// What its author signed.
  package let content: RoomContent
  /// The hash of the bytes that came.
  package let hash: LogHash
  /// Whether the room's id is made from the author's key and the number in `open`.
  package let ownsRoom: Bool

  /// The entry for the fold, from where and when the log has it.
  package func entry(position: UInt64, time: LogTime) -> RoomEntry {
    RoomEntry(
      position: position, time: time, author: content.author, number: content.number, seen: content.seen,
      ask: content.ask, ownsRoom: ownsRoom)
  }
}

/// Signs what a member writes, and reads what members have written.
package struct EntrySigning: Sendable {
  /// The key that signs.
  package let key: MemberKey

  /// Signs with a key.
  package init(_ key: MemberKey) { self.key = key }

  // MARK: Signing

  /// The bytes of an entry for the log. They are kept until the log has them, because signing again may give others.
  ///
  /// - Precondition: the content's author is the owner of the key, and an `open` has its nonce.
  package func signed(_ content: RoomContent) -> [UInt8] {
    precondition(content.author == key.id, "a member signs its own entries")
    if case .open = content.ask { precondition(content.nonce != nil, "a room is opened with a nonce") }
    return signed(Codec.encode(content), as: .entry)
  }

  /// The bytes of an advert.
  package func signed(_ advert: RoomAdvert) -> [UInt8] {
    precondition(advert.author == key.id, "a member signs its own adverts")
    return signed(Codec.encode(advert), as: .advert)
  }

  /// The bytes of a live message.
  package func signed(_ live: RoomLive) -> [UInt8] {
    precondition(live.author == key.id, "a member signs its own messages")
    return signed(Codec.encode(live), as: .live)
  }

  private func signed(_ content: [UInt8], as kind: SignedKind) -> [UInt8] {
    Codec.signed(content, signature: key.signature(of: content, as: kind))
  }

  // MARK: Reading

  /// Reads an entry from the log of a room.
  ///
  /// - Parameter author: The author by the log. An entry that names another author is left out.
  /// - Throws: why it is left out.
  package static func read(
    entry bytes: [UInt8], room: RoomID, fleet: FleetID, author: MemberID
  ) throws(SignedFault) -> SignedEntry {
    let (content, check) = try open(bytes, as: .entry, Codec.roomContent)
    guard content.fleet == fleet else { throw .otherFleet }
    guard content.room == room else { throw .otherPlace }
    guard content.author == author else { throw .otherAuthor }
    try check(author)
    let ownsRoom = content.nonce.map { RoomID.made(owner: author, nonce: $0) == room } ?? false
    return SignedEntry(content: content, hash: .of(bytes), ownsRoom: ownsRoom)
  }

  /// What a member has signed in a room, of whatever fleet; `nil` for what is not the member's own.
  ///
  /// - Parameter isKnown: Leaves out an entry by its number before its signature is checked.
  static func content(
    of entry: [UInt8], room: RoomID, author: MemberID, unless isKnown: (UInt64) -> Bool = { _ in false }
  ) -> RoomContent? {
    guard let (content, check) = try? open(entry, as: .entry, Codec.roomContent), content.room == room,
      content.author == author, !isKnown(content.number), (try? check(author)) != nil
    else { return nil }
    return content
  }

  /// Whether a member has signed an advert of a class, of whatever fleet.
  static func isAdvert(_ bytes: [UInt8], listedAs: String, author: MemberID) -> Bool {
    guard let (advert, check) = try? open(bytes, as: .advert, Codec.roomAdvert), advert.listedAs == listedAs,
      advert.author == author
    else { return false }
    return (try? check(author)) != nil
  }

  /// Whether an entry is a mark or a record. Its signature is not checked.
  static func statesRun(_ bytes: [UInt8]) -> Bool {
    guard let parts = try? Codec.signedParts(bytes), let content = try? Codec.roomContent(parts.content) else {
      return false
    }
    return switch content.ask {
    case .mark, .record: true
    case .open, .enter, .ready, .here, .leave, .close, .begin, .proceed, .hold, .cancel, .remove, .stay, .tick,
      .unknown:
      false
    }
  }

  /// The card that an entry shows; `nil` for none. Its signature is not looked at: the card is for people to read.
  static func card(in bytes: [UInt8]) -> RoomCard? {
    guard let parts = try? Codec.signedParts(bytes) else { return nil }
    return (try? Codec.roomContent(parts.content))?.ask.card
  }

  /// Reads an advert.
  ///
  /// - Parameters:
  ///   - listedAs: the class under which it was found.
  ///   - author: whose advert it is by the place where it was found.
  /// - Throws: why it is left out.
  package static func read(
    advert bytes: [UInt8], listedAs: String, fleet: FleetID, author: MemberID
  ) throws(SignedFault) -> RoomAdvert {
    let (advert, check) = try open(bytes, as: .advert, Codec.roomAdvert)
    guard advert.fleet == fleet else { throw .otherFleet }
    guard advert.listedAs == listedAs else { throw .otherPlace }
    guard advert.author == author else { throw .otherAuthor }
    try check(author)
    return advert
  }

  /// Reads a live message.
  ///
  /// - Parameter author: who sent it by the subject or row where it was found.
  /// - Throws: why it is left out.
  package static func read(
    live bytes: [UInt8], room: RoomID, fleet: FleetID, author: MemberID
  ) throws(SignedFault) -> RoomLive {
    let (live, check) = try open(bytes, as: .live, Codec.roomLive)
    guard live.fleet == fleet else { throw .otherFleet }
    guard live.room == room else { throw .otherPlace }
    guard live.author == author else { throw .otherAuthor }
    try check(author)
    return live
  }

  /// Takes a message apart. The signature is checked last, because that takes longest.
  private static func open<Content>(
    _ bytes: [UInt8], as kind: SignedKind, _ decode: ([UInt8]) throws(WireError) -> Content
  ) throws(SignedFault) -> (Content, check: (MemberID) throws(SignedFault) -> Void) {
    guard bytes.count <= Codec.roomBytesMax else { throw .tooLong }
    do throws(WireError) {
      let (content, signature) = try Codec.signedParts(bytes)
      let value = try decode(content)
      return (
        value,
        { author throws(SignedFault) in
          guard SigningKey.isValid(signature, of: kind.prefix + content, by: author.bytes) else {
            throw .wrongSignature
          }
        }
      )
    } catch {
      throw .malformed(error.description)
    }
  }
}
