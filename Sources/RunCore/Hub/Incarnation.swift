/// What distinguishes this life of a hub from earlier ones: its term, how its clocks relate to the stored times, and
/// where it publishes events.
struct Incarnation: Sendable {
  /// The term, which grows with every start, and when a peer has seen a higher one.
  private(set) var term: UInt64
  /// How far stored monotonic times are moved; `nil` in the same boot.
  let shift: BusDuration?
  /// The boot that the monotonic clock belongs to; empty when unknown.
  let bootID: String
  /// Where each listener publishes events, and what its connections carry. A listener whose sockets are not open yet has
  /// no entry.
  private var listeners: [Int: (eventsEndpoint: String, limits: ConnectionLimits)] = [:]
  private var raises = TermRaises()
  private let clock: BusClock
  /// The bus time and the wall clock at the beginning.
  let beganAt: BusTime
  private let beganAtWallSeconds: Double

  init(after history: HubHistory, clock: BusClock, now: BusTime, wallSeconds: Double, bootID: String) {
    term = HubTerm.next(after: history.term)
    shift = history.clock.flatMap { $0.shift(real: clock.real(at: now), wallSeconds: wallSeconds, bootID: bootID) }
    self.clock = clock
    self.bootID = bootID
    (beganAt, beganAtWallSeconds) = (now, wallSeconds)
  }

  /// Notes where a listener publishes events, and what its connections carry.
  mutating func open(_ listener: Int, eventsEndpoint: String, limits: ConnectionLimits) {
    listeners[listener] = (eventsEndpoint, limits)
  }

  /// Where the listener of a connection publishes events; empty if it publishes none.
  func eventsEndpoint(for connection: ConnectionID) -> String { listeners[connection.listener]?.eventsEndpoint ?? "" }

  /// What a connection carries.
  func limits(of connection: ConnectionID) -> ConnectionLimits { listeners[connection.listener]?.limits ?? .full }

  /// Counts a raise of the term, which is done by ``raise(above:)``; `false` if there were too many lately.
  ///
  /// - Parameter now: real time.
  mutating func admitRaise(at now: BusTime) -> Bool { raises.admit(at: now) }

  /// Takes a term above one that a peer has seen.
  mutating func raise(above seen: UInt64) { term = HubTerm.next(after: seen) }

  /// The wall-clock time of a moment in seconds since 1970, derived from the wall clock at the beginning.
  func wallSeconds(at time: BusTime) -> Double {
    beganAtWallSeconds + clock.speed.real(fromBus: time - beganAt).seconds
  }
}
