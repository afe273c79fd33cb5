import RunCore
import RunWire
import Testing

@testable import RunBus

@Suite("Signed messages of rooms")
struct EntrySigningTests {
  private let vectors: TogetherVectors
  private let signing: EntrySigning

  init() throws {
    vectors = try TogetherVectors()
    signing = EntrySigning(vectors.key)
  }

  private func read(
    _ bytes: [UInt8], room: RoomID? = nil, fleet: FleetID? = nil, author: MemberID? = nil
  ) -> Result<SignedEntry, SignedFault> {
    do {
      return .success(
        try EntrySigning.read(
          entry: bytes, room: room ?? vectors.room, fleet: fleet ?? vectors.fleet, author: author ?? vectors.member))
    } catch {
      return .failure(error)
    }
  }

  private func fault(
    _ bytes: [UInt8], room: RoomID? = nil, fleet: FleetID? = nil, author: MemberID? = nil
  ) -> SignedFault? {
    if case .failure(let fault) = read(bytes, room: room, fleet: fleet, author: author) { fault } else { nil }
  }

  private func content(_ ask: RoomAskKind, number: UInt64 = 1) -> RoomContent {
    RoomContent(fleet: vectors.fleet, room: vectors.room, author: vectors.member, number: number, ask: ask)
  }

  // MARK: What is taken

