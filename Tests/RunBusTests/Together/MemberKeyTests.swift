import Foundation
import RunCore
import Synchronization
import TestSupport
import Testing

@testable import RunBus

@Suite("The key of a runner")
struct MemberKeyTests {
  /// Keeps bytes in memory.
  private final class Shelf: KeyStore {
    let kept = Mutex<[String: [UInt8]]>([:])
    func read(_ name: String) -> [UInt8]? { kept.withLock { $0[name] } }
    func write(_ bytes: [UInt8], as name: String) { kept.withLock { $0[name] = bytes } }
    func remove(_ name: String) { kept.withLock { $0[name] = nil } }
  }

  /// Two vectors: the example of the documentation of NATS for `nk -gen user -pubout`, and one of the tests of the
  /// library for Elixir (github.com/mmmries/nkeys). The seeds are those in the texts SUACSSL3U… and SUAMLK2ZN….
  private static let nkeys = [
    (
      "29497ba00f41dd45936b4cc4bda1decb67c128e69fb3d490ee820daf7c318c0a",
      "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"
    ),
    (
      "c5ab596af7db4996dfc9fa0f95cfc8b7aadf19c5b0d8321e8c2cfd14842f943a",
      "UCK5N7N66OBOINFXAYC2ACJQYFSOD4VYNU6APEJTAVFZB2SVHLKGEW7L"
    ),
  ]

  @Test("A member's text is the one that NATS has for the key", arguments: nkeys)
  func texts(seed: String, text: String) throws {
    let key = try #require(MemberKey(seed: TogetherVectors.bytes(seed)))
    #expect(key.id.nkey == text)
    #expect(MemberID(nkey: text) == key.id)
    #expect("\(key)" == text)
  }

  @Test("A text of a member with a letter changed, added or left out is none")
  func wrongTexts() throws {
    let text = Self.nkeys[0].1
    let letters = Array(text)
    for place in letters.indices {
      for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567018a=ü" where letter != letters[place] {
        var changed = letters
        changed[place] = letter
        #expect(MemberID(nkey: String(changed)) == nil)
      }
    }
    #expect(MemberID(nkey: text.lowercased()) == nil)
    #expect(MemberID(nkey: text + "A") == nil)
    #expect(MemberID(nkey: String(text.dropLast())) == nil)
    #expect(MemberID(nkey: "") == nil)
    // The same key as that of an account.
    #expect(MemberID(nkey: "ADXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLDJWD") == nil)
    for _ in 0..<100 {
      let id = MemberKey.random().id
      #expect(MemberID(nkey: id.nkey) == id && id.nkey.utf8.count == Bytes32<MemberTag>.nkeyLetterCount)
    }
  }

  @Test("A runner's key is made once and kept under a name of its own")
  func kept() throws {
    let shelf = Shelf()
    #expect(try MemberKey.present("run", in: shelf) == nil)
    let made = try MemberKey("run", in: shelf)
    #expect(try MemberKey("run", in: shelf).id == made.id)
    #expect(try MemberKey("walk", in: shelf).id != made.id)
    #expect(shelf.kept.withLock { $0.keys.sorted() } == ["run.member", "walk.member"])
    let content = [UInt8]("x".utf8)
    let again = try #require(try MemberKey.present("run", in: shelf))
    #expect(
      SigningKey.isValid(
        again.signature(of: content, as: .live), of: SignedKind.live.prefix + content, by: made.id.bytes))
  }

  @Test("A damaged file of a key is refused with a sentence, and not replaced")
  func damaged() throws {
    let shelf = Shelf()
    _ = try MemberKey("run", in: shelf)
    let whole = try #require(shelf.read("run.member"))
    for bytes in [Array(whole.dropLast(4)), [], Array("{}".utf8)] {
      shelf.write(bytes, as: "run.member")
      #expect(throws: RunBusError.self) { try MemberKey("run", in: shelf) }
      #expect(shelf.read("run.member") == bytes)
    }
    // A seed that belongs to another member.
    let other = MemberKey.random().id.nkey
    let own = try #require(
      String(decoding: whole, as: UTF8.self).split(separator: "\"").first { $0.utf8.count == 56 })
    let mixed = String(decoding: whole, as: UTF8.self).replacingOccurrences(of: String(own), with: other)
    shelf.write(Array(mixed.utf8), as: "run.member")
    #expect(throws: RunBusError.self) { try MemberKey("run", in: shelf) }
  }

  @Test("A key that is shown or mirrored shows nothing of its seed")
  func secret() throws {
    let seed = [UInt8](repeating: 171, count: 32)
    let key = try #require(MemberKey(seed: seed))
    var shown = "\(key) \(String(reflecting: key)) "
    dump(key, to: &shown)
    let signing = try #require(SigningKey(seed: seed))
    dump(signing, to: &shown)
    #expect(!shown.contains("171") && !shown.contains("abab"))
    #expect(MemberKey(seed: Array(seed.dropLast())) == nil)
  }

  @Test("Rooms, runs and starts have the ids and hashes that another program gives them")
  func hashes() throws {
    let vectors = try TogetherVectors()
    #expect(vectors.key.id == vectors.member && vectors.member.nkey == vectors.nkey)
    #expect(RoomID.made(owner: vectors.member, nonce: vectors.nonce) == vectors.room)
    #expect(RunID.made(room: vectors.room, member: vectors.member) == vectors.run)
    func start(_ roster: [MemberID], _ time: LogTime) -> String {
      LogHash.start(room: vectors.room, roster: roster, startsAt: time).description
    }
    #expect(start([vectors.member, vectors.second], vectors.startsAt) == vectors.start)
    #expect(start([vectors.second, vectors.member], vectors.startsAt) != vectors.start)
    #expect(EntryDigest.none.seen == .nothing)
  }
}
