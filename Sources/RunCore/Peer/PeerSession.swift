/// A peer's conversation with its hub. It decides when the peer says hello, when it pings, whether a session is open, and
/// whether the hub counts as reachable.
///
/// - `down` can go to: `greeting` (the link comes up), or `renewing` if a new store id is not durable yet.
/// - `greeting` can go to: `up` (a welcome), `renewing` (the peer's streams begin anew), `down` (the link is lost).
/// - `renewing` can go to: `greeting` (the new store id is durable), `down` (the link is lost).
/// - `up` can go to: `greeting` (the hub is silent, leaves, or does not know the session), `down` (the link is lost).
/// - Each of these can go to: `refused` (the wire versions differ, and only an update helps), `ended`.
/// - `refused` can go to: `ended`.
/// - `ended` (the node ends) can go to nothing.
struct PeerSession: Sendable {
  private enum State: Hashable, Sendable {
    /// With `isRenewing` a new store id is being made durable. No hello is sent before it is.
    case down(isRenewing: Bool)
    case greeting(retryAt: BusTime, attempts: Int)
    case renewing
    case up(number: UInt64, pingAt: BusTime)
    case refused
    case ended
  }

  /// What is due at the deadline.
  enum Step: Hashable, Sendable {
    /// Repeat the hello.
    case greet
    /// Send a ping with this number, which states within what time the next one comes.
    case ping(UInt64, nextWithin: BusDuration)
    /// The hub has missed three beats and may have forgotten the session: say hello again.
    case startOver(wasReachable: Bool)
  }

  private var state = State.down(isRenewing: false)
  /// The nonce of the last hello.
  private var nonce: UInt64
  /// The number of the last session that was opened.
  private var lastNumber: UInt64 = 0
  /// The last ping, and the interval that it stated.
  private var ping: (number: UInt64, sentAt: BusTime, interval: BusDuration)
  /// The time between two pings. It is never longer than what the last ping stated.
  private var interval: BusDuration
  /// Whether the hub has answered lately.
  private(set) var isReachable = false
  /// When the hub was last heard, and how long it may be silent.
  private(set) var hearing: HubHearing
  /// The last round trip.
  private(set) var roundTrip: BusDuration?
  /// Why the hub did not let this peer in when it was asked last; `nil` when it did, or was not asked yet.
  private(set) var refusal: String?

  /// The interval at which a hello without a welcome is repeated in the end.
  private static let greetEvery = BusDuration.seconds(5)

  /// A peer without a link.
  ///
  /// - Parameters:
  ///   - nonce: a random number, so that the hub's answer to an earlier incarnation is not mistaken for one to this
  ///     incarnation.
  ///   - interval: the time between two pings that holds before the first session.
  init(nonce: UInt64, interval: BusDuration) {
    self.nonce = nonce
    self.interval = interval
    ping = (0, .zero, interval)
    hearing = HubHearing(silence: Heartbeat.silence(interval))
  }

  /// The number of the open session; `nil` when none is open.
  var number: UInt64? { if case .up(let number, _) = state { number } else { nil } }
  var isUp: Bool { number != nil }
  var isGreeting: Bool { if case .greeting = state { true } else { false } }
  var isRefused: Bool { state == .refused }
  var isEnded: Bool { state == .ended }

  /// When ``meetDeadline(at:interval:)`` has something to do.
  var deadline: BusTime? {
    switch state {
    case .down, .renewing, .refused, .ended: nil
    case .greeting(let retryAt, _): retryAt
    case .up(_, let pingAt): min(pingAt, hearing.silentAt ?? pingAt)
    }
  }

  // MARK: Greeting

  /// Begins to greet the hub. The hello is due again after 1, 2, 4, then every 5 seconds.
  ///
  /// - Parameter isRepeat: whether the last hello had no answer. Otherwise the waits begin at 1 second again.
  /// - Returns: the nonce of the hello to be sent; `nil` when none may be sent now.
  mutating func greet(isRepeat: Bool, at now: BusTime, generator: inout SeededGenerator) -> UInt64? {
    var attempts = 0
    switch state {
    case .refused, .ended: return nil
    case .renewing, .down(isRenewing: true):
      state = .renewing
      return nil
    case .greeting(_, let before): if isRepeat { attempts = before }
    case .down(isRenewing: false), .up: break
    }
    nonce &+= 1
    let wait = min(Self.greetEvery, .seconds(Int64(1) << Int64(min(attempts, 3))))
    state = .greeting(retryAt: now + generator.jittered(wait), attempts: attempts + 1)
    return nonce
  }

  /// Whether a welcome with this nonce answers the last hello.
  func awaits(_ nonce: UInt64) -> Bool { isGreeting && nonce == self.nonce }

  /// Opens a session and schedules its first ping.
  ///
  /// - Parameter interval: the interval of the phase that the welcome shows, which the hub expects before the first ping.
  mutating func open(_ number: UInt64, at now: BusTime, interval: BusDuration) {
    ping.interval = interval
    self.interval = interval
    hearing.setSilence(Heartbeat.silence(interval))
    state = .up(number: number, pingAt: now + interval)
    lastNumber = number
    refusal = nil
  }

  /// A new store id is being made durable.
  mutating func renew() { state = .renewing }

