/// What distinguishes this life of a hub from earlier ones: its term, how its clocks relate to the stored times, and
/// where it publishes events, and how it ends.
struct Incarnation: Sendable {
  /// How far the hub is with an orderly end.
  enum Ending: Sendable {
    /// Can go to: committing.
    case no
    /// What it has gathered is being written. Can go to: due.
    case committing
    /// It says goodbye at the end of this turn, behind everything else that it sends. Can go to: over.
    case due
    /// It has said goodbye. A further frame would tell its peers that it goes on.
    case over
  }

  /// Who the hub is and how it is set up, which does not change in this life.
  let settings: HubCore.Settings
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
  var ending = Ending.no
  /// The bus time and the wall clock at the beginning.
  let beganAt: BusTime
  private let beganAtWallSeconds: Double

  init(_ settings: HubCore.Settings, after history: HubHistory, now: BusTime, wallSeconds: Double, bootID: String) {
    self.settings = settings
    term = HubTerm.next(after: history.term)
    let real = settings.clock.real(at: now)
    shift = history.clock.flatMap { $0.shift(real: real, wallSeconds: wallSeconds, bootID: bootID) }
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
    beganAtWallSeconds + settings.clock.speed.real(fromBus: time - beganAt).seconds
  }
}

/// Limits how often devices may raise a hub's term, because each raise costs a commit and a snapshot to every peer.
struct TermRaises: Sendable {
  /// A bus has fewer devices than this, and each raises the term once after its hub has lost its store.
  static let most = 16
  /// The period of the limit, in real time.
  static let span = BusDuration.seconds(60)
  private var since: BusTime?
  private var count = 0

  /// Counts a raise; `false` if there were too many in the present period.
  mutating func admit(at now: BusTime) -> Bool {
    if since.map({ now - $0 >= Self.span }) ?? true { (since, count) = (now, 0) }
    guard count < Self.most else { return false }
    count += 1
    return true
  }
}
