import RunCore

@testable import RunWire

/// Draws what members of rooms write, with and without every optional part.
extension RandomMessages {
  mutating func bytes32<Kind>() -> Bytes32<Kind> {
    Bytes32((0..<32).map { _ in UInt8(truncatingIfNeeded: bits()) })!
  }

  mutating func nickname() -> Nickname {
    one(
      of: ["Läufer7", "달리기", "عداء", "ランナー", "бегун", "Ab", "12", String(repeating: "z", count: 24)].compactMap(
        Nickname.init))
  }
  mutating func gender() -> RoomCard.Gender? { maybe { $0.one(of: RoomCard.Gender.allCases) } }
  mutating func card() -> RoomCard {
    RoomCard(
      nickname: nickname(), level: one(of: Array(RoomCard.levels)), gender: gender(),
      circle: maybe { $0.one(of: ["harbour", "Río ⌚️", String(repeating: "c", count: 64)]) },
      claim: maybe { random in
        RoomCard.Claim(won: random.one(of: [0, 1, 1_000_000_000]), lost: random.one(of: [0, 300]))
      })
  }
  mutating func within(_ bounds: ClosedRange<BusDuration>) -> BusDuration {
    one(of: [
      bounds.lowerBound, bounds.upperBound, BusDuration.seconds(60),
      BusDuration(
        nanoseconds: bounds.lowerBound.nanoseconds
          + Int64(bits() % UInt64(bounds.upperBound.nanoseconds - bounds.lowerBound.nanoseconds + 1))),
    ])
  }
  mutating func seek() -> Seek { Seek(goal: within(RoomTerms.goalBounds), wish: gender()) }
  mutating func search() -> RoomSearch {
    RoomSearch(seek: seek(), left: within(RoomTerms.leftBounds), getsReady: coin())
  }
  mutating func start() -> RoomStart {
    RoomStart(
      label: one(of: ["", "Fountain", String(repeating: "ü", count: 32)]),
      latitude: one(of: [-90_000, 0, 48_137, 90_000]), longitude: one(of: [-180_000, 0, 11_576, 180_000]))
  }
  mutating func terms() -> RoomTerms {
    switch number(below: 3) {
    case 0:
      RoomTerms(
        kind: .matched(seek(), left: within(RoomTerms.leftBounds)), goal: within(RoomTerms.goalBounds), places: 2,
        countdown: within(RoomTerms.countdownBounds))
    case 1:
      // Of later rules: beyond the bounds of the first ones.
      RoomTerms(
        rules: one(of: [2, .max]), kind: coin() ? .opened : .matched(Seek(goal: .zero), left: .zero),
        goal: one(of: [.zero, .seconds(7 * 24 * 3600)]), places: one(of: [1, 3, 4096]),
        countdown: one(of: [.zero, .seconds(24 * 3600)]), start: maybe { $0.start() },
        circle: maybe { _ in "harbour" })
    default:
      RoomTerms(
        goal: within(RoomTerms.goalBounds), speed: BusSpeed(thousandths: one(of: [1, 1000, 10_000_000]))!,
        places: one(of: Array(RoomTerms.placesBounds)),
        countdown: within(RoomTerms.countdownBounds), start: maybe { $0.start() }, circle: maybe { _ in "harbour" })
    }
  }
  mutating func elapsed() -> BusDuration { one(of: [.zero, .seconds(1800), .seconds(48 * 3600)]) }
  mutating func decimetres() -> Int { one(of: [0, 1, 61_234, 10_000_000]) }

  mutating func record() -> RoomRecord {
    RoomRecord(
      version: one(of: [1, 2, .max]), decimetres: maybe { $0.decimetres() }, elapsed: elapsed(), isFinished: coin(),
      parts: one(of: [
        [], [.init(source: .positions, metres: 50_000_000)],
        [
          .init(source: .pedometer, metres: 0), .init(source: .unknown, metres: 5),
          .init(source: .positions, metres: 7),
          .init(source: .unknown, metres: 1),
        ],
      ]), run: id())
  }

  /// Draws an ask of each kind, one after the other.
  mutating func asks() -> [RoomAskKind] {
    [
      .open(terms(), card()),
      .enter(card(), metres: maybe { $0.one(of: [0, 1000, 50_000_000]) }, seek: maybe { $0.seek() }),
      .ready(coin()), .here(coin()), .leave, .close, .begin, .proceed, .hold, .cancel, .remove(bytes32()), .stay, .tick,
      .mark(RoomMark(elapsed: elapsed(), decimetres: decimetres())), .record(record()), .unknown,
    ]
  }
  mutating func content(_ ask: RoomAskKind) -> RoomContent {
    var content = RoomContent(
      fleet: id(), room: id(), author: bytes32(), number: sequence(),
      seen: coin() ? .nothing : Seen(count: counter(), digest: bits()), ask: ask)
    if case .open = ask { content.nonce = id() }
    return content
  }
  mutating func advert() -> RoomAdvert {
    let terms = terms()
    return RoomAdvert(
      fleet: id(), room: id(), author: bytes32(), terms: terms, card: card(), members: one(of: [1, terms.places]),
      position: sequence(), openedAt: LogTime(nanoseconds: Int64(counter())),
      listedAs: one(of: ["o", "g30", "any.ff-9", String(repeating: "z", count: 32)]))
  }
  mutating func live() -> RoomLive {
    RoomLive(
      fleet: id(), room: id(), author: bytes32(), number: sequence(),
      kind: coin()
        ? .beat
        : .standing(
          RoomLive.Standing(
            elapsed: elapsed(), decimetres: maybe { $0.decimetres() },
            paceSecondsPerKilometre: maybe { $0.one(of: [1, 305, 86_400]) }, phase: one(of: RunPhase.allCases))))
  }
}