  /// The new store id is durable.
  ///
  /// - Returns: whether a hello has waited for that.
  mutating func finishRenewal() -> Bool {
    switch state {
    case .renewing:
      state = .down(isRenewing: false)
      return true
    case .down: state = .down(isRenewing: false)
    case .greeting, .up, .refused, .ended: break
    }
    return false
  }

  /// Notes that the hub does not let this peer in. The hello is repeated all the same, because the hub's owner may change
  /// that.
  ///
  /// - Parameter reason: What the hub says, for a person.
  /// - Returns: whether that is news.
  mutating func refuseHello(_ reason: String) -> Bool {
    guard isGreeting, refusal != reason else { return false }
    refusal = reason
    return true
  }

  /// Notes that no connection can be made to what listens where the hub was.
  ///
  /// - Parameter reason: What the transport knows of it, for a person.
  /// - Returns: whether that is news.
  mutating func refuseLink(_ reason: String) -> Bool {
    guard case .down = state, refusal != reason else { return false }
    refusal = reason
    return true
  }

  // MARK: Pings

  /// Sends a ping at once if the interval has become shorter than the last ping stated. The one after it comes early, by up
  /// to half an interval: a start quickens all peers of a hub together, and their pings are not to stay together.
  ///
  /// - Parameter interval: the interval from now on.
  mutating func quicken(at now: BusTime, interval: BusDuration) -> Step? {
    guard case .up(let number, _) = state, interval < ping.interval else { return nil }
    state = .up(number: number, pingAt: now)
    let step = meetDeadline(at: now, interval: interval)
    if case .up(_, let pingAt) = state, pingAt > now {
      // A part of the nonce, which each peer draws for itself.
      let early = interval.nanoseconds / 2048 * Int64(nonce >> 54)
      state = .up(number: number, pingAt: pingAt - BusDuration(nanoseconds: early))
    }
    return step
  }

  /// Does what is due; `nil` when nothing is.
  ///
  /// - Parameter interval: the interval that a ping is to state. A longer one than before takes effect when the ping was
  ///   answered, because a hub that has not received the ping expects the next one earlier.
  mutating func meetDeadline(at now: BusTime, interval: BusDuration) -> Step? {
    switch state {
    case .down, .renewing, .refused, .ended: return nil
    case .greeting(let retryAt, _): return retryAt <= now ? .greet : nil
    case .up(let number, let pingAt):
      if let silentAt = hearing.silentAt, silentAt <= now {
        return .startOver(wasReachable: setReachable(false))
      }
      guard pingAt <= now else { return nil }
      ping = (ping.number + 1, now, interval)
      if interval < self.interval {
        self.interval = interval
        hearing.shorten(to: Heartbeat.silence(interval), at: now)
      }
      state = .up(number: number, pingAt: now + self.interval)
      return .ping(ping.number, nextWithin: interval)
    }
  }

  /// Receives the answer to a ping. From the answer on, a longer interval that the ping stated is in effect.
  mutating func receivePong(_ number: UInt64, at now: BusTime) {
    // A pong with number 0 answers no ping.
    guard number > 0, number == ping.number else { return }
    roundTrip = now - ping.sentAt
    guard ping.interval > interval, case .up(let session, _) = state else { return }
    interval = ping.interval
    hearing.setSilence(Heartbeat.silence(interval))
    state = .up(number: session, pingAt: ping.sentAt + interval)
  }

  /// Notes that the hub was heard in the session.
  ///
  /// - Returns: whether the hub was unreachable before.
  mutating func hear(at now: BusTime) -> Bool {
    hearing.hear(at: now)
    return setReachable(true)
  }

  // MARK: The end of a session

  /// Ends the session after the control connection was lost. The transport reconnects by itself.
  ///
  /// - Returns: whether the hub was reachable before.
  mutating func loseLink() -> Bool {
    switch state {
    case .refused: return false
    case .renewing: state = .down(isRenewing: true)
    case .greeting, .up: state = .down(isRenewing: false)
    case .down, .ended: break
    }
    return setReachable(false)
  }

  /// Whether a goodbye is to be believed.
  ///
  /// A goodbye names the last session that the hub knew, because its welcome to a later one may be lost or on its way. A
  /// session of the present term is therefore accepted. A peer without a session accepts any, because a hub that has
  /// lost its store counts its terms anew.
  func believesGoodbye(of session: UInt64) -> Bool {
    !isUp || HubTerm.of(session: session) >= HubTerm.of(session: lastNumber)
  }

  /// Ends an open session after the hub's goodbye. The hub may be back at once or never, so the peer repeats its hello
  /// from now on.
  ///
  /// - Returns: whether the hub was reachable before.
  mutating func leave(at now: BusTime, generator: inout SeededGenerator) -> Bool {
    // With a new nonce, a welcome to an earlier hello is dropped.
    nonce &+= 1
    state = .greeting(retryAt: now + generator.jittered(Self.greetEvery), attempts: 4)
    return setReachable(false)
  }

  /// Forgets the number of the last session, because it came from a wrong hub.
  mutating func forgetNumber() { lastNumber = 0 }

  /// The hub speaks another wire version.
  ///
  /// - Returns: whether the hub was reachable before.
  mutating func refuse() -> Bool {
    if state != .ended { state = .refused }
    return setReachable(false)
  }

  /// The node ends: no hello is sent any more.
  mutating func end() { state = .ended }

  /// Returns whether that is news.
  private mutating func setReachable(_ value: Bool) -> Bool {
    guard isReachable != value else { return false }
    isReachable = value
    return true
  }
}
