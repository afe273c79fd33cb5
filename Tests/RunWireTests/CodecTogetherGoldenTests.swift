import Foundation
import RunCore
import TestSupport
import Testing

@testable import RunWire

/// The messages of `Tests/Vectors/rooms.json`, which `scripts/make-wire-vectors` encodes from docs/protocol.md. If one
/// of these tests fails, logs that exist cannot be read any more: revert the schema.
@Suite("The bytes of rooms do not change")
struct CodecTogetherGoldenTests {
  private static let vectors: JSONValue? = {
    let text = try? String(contentsOfFile: Checkout.path("Tests/Vectors/rooms.json"), encoding: .utf8)
    return text.flatMap { JSONValue(text: $0) }
  }()

  private func bytes(_ value: JSONValue?) throws -> [UInt8] {
    let hex = Array(try #require(value?.string))
    return stride(from: 0, to: hex.count, by: 2).compactMap { UInt8(String(hex[$0...$0 + 1]), radix: 16) }
  }
  private func entry(_ what: String) throws -> [UInt8] {
    try bytes(#require(Self.vectors?["entries"]?.array?.first { $0["what"]?.string == what }, "\(what)")["content"])
  }
  private func beside(_ what: String) throws -> [UInt8] {
    try bytes(#require(Self.vectors?["beside"]?.array?.first { $0["what"]?.string == what }, "\(what)")["content"])
  }

  private static let half = BusDuration.seconds(1800)
  private static let card = RoomCard(nickname: Nickname("Läufer7")!, level: 3)
  private static let full = RoomCard(
    nickname: Nickname("달리기")!, level: 10, gender: .female, circle: "Río ⌚️",
    claim: RoomCard.Claim(won: 4, lost: 300))
  private static let terms = RoomTerms(
    goal: half, places: 4, countdown: .seconds(5),
    start: RoomStart(label: "Fountain", latitude: 48_137, longitude: -11_576), circle: "harbour")
  private static let seek = Seek(goal: half, wish: .other)

  /// The asks, by what they are.
  private func asks() throws -> [(String, RoomAskKind)] {
    let second: MemberID = try #require(MemberID(bytes(Self.vectors?["second"])))
    let run: RunID = try #require(RunID(bytes: bytes(Self.vectors?["run"])))
    let search = RoomTerms(
      kind: .matched(Self.seek, left: .seconds(120)), goal: Self.half, places: 2, countdown: .seconds(5))
    let later = RoomTerms(rules: 2, goal: .seconds(72 * 3600), places: 400, countdown: .zero)
    let record = RoomRecord(
      version: 2, decimetres: 61_234, elapsed: Self.half, isFinished: true,
      parts: [.init(source: .positions, metres: 6000), .init(source: .pedometer, metres: 123)], run: run)
    return [
      ("open", .open(Self.terms, Self.full)), ("open a search", .open(search, Self.card)),
      ("open with later rules", .open(later, Self.card)), ("enter", .enter(Self.card, metres: nil, seek: nil)),
      ("enter a search", .enter(Self.full, metres: 1000, seek: Self.seek)), ("ready", .ready(true)),
      ("not ready", .ready(false)), ("here", .here(true)), ("leave", .leave), ("close", .close), ("begin", .begin),
      ("proceed", .proceed), ("hold", .hold), ("cancel", .cancel), ("remove", .remove(second)), ("stay", .stay),
      ("tick", .tick), ("mark", .mark(RoomMark(elapsed: .seconds(300), decimetres: 10_234))),
      ("record", .record(record)),
      (
        "record of nothing",
        .record(RoomRecord(version: 1, decimetres: nil, elapsed: .zero, isFinished: false, run: run))
      ),
    ]
  }

  @Test("An entry of each ask has its bytes")
  func entries() throws {
    let ids = try #require(Self.vectors)
    let (fleet, room) = (FleetID(bytes: try bytes(ids["fleet"])), RoomID(bytes: try bytes(ids["room"])))
    let nonce = RoomNonce(bytes: try bytes(ids["nonce"]))
    let author = MemberID(try bytes(ids["member"]))
    for (index, (what, ask)) in try asks().enumerated() {
      let bytes = try entry(what)
      let content = try Codec.roomContent(bytes)
      #expect(content.ask == ask, "\(what)")
      #expect(content.fleet == fleet && content.room == room && content.author == author, "\(what)")
      #expect(content.number == UInt64(index + 1) && content.seen.count == UInt64(index), "\(what)")
      if case .open = ask { #expect(content.nonce == nonce) } else { #expect(content.nonce == nil) }
      #expect(Codec.encode(content) == bytes, "\(what)")
    }
  }

  @Test("An ask, a gender or a kind of room of a later version makes an unknown ask, whose entry keeps its number")
  func unknownAsks() throws {
    for what in ["an ask", "enter with a gender", "open with a kind"] {
      let content = try Codec.roomContent(entry(what))
      #expect(content.ask == .unknown && content.nonce == nil && content.number > 20, "\(what)")
    }
  }

  @Test("A field of a later version changes nothing")
  func unknownField() throws {
    #expect(try Codec.roomContent(entry("stay with a field")).ask == .stay)
  }

  @Test("An advert and live messages have their bytes")
  func beside() throws {
    let advert = try Codec.roomAdvert(beside("advert"))
    #expect(advert.terms == Self.terms && advert.card == Self.full && advert.members == 2 && advert.position == 10)
    #expect(advert.openedAt.nanoseconds == 1_800_000_000_000_000_000 && advert.listedAs == "g30")
    #expect(try Codec.encode(advert) == beside("advert"))
    let standing = RoomLive.Standing(
      elapsed: BusDuration(nanoseconds: 61_250_000_000), decimetres: 2011, paceSecondsPerKilometre: 305, phase: .running
    )
    let kinds: [(String, RoomLive.Kind)] = [
      ("beat", .beat), ("standing", .standing(standing)),
      ("standing of which nothing is known", .standing(.init(elapsed: .zero, phase: .unknown))),
    ]
    for (index, (what, kind)) in kinds.enumerated() {
      let live = try Codec.roomLive(beside(what))
      #expect(live.kind == kind && live.number == UInt64(index + 1), "\(what)")
      #expect(try Codec.encode(live) == beside(what))
    }
  }
}
