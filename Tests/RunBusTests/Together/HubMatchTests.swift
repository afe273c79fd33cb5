import RunCore
import TestSupport
import Testing

@testable import RunBus

/// Hubs that seek with a log in memory, in one process. Time is real, and the runs are short.
@Suite("Hubs that seek another runner", .timeLimit(.minutes(2)))
struct HubMatchTests {
  /// A runner with a phone.
  private struct Runner {
    let hub: Hub
    let key: MemberKey

    init(
      _ nickname: String, level: Int = 3, _ log: any SharedLog, key: MemberKey = .random(),
      store: NodeStore = NodeStore()
    ) throws {
      self.key = key
      var configuration = HubConfiguration(deviceID: "phone", speed: BusSpeed(factor: 60)!)
      configuration.together = TogetherMember(
        log: log, key: key, fleet: .made(name: "club"),
        card: RoomCard(nickname: try #require(Nickname(nickname)), level: level))
      hub = Hub(configuration: configuration, listeners: [], store: store, loop: try Loop())
    }

    func ask(_ ask: RoomAsk) async throws -> RoomAnswer {
      try await within("an answer to \(ask.wish)") { try await hub.ask(.room(ask)) }
    }
    /// Asks again until the search is over or has found somebody.
    func outcome(of ask: RoomAsk) async throws -> RoomAnswer {
      try await within("the outcome of a search") {
        while true {
          let answer = try await hub.ask(.room(ask))
          guard answer == .seeking else { return answer }
          try await Task.sleep(for: .milliseconds(10))
        }
      }
    }
    /// Waits until a room looks like that.
    func sees(_ what: String, _ isSo: @Sendable @escaping (RoomReport) -> Bool) async throws -> RoomReport {
      try await within(what) {
        while true {
          if let report = try await hub.ask(.rooms).first, isSo(report) { return report }
          try await Task.sleep(for: .milliseconds(10))
        }
      }
    }
  }

  private static func search(goal: BusDuration = .seconds(60), getsReady: Bool = true) -> RoomAsk {
    RoomAsk(
      id: .random(), wish: .match(RoomSearch(seek: Seek(goal: goal), left: .seconds(30), getsReady: getsReady)))
  }

  @Test("Two who fit find each other, are ready by themselves and run; the third, of another level, does not run")
  func match() async throws {
    let log = MemoryLog()
    let (anna, ben) = (try Runner("Anna", log), try Runner("Ben", log.another()))
    let cleo = try Runner("Cleo", level: 9, log.another())
    try await withRunning([anna.hub, ben.hub, cleo.hub]) {
      let asks = [Self.search(), Self.search(), Self.search()]
      #expect(try await cleo.ask(asks[2]) == .seeking)
      #expect(try await anna.ask(asks[0]) == .seeking)
      // One search or room at a time.
      #expect(try await anna.ask(Self.search()) == .refused(.seeking))
      #expect(
        try await anna.ask(RoomAsk(id: .random(), wish: .open(RoomTerms(goal: .seconds(60))))) == .refused(.seeking))
      #expect(try await ben.ask(asks[1]) == .seeking)
      guard case .matched(let room) = try await anna.outcome(of: asks[0]) else {
        return #expect(Bool(false), "Anna is not matched")
      }
      #expect(try await ben.outcome(of: asks[1]) == .matched(room))
      for runner in [anna, ben] {
        let end = try await runner.hub.snapshots().first("the end of the run") { $0.phase == .completed }
        #expect(end.changedBy?.source == .room && end.runID == .made(room: room, member: runner.key.id))
      }
      #expect(try await anna.ask(asks[0]) == .matched(room))
      // Who has run has no advert any more, and Cleo's is there.
      let adverts = try await log.adverts([RoomAdvert.listing(of: .seconds(60))])
      #expect(adverts.map(\.author) == [cleo.key.id])
      let stop = RoomAsk(id: .random(), wish: .unmatch)
      _ = try await cleo.ask(stop)
      #expect(try await cleo.outcome(of: stop) == .unmatched(.stopped))
      #expect(try await cleo.ask(asks[2]) == .unmatched(.stopped))
      #expect(try await cleo.ask(RoomAsk(id: .random(), wish: .unmatch)) == .refused(.notSeeking))
      _ = try await cleo.sees("the closed room") { $0.state.stage == .cancelled(.closed) }
    }
    await log.close()
  }

