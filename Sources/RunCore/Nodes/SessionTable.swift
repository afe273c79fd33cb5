/// The peers that have said hello, by connection.
struct SessionTable: Sendable {
  /// One peer on one connection.
  struct Session: Sendable {
    let number: UInt64
    let hello: Hello
    var heardAt: BusTime
    var offset = ClockOffset()
    var isReachable = true
  }

  /// A bus is one runner's devices and their scripts; a thousand peers are a test of ours.
  static let sessionsMax = 4096
  private(set) var sessions: [ConnectionID: Session] = [:]
  private var connections: [StoreID: ConnectionID] = [:]
  private var lastNumber: UInt64

  /// Session numbers grow across lives: a frame of an earlier life's session is never taken for one of this life's.
  init(term: UInt64) { lastNumber = (term & 0x7FFF_FFFF) << 32 }

  var isFull: Bool { sessions.count >= Self.sessionsMax }

  subscript(connection: ConnectionID) -> Session? {
    get { sessions[connection] }
    set { sessions[connection] = newValue }
  }

  /// Where the owner of a stream can be reached now.
  func connection(of store: StoreID) -> ConnectionID? { connections[store] }

  mutating func open(_ hello: Hello, on connection: ConnectionID, at now: BusTime) -> Session {
    lastNumber += 1
    let session = Session(number: lastNumber, hello: hello, heardAt: now)
    sessions[connection] = session
    connections[hello.storeID] = connection
    return session
  }

  mutating func close(_ connection: ConnectionID) -> Session? {
    guard let session = sessions.removeValue(forKey: connection) else { return nil }
    if connections[session.hello.storeID] == connection { connections[session.hello.storeID] = nil }
    return session
  }

  /// Whether any member session of a device answers.
  func isReachable(_ device: DeviceID) -> Bool {
    sessions.values.contains { $0.hello.deviceID == device && !$0.hello.isOneShot && $0.isReachable }
  }
}