  @Test("Entries that another program signed are read, with its hashes and digests")
  func vectorsAreRead() throws {
    var digest = EntryDigest.none
    for line in vectors.entries {
      let entry = try read(line.signed).get()
      #expect(
        Codec.encode(entry.content) == line.content || entry.content.ask == .unknown || line.what.contains("field"))
      #expect(entry.content.seen == digest.seen, "\(line.what)")
      #expect(entry.hash.description == line.hash, "\(line.what)")
      #expect(entry.ownsRoom == (entry.content.nonce != nil), "\(line.what)")
      let position = try #require(line.position), time = try #require(line.time)
      digest = digest.next(position: position, time: time, hash: entry.hash)
      #expect(digest.hash.description == line.digest, "\(line.what)")
      let folded = entry.entry(position: position, time: time)
      #expect(folded.author == vectors.member && folded.ask == entry.content.ask && folded.position == position)
    }
    #expect(digest.count == UInt64(vectors.entries.count))
  }

  #if !canImport(CryptoKit)
    // CryptoKit's signatures differ each time.
    @Test("Signing gives the bytes that another program gives")
    func vectorsAreMade() throws {
      for line in vectors.entries where !["an ask", "stay with a field"].contains(line.what) {
        let content = try read(line.signed).get().content
        if content.ask == .unknown { continue }
        #expect(signing.signed(content) == line.signed, "\(line.what)")
      }
    }
  #endif

  @Test("What is signed is read again, by every reader alike")
  func ownEntries() throws {
    let other = MemberKey.random()
    let mine = content(.remove(other.id), number: 7)
    let entry = try read(signing.signed(mine)).get()
    #expect(entry.content == mine && !entry.ownsRoom)
    let theirs = RoomContent(fleet: vectors.fleet, room: vectors.room, author: other.id, number: 1, ask: .stay)
    #expect(try read(EntrySigning(other).signed(theirs), author: other.id).get().content == theirs)
  }

  @Test("Fields of a later version are not read, and count for signature and hash")
  func laterFields() throws {
    let line = try vectors.entry("stay with a field")
    #expect(try read(line.signed).get().content.ask == .stay)
    // The same entry as this version writes it is another one: its signature is another, too.
    let plain = Codec.signed(
      Codec.encode(try read(line.signed).get().content), signature: Array(line.signed.suffix(64)))
    #expect(fault(plain) == .wrongSignature)
  }

  @Test("A room is its opener's only if its id is made from the opener's key and the nonce")
  func ownership() throws {
    let line = try vectors.entry("open")
    var open = try read(line.signed).get().content
    open.nonce = RoomNonce(high: 1, low: 2)
    #expect(try read(signing.signed(open)).get().ownsRoom == false)
    // Another one who copies the nonce.
    let other = MemberKey.random()
    open = try read(line.signed).get().content
    open.author = other.id
    #expect(try read(EntrySigning(other).signed(open), author: other.id).get().ownsRoom == false)
  }

  // MARK: What is left out

  @Test("An entry of which one byte has any other value is left out, and stops no reader")
  func mutations() throws {
    let whole = signing.signed(content(.stay))
    for place in whole.indices {
      for value in UInt8.min ... .max where value != whole[place] {
        var bytes = whole
        bytes[place] = value
        if fault(bytes) == nil { Issue.record("byte \(place) may be \(value)") }
      }
    }
  }

  @Test("An entry of each ask with a bit flipped is left out")
  func flips() throws {
    for line in vectors.entries {
      for place in line.signed.indices.dropFirst(70) {
        var bytes = line.signed
        bytes[place] ^= 1 << (place % 8)
        if fault(bytes) == nil { Issue.record("\(line.what): byte \(place)") }
      }
    }
  }

  @Test("An entry that was cut, or has more behind it, is left out")
  func truncations() throws {
    let whole = try vectors.entry("record").signed
    for length in whole.indices { #expect(fault(Array(whole.prefix(length))) != nil) }
    #expect(fault(whole + [0]) != nil)
    // A field that the wrapper does not have.
    #expect(fault(whole + [0x18, 0x01]) != nil)
    #expect(fault(whole + whole) != nil)
    #expect(fault([]) != nil)
    #expect(fault(Array(repeating: 10, count: Codec.roomBytesMax + 1)) == .tooLong)
  }

  @Test("An entry that is played into another room, fleet or author's place is left out")
  func transplants() throws {
    let whole = try vectors.entry("ready").signed
    #expect(fault(whole) == nil)
    #expect(fault(whole, room: RoomID(high: 1, low: 1)) == .otherPlace)
    #expect(fault(whole, fleet: FleetID(high: 1, low: 1)) == .otherFleet)
    #expect(fault(whole, author: vectors.second) == .otherAuthor)
    // The other member states the same with the first one's signature.
    var content = content(.ready(true))
    content.author = vectors.second
    let stolen = Codec.signed(Codec.encode(content), signature: Array(whole.suffix(64)))
    #expect(fault(stolen, author: vectors.second) == .wrongSignature)
  }

  @Test("A signature of one kind of message is none of another")
  func prefixes() throws {
    let content = Codec.encode(content(.stay))
    for kind in [SignedKind.advert, .live] {
      #expect(
        fault(Codec.signed(content, signature: vectors.key.signature(of: content, as: kind))) == .wrongSignature)
    }
    // An advert and an entry have different fields, too, but nothing depends on that.
    let beat = try vectors.beside("beat")
    #expect(throws: SignedFault.self) {
      try EntrySigning.read(advert: beat.signed, listedAs: "g30", fleet: vectors.fleet, author: vectors.member)
    }
    #expect(fault(beat.signed) != nil)
  }

  @Test("Signatures that the libraries do not agree about are refused: S with the order added, keys of small order")
  func malleability() throws {
    let whole = signing.signed(content(.stay))
    // The order of the base point, lowest byte first (RFC 8032, section 5.1).
    let order = TogetherVectors.bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
    var (raised, carry) = (whole, 0)
    for place in 0..<32 {
      let sum = Int(raised[raised.count - 32 + place]) + Int(order[place]) + carry
      raised[raised.count - 32 + place] = UInt8(sum & 0xFF)
      carry = sum >> 8
    }
    #expect(fault(raised) == .wrongSignature)
    // With the neutral point as key and as R, and S = 0, one signature fits every message.
    let neutral = [1] + [UInt8](repeating: 0, count: 31)
    let author = try #require(MemberID(neutral))
    let forged = RoomContent(fleet: vectors.fleet, room: vectors.room, author: author, number: 1, ask: .stay)
    let bytes = Codec.signed(Codec.encode(forged), signature: neutral + [UInt8](repeating: 0, count: 32))
    #expect(fault(bytes, author: author) == .wrongSignature)
  }

  // MARK: Beside the log

  @Test("Adverts and live messages are read from their places only")
  func beside() throws {
    let advert = try vectors.beside("advert")
    func readAdvert(
      listedAs: String = "g30", fleet: FleetID? = nil, author: MemberID? = nil
    ) throws(SignedFault) -> RoomAdvert {
      try EntrySigning.read(
        advert: advert.signed, listedAs: listedAs, fleet: fleet ?? vectors.fleet, author: author ?? vectors.member)
    }
    let value = try readAdvert()
    #expect(value.members == 2)
    #expect(throws: SignedFault.otherPlace) { try readAdvert(listedAs: "g10") }
    #expect(throws: SignedFault.otherFleet) { try readAdvert(fleet: FleetID(high: 0, low: 0)) }
    #expect(throws: SignedFault.otherAuthor) { try readAdvert(author: vectors.second) }
    let again = signing.signed(value)
    #expect(
      try EntrySigning.read(advert: again, listedAs: "g30", fleet: vectors.fleet, author: vectors.member) == value)

    let live = try vectors.beside("standing")
    func readLive(_ bytes: [UInt8], room: RoomID? = nil) throws(SignedFault) -> RoomLive {
      try EntrySigning.read(live: bytes, room: room ?? vectors.room, fleet: vectors.fleet, author: vectors.member)
    }
    let standing = try readLive(live.signed)
    #expect(try readLive(signing.signed(standing)) == standing)
    #expect(throws: SignedFault.otherPlace) { try readLive(live.signed, room: RoomID(high: 0, low: 0)) }
    var damaged = live.signed
    damaged[damaged.count - 1] ^= 1
    #expect(throws: SignedFault.wrongSignature) { try readLive(damaged) }
  }
}
