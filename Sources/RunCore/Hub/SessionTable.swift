/// The peers that have said hello, by connection.
struct SessionTable: Sendable {
  /// One peer on one connection.
  struct Session: Sendable {
    let number: UInt64
    let hello: Hello
    var heardAt: BusTime
    var offset = ClockOffset()
    var isReachable = true
    /// The last that the peer measured.
    var roundTrip: BusDuration?
    /// Answers that wait for a commit; those to later questions wait behind them.
    var owedAnswers = 0
    /// A part of a record is being read for it.
    var isFetching = false
  }

  /// A bus is one runner's devices and their scripts; a thousand peers are a test of ours.
  static let sessionsMax = 4096
  private(set) var sessions: [ConnectionID: Session] = [:]
  private var connections: [StoreID: ConnectionID] = [:]
  /// How many member sessions of a device answer: asked with every hello and every loss.
  private var reachable: [DeviceID: Int] = [:]
  private var lastNumber: UInt64

  /// Session numbers grow across lives: a frame of an earlier life's session is never taken for one of this life's.
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

  /// Where the owner of a stream can be reached now.
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

  /// Whether any member session of a device answers.
  func isReachable(_ device: DeviceID) -> Bool { reachable[device] != nil }

  /// Whoever has been silent for longest among those that do not answer: the first to make room.
  var longestSilent: ConnectionID? {
    sessions.filter { !$0.value.isReachable }.min { $0.value.heardAt < $1.value.heardAt }?.key
  }

  private mutating func count(_ device: DeviceID, _ change: Int) {
    let count = reachable[device, default: 0] + change
    reachable[device] = count == 0 ? nil : count
  }
}

extension SessionTable.Session {
  /// The device that is reachable by this session; `nil` when it does not answer, or is no member of the bus.
  fileprivate var memberDevice: DeviceID? { isReachable && !hello.isOneShot ? hello.deviceID : nil }
}
