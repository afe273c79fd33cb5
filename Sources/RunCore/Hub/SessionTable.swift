/// The peers that have said hello, by connection.
struct SessionTable: Sendable {
  /// One peer on one connection.
  struct Session: Sendable {
    let number: UInt64
    let hello: Hello
    var heardAt: BusTime
    var offset = ClockOffset()
    var isReachable = true
    /// The last round trip that the peer has measured.
    var roundTrip: BusDuration?
    /// The number of answers that wait for a commit; answers to later questions wait behind them.
    var owedAnswers = 0
    /// Whether a part of a record is being read for the peer.
    var isFetching = false
  }

  /// More than the devices and scripts of one runner; our own tests use a thousand peers.
  static let sessionsMax = 4096
  private(set) var sessions: [ConnectionID: Session] = [:]
  private var connections: [StoreID: ConnectionID] = [:]
  /// How many reachable sessions each device has, one-shots excepted. Counted, because every hello and every loss asks
  /// for it.
  private var reachable: [DeviceID: Int] = [:]
  private var lastNumber: UInt64

  /// Session numbers grow across incarnations, so that a frame of an earlier session never matches a present one.
  init(term: UInt64) { lastNumber = HubTerm.numbers(in: term) }

  var isFull: Bool { sessions.count >= Self.sessionsMax }

  subscript(connection: ConnectionID) -> Session? {
    get { sessions[connection] }
    set {
      let old = sessions[connection]
      sessions[connection] = newValue
      guard old?.memberDevice != newValue?.memberDevice else { return }
      if let device = old?.memberDevice { count(device, -1) }
      if let device = newValue?.memberDevice { count(device, 1) }
    }
  }

  /// The connection of the session that belongs to a store.
  func connection(of store: StoreID) -> ConnectionID? { connections[store] }

  mutating func open(_ hello: Hello, on connection: ConnectionID, at now: BusTime) -> Session {
    lastNumber += 1
    let session = Session(number: lastNumber, hello: hello, heardAt: now)
    self[connection] = session
    connections[hello.storeID] = connection
    return session
  }

  mutating func close(_ connection: ConnectionID) -> Session? {
    guard let session = sessions[connection] else { return nil }
    self[connection] = nil
    if connections[session.hello.storeID] == connection { connections[session.hello.storeID] = nil }
    return session
  }

  /// Whether any session of a device is reachable, one-shots excepted.
  func isReachable(_ device: DeviceID) -> Bool { reachable[device] != nil }

  /// The unreachable session that has been silent for longest: the first to be closed for lack of room.
  var longestSilent: ConnectionID? {
    sessions.filter { !$0.value.isReachable }.min { $0.value.heardAt < $1.value.heardAt }?.key
  }

  private mutating func count(_ device: DeviceID, _ change: Int) {
    let count = reachable[device, default: 0] + change
    reachable[device] = count == 0 ? nil : count
  }
}

extension SessionTable.Session {
  /// The device that is reachable by this session; `nil` for a silent session or a one-shot.
  fileprivate var memberDevice: DeviceID? { isReachable && !hello.isOneShot ? hello.deviceID : nil }
}
