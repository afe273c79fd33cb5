@testable import RunCore
import Testing

@Suite("The session of a peer")
struct SessionTests {
  private static let term: UInt64 = 1 << 32
  private var generator = SeededGenerator(seed: 1)
  private var session = PeerSession(nonce: 7, interval: .seconds(10))

  private mutating func greet(isRepeat: Bool = false, at seconds: Int64 = 0) -> UInt64? {
    session.greet(isRepeat: isRepeat, at: .zero + .seconds(seconds), generator: &generator)
  }

  private mutating func step(at seconds: Int64, interval: Int64 = 10) -> PeerSession.Step? {
    session.meetDeadline(at: .zero + .seconds(seconds), interval: .seconds(interval))
  }

  private mutating func quicken(at seconds: Int64, interval: Int64) -> PeerSession.Step? {
    session.quicken(at: .zero + .seconds(seconds), interval: .seconds(interval))
  }

  /// The hub answers a ping.
  private mutating func pong(_ number: UInt64, at seconds: Int64) {
    _ = session.hear(at: .zero + .seconds(seconds))
    session.receivePong(number, at: .zero + .seconds(seconds))
  }

  /// The deadline and the end of the hub's silence, in seconds.
  private var schedule: String {
    func seconds(_ time: BusTime?) -> String {
      time.map { "\(($0 - BusTime.zero).nanoseconds / 1_000_000_000)" } ?? "never"
    }
    return "due \(seconds(session.deadline)), silent \(seconds(session.hearing.silentAt))"
  }

  /// Opens a session at `seconds`.
  private mutating func open(_ number: UInt64, at seconds: Int64 = 0, interval: Int64 = 10) {
    _ = greet(at: seconds)
    session.open(number, at: .zero + .seconds(seconds), interval: .seconds(interval))
    _ = session.hear(at: .zero + .seconds(seconds))
  }

  @Test("Only a welcome with the nonce of the last hello opens a session")
  mutating func nonces() {
    #expect(!session.awaits(7))
    #expect(greet() == 8)
    #expect(session.awaits(8))
    #expect(greet() == 9)
    #expect(!session.awaits(8))
    session.open(3, at: .zero, interval: .seconds(10))
    #expect(session.number == 3)
    #expect(!session.awaits(9))
  }

  @Test("The waits between hellos grow to five seconds, and begin again when the link comes back")
  mutating func waits() {
    _ = greet()
    for (wait, isRepeat) in [(1, true), (2, true), (4, true), (5, true), (5, false), (1, true)] as [(Int64, Bool)] {
      #expect((wait * 750...wait * 1250).contains(session.deadline!.nanoseconds / 1_000_000))
      _ = greet(isRepeat: isRepeat)
    }
    #expect(step(at: 0) == nil)
    #expect(step(at: 10) == .greet)
  }

  @Test("A session pings at its interval; the answer gives the round trip")
  mutating func pings() {
    open(1)
    pong(0, at: 0)
    #expect(session.roundTrip == nil)
    #expect(step(at: 9) == nil)
    #expect(step(at: 10) == .ping(1, nextWithin: .seconds(10)))
    #expect(schedule == "due 20, silent 30")
    pong(1, at: 11)
    #expect(session.roundTrip == .seconds(1))
    pong(0, at: 19)
    #expect(session.roundTrip == .seconds(1))
    #expect(schedule == "due 20, silent 49")
  }

  @Test("A shorter interval is stated at once, and counts for the hub's silence from then on")
  mutating func shorter() {
    open(1)
    #expect(quicken(at: 9, interval: 10) == nil)
    #expect(quicken(at: 9, interval: 2) == .ping(1, nextWithin: .seconds(2)))
    #expect(schedule == "due 11, silent 15")
    #expect(quicken(at: 9, interval: 2) == nil)
    // A hub that was silent for long gets no more time.
    open(2, at: 100)
    #expect(step(at: 129) == .ping(2, nextWithin: .seconds(10)))
    #expect(quicken(at: 129, interval: 2) == .ping(3, nextWithin: .seconds(2)))
    #expect(schedule == "due 130, silent 130")
    // Without a session there is nothing to quicken.
    var down = PeerSession(nonce: 7, interval: .seconds(10))
    #expect(down.quicken(at: .zero, interval: .seconds(2)) == nil)
    #expect(down.deadline == nil)
  }

