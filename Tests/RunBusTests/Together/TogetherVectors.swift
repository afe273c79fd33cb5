import Foundation
import RunCore
import TestSupport
import Testing

@testable import RunBus

/// The messages of `Tests/Vectors/rooms.json`, which `scripts/make-wire-vectors` hashes and signs.
struct TogetherVectors {
  /// A message and what was made of it.
  struct Line {
    var what: String
    var content: [UInt8]
    var signed: [UInt8]
    var hash: String?
    var digest: String?
    var position: UInt64?
    var time: LogTime?
  }

  let key: MemberKey
  let member: MemberID
  let nkey: String
  let second: MemberID
  let fleet: FleetID
  let nonce: RoomNonce
  let room: RoomID
  let run: RunID
  let startsAt: LogTime
  let start: String
  let entries: [Line]
  let beside: [Line]

  init() throws {
    let text = try String(contentsOfFile: Checkout.path("Tests/Vectors/rooms.json"), encoding: .utf8)
    let file = try #require(JSONValue(text: text))
    func bytes(_ name: String) throws -> [UInt8] { Self.bytes(try #require(file[name]?.string)) }
    key = try #require(MemberKey(seed: bytes("seed")))
    member = try #require(MemberID(bytes("member")))
    nkey = try #require(file["nkey"]?.string)
    second = try #require(MemberID(bytes("second")))
    fleet = try #require(FleetID(bytes: bytes("fleet")))
    nonce = try #require(RoomNonce(bytes: bytes("nonce")))
    room = try #require(RoomID(bytes: bytes("room")))
    run = try #require(RunID(bytes: bytes("run")))
    startsAt = LogTime(nanoseconds: 1_800_000_000 * 1_000_000_000)
    start = try #require(file["start"]?.string)
    let times = startsAt
    func lines(_ name: String) throws -> [Line] {
      try #require(file[name]?.array).enumerated().map { index, line in
        Line(
          what: line["what"]?.string ?? "", content: Self.bytes(line["content"]?.string ?? ""),
          signed: Self.bytes(line["signed"]?.string ?? ""), hash: line["hash"]?.string, digest: line["digest"]?.string,
          position: line["position"]?.int.map(UInt64.init),
          // A number of JSON is not exact to the nanosecond: the entries are one apart.
          time: LogTime(nanoseconds: times.nanoseconds + Int64(index)))
      }
    }
    entries = try lines("entries")
    beside = try lines("beside")
  }

  static func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex.utf8)
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
      UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
    }
  }

  func entry(_ what: String) throws -> Line { try #require(entries.first { $0.what == what }, "\(what)") }
  func beside(_ what: String) throws -> Line { try #require(beside.first { $0.what == what }, "\(what)") }
}
