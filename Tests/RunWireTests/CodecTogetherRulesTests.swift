import Foundation
import RunCore
import SwiftProtobuf
import Testing

@testable import RunWire

@Suite("Rules of the messages of rooms")
struct CodecTogetherRulesTests {
  private static let day: Int64 = 24 * 3600 * 1_000_000_000
  private static let second: Int64 = 1_000_000_000

  private static var card: WireRoomCard {
    var card = WireRoomCard()
    card.nickname = "Ab"
    card.level = 1
    return card
  }
  private static var terms: WireRoomTerms {
    var terms = WireRoomTerms()
    terms.rules = 1
    terms.goalNs = 1800 * second
    terms.places = 4
    terms.countdownNs = 5 * second
    terms.kind = .opened(WireEmpty())
    return terms
  }
  private static var search: WireRoomTerms {
    var (terms, matched) = (terms, WireRoomMatched())
    terms.places = 2
    matched.seek.goalNs = 1800 * second
    matched.leftNs = 120 * second
    terms.kind = .matched(matched)
    return terms
  }
  private static var record: WireRoomRecord {
    var record = WireRoomRecord()
    record.version = 1
    record.run = Data(repeating: 1, count: 16)
    return record
  }

  private func content(_ ask: WireRoomContent.OneOf_Ask?, _ change: (inout WireRoomContent) -> Void = { _ in })
    -> [UInt8]
  {
    var content = WireRoomContent()
    content.fleet = Data(repeating: 1, count: 16)
    content.room = Data(repeating: 2, count: 16)
    content.author = Data(repeating: 3, count: 32)
    content.number = 1
    content.ask = ask
    change(&content)
    return Codec.serialize(content)
  }

  private func isTaken(_ bytes: [UInt8]) -> Bool { (try? Codec.roomContent(bytes)) != nil }

  private func opens(_ terms: WireRoomTerms = Self.terms, _ change: (inout WireRoomTerms) -> Void = { _ in }) -> Bool {
    var open = WireRoomOpen()
    open.nonce = Data(repeating: 4, count: 16)
    open.card = Self.card
    open.terms = terms
    change(&open.terms)
    return isTaken(content(.open(open)))
  }

  private func enters(_ change: (inout WireRoomEnter) -> Void) -> Bool {
    var enter = WireRoomEnter()
    enter.card = Self.card
    change(&enter)
    return isTaken(content(.enter(enter)))
  }

  private func records(_ change: (inout WireRoomRecord) -> Void) -> Bool {
    var record = Self.record
    change(&record)
    return isTaken(content(.record(record)))
  }

  @Test("Ids, numbers and digests have their lengths and bounds")
  func heads() {
    let stay = WireRoomContent.OneOf_Ask.stay(WireEmpty())
    #expect(isTaken(content(stay)))
    #expect(!isTaken(content(stay) { $0.fleet = Data(repeating: 1, count: 15) }))
    #expect(!isTaken(content(stay) { $0.room = Data() }))
    #expect(!isTaken(content(stay) { $0.author = Data(repeating: 3, count: 33) }))
    #expect(!isTaken(content(stay) { $0.number = 0 }))
    #expect(isTaken(content(stay) { $0.number = 1 << 62 }))
    #expect(!isTaken(content(stay) { $0.number = 1 << 62 + 1 }))
    #expect(!isTaken(content(stay) { $0.seen.count = 1 }))
    #expect(isTaken(content(stay) { $0.seen.digest = Data(repeating: 1, count: 8) }))
    #expect(!isTaken(content(stay) { $0.seen.digest = Data(repeating: 1, count: 9) }))
    #expect(!isTaken(content(.remove(Data(repeating: 1, count: 31)))))
    #expect(!isTaken(Array(repeating: 0, count: Codec.roomBytesMax + 1)))
  }