  @Test("Who is not to get ready by itself is asked for it, and may hold the countdown")
  func readyByHand() async throws {
    let log = MemoryLog()
    let (anna, ben) = (try Runner("Anna", log), try Runner("Ben", log.another()))
    try await withRunning([anna.hub, ben.hub]) {
      let (one, other) = (Self.search(getsReady: false), Self.search())
      _ = try await anna.ask(one)
      _ = try await ben.ask(other)
      guard case .matched = try await anna.outcome(of: one) else {
        return #expect(Bool(false), "Anna is not matched")
      }
      _ = try await anna.sees("Ben ready") { $0.state.notReady == [anna.key.id] && $0.state.members.count == 2 }
      _ = try await anna.ask(RoomAsk(id: .random(), wish: .ready(true)))
      _ = try await anna.sees("the countdown") { $0.state.stage.startsAt != nil }
      _ = try await anna.ask(RoomAsk(id: .random(), wish: .hold))
      // Ben's phone is ready again by itself, Anna's is not.
      _ = try await anna.sees("Ben ready again") {
        $0.state.stage == .recruiting && $0.state.notReady == [anna.key.id]
      }
      // Who leaves ends its search; the other one's goes on in the room.
      _ = try await anna.ask(RoomAsk(id: .random(), wish: .leave))
      try await within("the end of Anna's search") {
        while try await anna.hub.ask(.room(one)) != .unmatched(.left) { try await Task.sleep(for: .milliseconds(10)) }
      }
      _ = try await ben.sees("Ben alone") { $0.state.members.map(\.id) == [ben.key.id] }
      #expect(try await ben.ask(other) == .seeking)
    }
    await log.close()
  }

  @Test("A hub that dies ends its search: its next life leaves the room and takes the advert back")
  func death() async throws {
    let log = MemoryLog()
    let scratch = try ScratchDirectory()
    let key = MemberKey.random()
    let name = RoomAdvert.listing(of: .seconds(60))
    do {
      let anna = try Runner("Anna", log, key: key, store: try NodeStore(directory: scratch.path))
      try await withRunning([anna.hub]) {
        _ = try await anna.ask(Self.search())
        _ = try await anna.sees("the room") { $0.state.stage == .recruiting }
        try await within("the advert") {
          while try await log.adverts([name]).isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        }
      }
    }
    let again = try Runner("Anna", log, key: key, store: try NodeStore(directory: scratch.path))
    try await withRunning([again.hub]) {
      _ = try await again.sees("the end of the room") { $0.state.stage == .cancelled(.left) }
      try await within("no advert") {
        while try await !log.adverts([name]).isEmpty { try await Task.sleep(for: .milliseconds(10)) }
      }
      #expect(try await again.ask(Self.search()) == .seeking)
    }
    await log.close()
  }

  @Test("An advert that was changed, of another class, fleet or author is left out, and a signature is checked once")
  func adverts() throws {
    let (key, other) = (MemberKey.random(), MemberKey.random())
    let fleet = FleetID.made(name: "club")
    let advert = RoomAdvert(
      fleet: fleet, room: RoomID(high: 0, low: 1), author: key.id,
      terms: RoomTerms(kind: .matched(Seek(goal: .seconds(60)), left: .seconds(30)), goal: .seconds(60), places: 2),
      card: RoomCard(nickname: Nickname("Anna")!), members: 1, position: 1, openedAt: .zero, listedAs: "g1")
    func row(_ advert: RoomAdvert, by author: MemberKey? = nil, _ change: (inout [UInt8]) -> Void = { _ in })
      -> LogAdvert
    {
      var body = EntrySigning(key).signed(advert)
      change(&body)
      return LogAdvert(author: (author ?? key).id, time: .zero, body: body)
    }
    var (foreign, listed) = (advert, advert)
    foreign.fleet = .made(name: "other")
    listed.listedAs = "g2"
    var reader = AdvertReader(fleet: fleet, listedAs: "g1")
    let rows = [row(foreign), row(listed), row(advert, by: other), row(advert) { $0[$0.count - 1] ^= 1 }, row(advert)]
    #expect(reader.read(rows) == [advert])
    #expect(reader.read(rows) == [advert])
    #expect(reader.read([]) == [])
    // Who fills a class with adverts delays others, for as many readings as that takes.
    var busy = AdvertReader(fleet: fleet, listedAs: "g1", checksMax: 2)
    #expect(busy.read(rows) == [])
    #expect(busy.read(rows) == [])
    #expect(busy.read(rows) == [advert])
  }
}
