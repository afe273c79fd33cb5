import Testing

@testable import RunCore

/// Numbers of entries, how many are read, and what members say to have read.
@Suite("The numbers of a room's entries")
struct RoomNumberTests {
  @Test("A number counts once, and none is left out")
  func onceEach() {
    let room = RoomTale(.plain)
    #expect(room.hears(1, .anna, .ready(true), number: 1) == .known(.opened))
    #expect(room.hears(1, .anna, .ready(true), number: 3) == .gap)
    #expect(room.hears(1, .anna, .ready(true), number: 0) == .gap)
    #expect(room.hears(1, .anna, .ready(true), number: 601) == .leftOut)
    #expect(room.hears(1, .anna, .ready(true), number: .max) == .leftOut)
    #expect(room.hears(1, .ben, .comes("Ben"), number: 2) == .gap)
    #expect(room.state.notReady == [.anna])
    #expect(room.hears(2, .anna, .ready(true), number: 2) == .verdict(.noted))
    #expect(room.hears(2, .anna, .begin, number: 3) == .verdict(.rejected(.tooFew)))
    #expect(room.hears(3, .anna, .leave, number: 3) == .known(.rejected(.tooFew)))
    #expect(room.hears(3, .anna, .leave, number: 2) == .known(.noted))
  }

  @Test("Numbers go on when a member has left and come again")
  func numbersStay() {
    let room = RoomTale(.plain, others: [.ben])
    #expect(room.hears(1, .ben, .leave, number: 2) == .verdict(.left))
    #expect(room.hears(2, .ben, .comes("Ben"), number: 1) == .known(.entered))
    #expect(room.hears(2, .ben, .comes("Ben"), number: 3) == .verdict(.entered))
  }

