@testable import RunCore
import Testing

@Suite("The session of a peer")
struct SessionTests {
  private static let term: UInt64 = 1 << 32
  private var generator = SeededGenerator(seed: 1)
  private var session = PeerSession(nonce: 7)

  private mutating func greet(isRepeat: Bool = false, at seconds: Int64 = 0) -> UInt64? {
    session.greet(isRepeat: isRepeat, at: .zero + .seconds(seconds), generator: &generator)
  }

  private mutating func step(at seconds: Int64, isRunOn: Bool = false) -> PeerSession.Step? {
    session.meetDeadline(at: .zero + .seconds(seconds), isRunOn: isRunOn)
  }

  /// Opens a session at `seconds`.
  private mutating func open(_ number: UInt64, at seconds: Int64 = 0, isRunOn: Bool = false) {
    _ = greet(at: seconds)
    session.open(number, at: .zero + .seconds(seconds), isRunOn: isRunOn)
    _ = session.hear(at: .zero + .seconds(seconds))
  }

  @Test("Only a welcome with the nonce of the last hello opens a session")
  mutating func nonces() {
    #expect(!session.awaits(7))
    #expect(greet() == 8)
    #expect(session.awaits(8))
    #expect(greet() == 9)
    #expect(!session.awaits(8))
    session.open(3, at: .zero, isRunOn: false)
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

  @Test("A session pings every ten seconds, every two while a run is on")
  mutating func pings() {
    open(1)
    #expect(step(at: 9) == nil)
    #expect(step(at: 10) == .ping(1))
    session.receivePong(1, at: .zero + .seconds(11))
    #expect(session.roundTrip == .seconds(1))
    session.receivePong(0, at: .zero + .seconds(19))
    #expect(session.roundTrip == .seconds(1))
    session.restartPings(at: .zero + .seconds(12), isRunOn: true)
    #expect(session.deadline == .zero + .seconds(14))
    // Without a session there is nothing to restart.
    var down = PeerSession(nonce: 7)
    down.restartPings(at: .zero, isRunOn: true)
    #expect(down.deadline == nil)
  }

  @Test("A session whose hub has missed three beats starts over")
  mutating func silence() {
    open(1)
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