  @Test(
    "A nickname is letters and digits of any script; nothing in it can change how a line is read",
    arguments: [
      ("Ab", true), ("달리기", true), ("عداء", true), ("بسرعة7", true), ("José", true), ("Jose\u{301}", true),
      ("走る", true), ("हिन्दी", true),
      ("a", false), (String(repeating: "z", count: 24), true), (String(repeating: "z", count: 25), false),
      ("ab cd", false), ("ab\u{202E}cd", false), ("ab\u{200D}cd", false), ("ab\u{200F}", false), ("run🏃", false),
      ("🏃🏃", false), ("ab\n", false), ("a.b", false), ("\u{3164}\u{3164}", false), ("\u{301}ab", false), ("", false),
      // A letter of Unicode 16.0, which older programs do not know.
      ("ab\u{10D50}", false),
    ])
  func nicknames(name: String, isOne: Bool) {
    #expect(enters { $0.card.nickname = name } == isOne, "\(name.unicodeScalars.map { String($0.value, radix: 16) })")
  }

  @Test("Cards keep their bounds")
  func cards() {
    #expect(!enters { $0.card.level = 0 })
    #expect(enters { $0.card.level = 10 })
    #expect(!enters { $0.card.level = 11 })
    #expect(!enters { $0.card.level = .max })
    #expect(!enters { $0.clearCard() })
    #expect(!enters { $0.card.circle = "" })
    #expect(!enters { $0.card.circle = "a\u{7}" })
    #expect(enters { $0.card.circle = String(repeating: "ü", count: 32) })
    #expect(!enters { $0.card.circle = String(repeating: "ü", count: 33) })
    #expect(!enters { $0.card.circle = "ab\u{10D50}" })
    #expect(enters { $0.card.claim.won = 1_000_000_000 })
    #expect(!enters { $0.card.claim.lost = 1_000_000_001 })
  }

  @Test("Distances and times keep their bounds")
  func numbers() {
    #expect(enters { $0.meters = 50_000_000 })
    #expect(!enters { $0.meters = 50_000_001 })
    #expect(enters { $0.seek.goalNs = 0 })
    #expect(!enters { $0.seek.goalNs = -1 })
    #expect(enters { $0.seek.goalNs = 7 * Self.day })
    #expect(!enters { $0.seek.goalNs = 7 * Self.day + 1 })
    func marks(_ elapsed: Int64, _ decimeters: UInt32) -> Bool {
      var mark = WireRoomMark()
      mark.elapsedNs = elapsed
      mark.decimeters = decimeters
      return isTaken(content(.mark(mark)))
    }
    #expect(marks(2 * Self.day, 10_000_000))
    #expect(!marks(2 * Self.day + 1, 0))
    #expect(!marks(-1, 0))
    #expect(!marks(0, 10_000_001))
  }

