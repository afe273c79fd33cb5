import RunCore

@testable import RunBus

/// A runner who signs entries and adverts, for tests of a log.
struct SigningRunner: Sendable {
  let fleet = FleetID.made(name: "crew")
  let key = MemberKey.random()
  var id: MemberID { key.id }

  /// An entry of the runner.
  func entry(_ number: UInt64, in room: RoomID, _ ask: RoomAskKind = .stay) -> [UInt8] {
    EntrySigning(key).signed(RoomContent(fleet: fleet, room: room, author: id, number: number, ask: ask))
  }

  /// An advert of the runner.
  func advert(listedAs name: String) -> [UInt8] {
    let terms = RoomTerms(goal: .seconds(1800))
    return EntrySigning(key).signed(
      RoomAdvert(
        fleet: fleet, room: RoomID(high: 1, low: 1), author: id, terms: terms,
        card: RoomCard(nickname: Nickname("Anna")!), members: 1, position: 1, openedAt: .zero, listedAs: name))
  }

  /// An entry that says how far a run has come.
  func mark(_ number: UInt64, in room: RoomID) -> [UInt8] {
    entry(number, in: room, .mark(RoomMark(elapsed: .seconds(60), decimetres: 3000)))
  }
}
