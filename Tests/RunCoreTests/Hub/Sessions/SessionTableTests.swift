@testable import RunCore
import Testing

@Suite("Sessions and presence at a hub")
struct SessionTableTests {
  private var table = SessionTable(
    term: 2, clock: BusClock(realAnchor: .zero, busAnchor: .zero, speed: .realTime))

  private static func hello(_ name: String, store: UInt64 = 1) -> Hello {
    Hello(
      deviceID: DeviceID(name)!, role: .watch, nodeID: NodeID(high: 3, low: 1), storeID: StoreID(high: 2, low: store),
      nonce: 1, termSeen: 0)
  }

  private static func seconds(_ count: Int64) -> BusTime { .zero + .seconds(count) }

  private mutating func open(_ hello: Hello, on name: String, isRunOn: Bool = true, at now: BusTime = .zero) {
    table.open(hello, sentAt: now, on: .named(name), isRunOn: isRunOn, at: now)
  }

  private func silent(at seconds: Int64) -> [String] {
    table.silent(at: Self.seconds(seconds)).map {
      "\($0.session.hello.deviceID)\($0.isOver ? " over" : "")"
    }
  }

  @Test("A session is silent after three beats; one that is heard again is news")
  mutating func silence() {
    open(Self.hello("watch"), on: "a")
    #expect(table.silenceCheckAt == Self.seconds(6))
    #expect(silent(at: 5) == [] && silent(at: 6) == ["watch"])
    table.fallSilent(.named("a"))
    #expect(!table.isReachable(DeviceID("watch")))
    #expect(table.loss(of: Self.hello("watch"), wasReachable: true)?.isReachable == false)
    #expect(table.hear(.named("a"), at: Self.seconds(7))?.isReachable == true)
    #expect(table.hear(.named("a"), at: Self.seconds(8)) == nil)
  }

  @Test("A device with two sessions is reachable until both are lost")
  mutating func twoSessions() {
    open(Self.hello("watch", store: 1), on: "a")
    open(Self.hello("watch", store: 2), on: "b")
    _ = table.close(.named("a"))
    #expect(table.loss(of: Self.hello("watch"), wasReachable: true) == nil)
    _ = table.close(.named("b"))
    #expect(table.loss(of: Self.hello("watch"), wasReachable: true) != nil)
    #expect(table.loss(of: Self.hello("watch"), wasReachable: false) == nil)
  }

  @Test("A session is over after ten minutes of silence")
  mutating func tenMinutes() {
    open(Self.hello("watch"), on: "a")
    table.fallSilent(.named("a"))
    table.scheduleSilenceCheck()
    #expect(table.silenceCheckAt == Self.seconds(600))
    #expect(silent(at: 599) == ["watch"] && silent(at: 600) == ["watch over"])
  }

  @Test("A session is silent after three times what its last ping stated, before the first ping by the welcome's phase")
  mutating func stated() {
    open(Self.hello("watch"), on: "a", isRunOn: false)
    #expect(table.silenceCheckAt == Self.seconds(30))
    table.expectFirstPing(of: .named("a"), isRunOn: true)
    #expect(silent(at: 5) == [] && silent(at: 6) == ["watch"])
    ping("a", within: 20, at: 5)
    #expect(table.silenceCheckAt == Self.seconds(65))
    // What a ping has stated is not replaced by a repeated welcome.
    table.expectFirstPing(of: .named("a"), isRunOn: true)
    #expect(silent(at: 64) == [] && silent(at: 65) == ["watch"])
    ping("a", within: 1, at: 10)
    #expect(table.silenceCheckAt == Self.seconds(13))
    #expect(silent(at: 12) == [] && silent(at: 13) == ["watch"])
  }

  @Test("Each session has an interval of its own, and the next check is that of the shortest, on a large bus too")
  mutating func ownIntervals() {
    for number in 0..<UInt64(20) { open(Self.hello("peer\(number)", store: number), on: "\(number)", isRunOn: false) }
    ping("7", within: 3, at: 1)
    #expect(table.silenceCheckAt == Self.seconds(10))
    #expect(silent(at: 10) == ["peer7"])
    for number in 0..<20 { ping("\(number)", within: number == 7 ? 3 : 60, at: 2) }
    #expect(silent(at: 11) == ["peer7"] && silent(at: 181) == ["peer7"])
    #expect(silent(at: 182).count == 20)
  }

  private mutating func ping(_ name: String, within interval: Int64, at seconds: Int64) {
    _ = table.hear(.named(name), at: Self.seconds(seconds))
    table.ping(.named(name), nextWithin: .seconds(interval), roundTrip: nil)
  }

  @Test("Only welcomed sessions are open, and a closed one is not")
  mutating func openStores() {
    open(Self.hello("watch"), on: "a")
    #expect(table.openStores == [])
    table.beginDelivery(to: StoreID(high: 2, low: 1))
    #expect(table.openStores == [StoreID(high: 2, low: 1)])
    _ = table.close(.named("a"))
    #expect(table.openStores == [])
  }

  @Test("Answers and reads of an earlier session on the same connection do not count for the present one")
  mutating func earlierSession() throws {
    open(Self.hello("watch"), on: "a")
    let first = try #require(table[.named("a")]).number
    table.oweAnswer(on: .named("a"))
    table.beginFetch(on: .named("a"))
    _ = table.close(.named("a"))
    open(Self.hello("watch"), on: "a")
    #expect(table.payAnswer(on: .named("a"), session: first) == false)
    #expect(table.endFetch(on: .named("a"), session: first) == nil)
    #expect(table[.named("a")]?.owedAnswers == 0)
  }
}