  @Test("Records keep their bounds, and have one part a source")
  func records() {
    func part(_ source: WireDistanceSource, _ meters: UInt32 = 1) -> WireRoomPart {
      var part = WireRoomPart()
      part.source = source
      part.meters = meters
      return part
    }
    #expect(records { _ in })
    #expect(!records { $0.version = 0 })
    #expect(!records { $0.elapsedNs = -1 })
    #expect(!records { $0.decimeters = 10_000_001 })
    #expect(!records { $0.run = Data(repeating: 1, count: 17) })
    #expect(records { $0.parts = [part(.positions), part(.pedometer)] })
    #expect(!records { $0.parts = [part(.positions), part(.positions)] })
    #expect(!records { $0.parts = [part(.positions, 50_000_001)] })
    #expect(
      records { $0.parts = [part(.UNRECOGNIZED(8)), part(.UNRECOGNIZED(9)), part(.positions), part(.pedometer)] })
    #expect(!records { $0.parts = (0..<5).map { part(.UNRECOGNIZED(8 + $0)) } })
  }

  @Test("The terms of a room keep the bounds of the first rules")
  func terms() {
    #expect(opens())
    #expect(!opens { $0.rules = 0 })
    for goal in [Self.second - 1, Self.day + 1, -1] { #expect(!opens { $0.goalNs = goal }) }
    for places in [0, 1, 33, .max] as [UInt32] { #expect(!opens { $0.places = places }) }
    for countdown in [3 * Self.second - 1, 60 * Self.second + 1] { #expect(!opens { $0.countdownNs = countdown }) }
    #expect(opens { $0.start.label = "" })
    #expect(!opens { $0.start.label = String(repeating: "a", count: 65) })
    #expect(!opens { $0.start.label = "\u{1B}[31m" })
    for degrees in [90_001, -90_001] as [Int32] { #expect(!opens { $0.start.latitudeThousandths = degrees }) }
    for degrees in [180_001, .min] as [Int32] { #expect(!opens { $0.start.longitudeThousandths = degrees }) }
    #expect(!opens { $0.circle = "" })
  }

  @Test("A matched room has two places, no start and no circle")
  func searches() {
    #expect(opens(Self.search))
    #expect(!opens(Self.search) { $0.places = 3 })
    #expect(!opens(Self.search) { $0.start = WireRoomStart() })
    #expect(!opens(Self.search) { $0.circle = "harbour" })
    #expect(!opens(Self.search) { $0.matched.leftNs = 9 * Self.second })
    #expect(!opens(Self.search) { $0.matched.seek.goalNs = 0 })
    #expect(!opens(Self.search) { $0.matched.clearSeek() })
  }

  @Test("The terms of later rules have wider bounds, and bounds all the same")
  func laterTerms() {
    func opensLater(_ terms: WireRoomTerms = Self.terms, _ change: (inout WireRoomTerms) -> Void = { _ in }) -> Bool {
      var terms = terms
      terms.rules = 2
      return opens(terms, change)
    }
    #expect(opensLater { ($0.goalNs, $0.places, $0.countdownNs) = (7 * Self.day, 4096, Self.day) })
    #expect(!opensLater { $0.goalNs = 7 * Self.day + 1 })
    #expect(!opensLater { $0.places = 0 })
    #expect(!opensLater { $0.places = 4097 })
    #expect(!opensLater { $0.countdownNs = Self.day + 1 })
    #expect(!opensLater { $0.start.label = String(repeating: "a", count: 65) })
    #expect(opensLater(Self.search) { ($0.places, $0.circle) = (6, "harbour") })
  }

  @Test("With something unknown in an ask nothing else of it is checked, and the entry is one")
  func unknown() throws {
    #expect(enters { ($0.card.gender, $0.card.level) = (.UNRECOGNIZED(9), 99) })
    #expect(enters { ($0.seek.wish, $0.meters) = (.UNRECOGNIZED(9), .max) })
    #expect(opens { ($0.kind, $0.places) = (nil, 0) })
    #expect(!isTaken(content(nil) { $0.number = 0 }))
  }

  @Test("Adverts and live messages keep their bounds; what is unknown in them is left out")
  func beside() {
    func advertises(_ change: (inout WireRoomAdvert) -> Void) -> Bool {
      var advert = WireRoomAdvert()
      advert.fleet = Data(repeating: 1, count: 16)
      advert.room = Data(repeating: 2, count: 16)
      advert.author = Data(repeating: 3, count: 32)
      advert.terms = Self.terms
      advert.card = Self.card
      (advert.members, advert.position, advert.listedAs) = (4, 1, "o")
      change(&advert)
      return (try? Codec.roomAdvert(Codec.serialize(advert))) != nil
    }
    #expect(advertises { _ in })
    #expect(!advertises { $0.members = 0 })
    #expect(!advertises { $0.members = 5 })
    #expect(!advertises { $0.position = 0 })
    #expect(!advertises { $0.openedAtNs = -1 })
    #expect(!advertises { $0.terms.kind = nil })
    #expect(!advertises { $0.card.gender = .UNRECOGNIZED(9) })
    for text in ["", "a b", "A", "*", ">", "ü", String(repeating: "a", count: 33)] {
      #expect(!advertises { $0.listedAs = text }, "\(text)")
    }
    func tells(_ change: (inout WireRoomLive) -> Void) -> Bool {
      var live = WireRoomLive()
      live.fleet = Data(repeating: 1, count: 16)
      live.room = Data(repeating: 2, count: 16)
      live.author = Data(repeating: 3, count: 32)
      live.number = 1
      live.kind = .standing(WireRoomStanding())
      change(&live)
      return (try? Codec.roomLive(Codec.serialize(live))) != nil
    }
    #expect(tells { $0.standing.phase = .UNRECOGNIZED(9) })
    #expect(!tells { $0.kind = nil })
    #expect(!tells { $0.number = 0 })
    #expect(!tells { $0.standing.elapsedMs = 48 * 3600 * 1000 + 1 })
    #expect(!tells { $0.standing.decimeters = 10_000_001 })
    #expect(!tells { $0.standing.paceSecondsPerKilometer = 0 })
    #expect(!tells { $0.standing.paceSecondsPerKilometer = 86_401 })
  }
}