  @Test("A member's 513th entry is too many, except leave and record")
  func memberTooMany() {
    let room = RoomTale(.plain, others: [.ben])
    for second in 2...512 { #expect(room.at(Int64(second), .anna, .stay) == .noted) }
    #expect(room.at(513, .anna, .stay) == .rejected(.tooMany))
    #expect(room.at(514, .anna, .open(.plain, .card("Anna"))) == .rejected(.tooMany))
    #expect(room.hears(515, .anna, .stay, number: 513) == .known(nil))
    #expect(room.hears(515, .anna, .stay, number: 512) == .known(.noted))
    #expect(room.at(516, .anna, .ran(1)) == .rejected(.notRunning))
    // A sign of life all the same: Ben has said nothing.
    room.turns(at: 600, to: .recruiting, roster: [.anna])
    #expect(room.at(601, .anna, .leave) == .left)
    #expect(room.hears(602, .anna, .leave, number: 515) == .known(.rejected(.notRunning)))
    #expect(room.hears(602, .anna, .leave, number: 516) == .known(.left))
    #expect(room.at(603, .anna, .stay) == .rejected(.tooMany))
  }

  @Test("The 601st entry of an author is left out")
  func numberMax() {
    let room = RoomTale(.plain)
    for second in 2...600 { room.at(Int64(second), .anna, .stay) }
    #expect(room.hears(601, .anna, .leave, number: 601) == .leftOut)
    #expect(room.hears(602, .anna, .leave, number: 600) == .known(nil))
    #expect(room.roster == [.anna])
  }

  @Test("A stranger's 17th entry is too many, except leave and record")
  func strangerTooMany() {
    let room = RoomTale(.plain)
    for _ in 1...16 { #expect(room.at(1, .ben, .stay) == .rejected(.notIn)) }
    #expect(room.at(1, .ben, .comes("Ben")) == .rejected(.tooMany))
    #expect(room.at(1, .ben, .leave) == .rejected(.notIn))
    #expect(room.at(1, .ben, .ran(1)) == .rejected(.notIn))
    #expect(room.hears(1, .ben, .leave, number: 17) == .known(nil))
    #expect(room.hears(1, .ben, .leave, number: 18) == .known(.rejected(.notIn)))
    // Who has had a place is no stranger any more.
    #expect(room.at(1, .cleo, .comes("Cleo")) == .entered)
    #expect(room.at(1, .cleo, .leave) == .left)
    for _ in 3...17 { #expect(room.at(1, .cleo, .stay) == .rejected(.notIn)) }
    #expect(room.at(1, .cleo, .comes("Cleo")) == .entered)
  }

  @Test("1,024 strangers are followed; one who gets a place makes room for another")
  func strangers() {
    let room = RoomTale(.plain)
    // Whose first number is not 1 does not count.
    #expect(room.hears(1, .runner(5000), .stay, number: 2) == .gap)
    for stranger in 1001...2023 { room.at(1, .runner(stranger), .stay) }
    #expect(room.at(1, .ben, .tick) == .rejected(.notIn))
    #expect(room.hears(1, .cleo, .comes("Cleo")) == .leftOut)
    #expect(room.hears(1, .cleo, .comes("Cleo"), number: 2) == .leftOut)
    #expect(room.hears(1, .cleo, .comes("Cleo"), number: 0) == .leftOut)
    #expect(room.at(1, .runner(1001), .stay) == .rejected(.notIn))
    #expect(room.hears(1, .runner(1001), .stay, number: 4) == .gap)
    #expect(room.at(1, .ben, .comes("Ben")) == .entered)
    #expect(room.at(1, .cleo, .comes("Cleo")) == .entered)
    #expect(room.at(1, .dora, .comes("Dora")) == .rejected(.full))
    #expect(room.hears(1, .runner(3000), .stay) == .leftOut)
  }

  // MARK: What members have read

  private func truth(_ count: UInt64) -> Seen { Seen(count: count, digest: RoomPair.digest(after: count).prefix) }
  private func lie(_ count: UInt64) -> Seen { Seen(count: count, digest: RoomPair.digest(after: count).prefix ^ 1) }

  @Test("A member who has read another history is noted for good, and its entry is judged all the same")
  func disputes() {
    let room = RoomTale(.plain, others: [.ben, .cleo])
    #expect(room.at(1, .anna, .stay, seen: truth(3)) == .noted)
    #expect(room.at(1, .anna, .stay, seen: truth(1)) == .noted)
    #expect(room.at(1, .anna, .stay, seen: Seen(count: 0, digest: 7)) == .noted)
    #expect(room.hears(1, .anna, .stay, number: 1, seen: lie(1)) == .known(.opened))
    #expect(room.hears(1, .anna, .stay, number: 9, seen: lie(1)) == .gap)
    #expect(room.at(1, .dora, .stay, seen: lie(1)) == .rejected(.notIn))
    #expect(room.state.disputes == [])
    // Known entries, gaps and strangers' entries are entries of the log, too.
    #expect(room.at(1, .anna, .stay, seen: truth(9)) == .noted)
    #expect(room.state.disputes == [])
    #expect(room.at(1, .anna, .begin, seen: lie(2)) == .rejected(.notReady([.anna, .ben, .cleo])))
    #expect(room.state.disputes == [.anna])
    #expect(room.at(1, .ben, .stay, seen: truth(12)) == .noted)
    #expect(room.state.disputes == [.anna, .ben])
    #expect(room.at(1, .ben, .stay, seen: truth(2)) == .noted)
    #expect(room.at(1, .ben, .leave) == .left)
    #expect(room.state.disputes == [.anna, .ben])
  }

  @Test("The statement of one who comes, or goes, with its entry counts")
  func comingAndGoing() {
    let room = RoomTale()
    #expect(room.at(1, .anna, .open(.plain, .card("Anna")), seen: lie(1)) == .opened)
    #expect(room.at(1, .ben, .comes("Ben"), seen: lie(1)) == .entered)
    #expect(room.at(1, .cleo, .comes("Cleo"), seen: truth(2)) == .entered)
    #expect(room.at(1, .dora, .comes("Dora"), seen: lie(1)) == .rejected(.full))
    #expect(room.state.disputes == [.anna, .ben])
    #expect(room.at(1, .cleo, .leave, seen: lie(1)) == .left)
    #expect(room.state.disputes == [.anna, .ben, .cleo])
  }

  @Test("The digests of the last 4,096 entries are kept")
  func oldDigests() {
    // The model alone would take long for so many entries.
    var room = RoomMachine()
    var count: UInt64 = 0
    func hear(_ author: MemberID, _ number: UInt64, _ ask: RoomAskKind = .stay, seen: Seen = .nothing) {
      let entry = RoomEntry(
        position: count, time: .zero, author: author, number: number, seen: seen, ask: ask, ownsRoom: true)
      count += 1
      _ = room.apply(entry, digest: RoomPair.digest(after: count))
    }
    hear(.anna, 1, .open(.plain, .card("Anna")))
    for number in 2...4 { hear(.runner(number), 1, .comes("Other")) }
    while count < 9000 { hear(.anna, 0) }
    hear(.anna, 2, seen: truth(4905))
    #expect(room.state.disputes == [])
    hear(.anna, 3, seen: lie(4905))
    #expect(room.state.disputes == [])
    hear(.ben, 2, seen: lie(4907))
    #expect(room.state.disputes == [.ben])
    hear(.cleo, 2, seen: lie(9003))
    #expect(room.state.disputes == [.ben, .cleo])
  }
}