  @Test("What quickens all peers of a hub at once leaves their pings spread over half an interval")
  func spread() {
    let due = [0, 256, 512, 1023].map { part in
      var session = PeerSession(nonce: UInt64(part) << 54, interval: .seconds(10))
      var generator = SeededGenerator(seed: 1)
      // A hello draws the next nonce.
      _ = session.greet(isRepeat: false, at: .zero, generator: &generator)
      session.open(1, at: .zero, interval: .seconds(10))
      _ = session.quicken(at: .zero + .seconds(9), interval: .seconds(2))
      return session.deadline.map { ($0 - BusTime.zero).nanoseconds / 1_000_000 }
    }
    #expect(due == [11_000, 10_750, 10_500, 10_000])
  }

  @Test("A longer interval is stated first, and takes effect with the answer")
  mutating func longer() {
    open(1, interval: 2)
    #expect(step(at: 2, interval: 10) == .ping(1, nextWithin: .seconds(10)))
    // The ping or its answer is lost.
    #expect(schedule == "due 4, silent 6")
    #expect(step(at: 4, interval: 10) == .ping(2, nextWithin: .seconds(10)))
    pong(1, at: 5)
    #expect(schedule == "due 6, silent 11")
    #expect(step(at: 6, interval: 10) == .ping(3, nextWithin: .seconds(10)))
    pong(3, at: 7)
    #expect(schedule == "due 16, silent 37")
    #expect(step(at: 16, interval: 10) == .ping(4, nextWithin: .seconds(10)))
  }

  @Test("An interval that shrinks before the longer one was answered is stated again")
  mutating func longerThenShorter() {
    open(1, interval: 2)
    #expect(step(at: 2, interval: 10) == .ping(1, nextWithin: .seconds(10)))
    #expect(quicken(at: 3, interval: 2) == .ping(2, nextWithin: .seconds(2)))
    pong(1, at: 4)
    #expect(schedule == "due 5, silent 10")
    pong(2, at: 4)
    #expect(schedule == "due 5, silent 10")
  }

  @Test("A session whose hub has missed three beats starts over, at that moment")
  mutating func silence() {
    open(1)
    #expect(step(at: 11) == .ping(1, nextWithin: .seconds(10)))
    #expect(step(at: 21) == .ping(2, nextWithin: .seconds(10)))
    #expect(schedule == "due 30, silent 30")
    #expect(step(at: 30) == .startOver(wasReachable: true))
    #expect(!session.isReachable)
    #expect(step(at: 30) == .startOver(wasReachable: false))
  }

  @Test("A goodbye of an earlier term is believed only without a session")
  mutating func goodbyes() {
    #expect(session.believesGoodbye(of: 1))
    open(2 * Self.term + 2)
    #expect(!session.believesGoodbye(of: Self.term + 9))
    #expect(session.believesGoodbye(of: 2 * Self.term + 1))
    let nonce = greet()!
    open(2 * Self.term + 3)
    #expect(session.leave(at: .zero, generator: &generator) == true)
    #expect(session.isGreeting)
    #expect(!session.awaits(nonce + 1))
    #expect(session.believesGoodbye(of: 1))
  }

  @Test("No hello is sent while a new store id is being made durable, whatever the link does")
  mutating func renewal() {
    _ = greet()
    session.renew()
    #expect(session.deadline == nil)
    #expect(greet() == nil)
    #expect(session.loseLink() == false)
    // The link is down: nothing waits for the id.
    var down = session
    #expect(down.finishRenewal() == false)
    #expect(down.greet(isRepeat: false, at: .zero, generator: &generator) != nil)
    // The link is back before the id is durable.
    #expect(greet() == nil)
    #expect(session.finishRenewal() == true)
    #expect(greet() != nil)
  }

  @Test("A refused peer stays refused, and a peer that ends stays ended", arguments: [true, false])
  mutating func last(isEnd: Bool) {
    open(1)
    if isEnd {
      session.end()
    } else {
      #expect(session.refuse() == true)
    }
    #expect(session.number == nil)
    #expect(greet() == nil)
    #expect(session.loseLink() == isEnd)
    #expect(step(at: 100) == nil)
    _ = session.refuse()
    #expect(session.isEnded == isEnd)
    session.end()
    #expect(session.isEnded)
  }
}
