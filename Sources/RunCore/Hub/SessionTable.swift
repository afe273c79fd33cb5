/// The peers that have said hello, by connection, and which of them are reachable.
///
/// A session that is not heard for three beats is silent: its peer counts as unreachable. After ten minutes of silence
/// the session is closed. Times are bus times; beats are real time.
struct SessionTable: Sendable {
  /// One peer on one connection.
  struct Session: Sendable {
    let number: UInt64
    let hello: Hello
    fileprivate(set) var heardAt: BusTime
    fileprivate(set) var isReachable = true
    /// The last round trip that the peer has measured.
    fileprivate(set) var roundTrip: BusDuration?
    /// The number of answers that wait for a commit; answers to later questions wait behind them.
    fileprivate(set) var owedAnswers = 0
    /// Whether a part of a record is being read for the peer.
    fileprivate(set) var isFetching = false
    fileprivate var offset = ClockOffset()

    /// The device that is reachable by this session; `nil` for a silent session.
    fileprivate var memberDevice: DeviceID? { isReachable ? hello.deviceID : nil }
  }

  /// More than the devices and scripts of one runner; our own tests use a thousand peers.
  static let sessionsMax = 4096
  private static let forgottenAfter = BusDuration.seconds(600)
  /// Up to this many sessions, rescheduling the check at every ping costs less than a wake-up at which no session is
  /// silent.
  private static let smallBusMax = 16

  private(set) var sessions: [ConnectionID: Session] = [:]
  private var connections: [StoreID: ConnectionID] = [:]
  /// How many reachable sessions each device has. Counted, because every hello and every loss asks for it.
  private var reachable: [DeviceID: Int] = [:]
  /// The stores whose present session was welcomed: only these are sent deliveries.
  private(set) var openStores: Set<StoreID> = []
  private var lastNumber: UInt64
  private let clock: BusClock
  /// When a session could fall silent, or is to be closed.
  private(set) var silenceCheckAt: BusTime?
  /// When the heartbeat last became faster because a run began. Silence counts from here at the earliest, because peers
  /// kept the slow rate until then.
  private var quickenedAt: BusTime?

  /// Session numbers grow across incarnations, so that a frame of an earlier session never matches a present one.
  init(term: UInt64, clock: BusClock) {
    lastNumber = HubTerm.numbers(in: term)
    self.clock = clock
  }

  var isFull: Bool { sessions.count >= Self.sessionsMax }

  subscript(connection: ConnectionID) -> Session? { sessions[connection] }

  /// The connection of the session that belongs to a store.
  func connection(of store: StoreID) -> ConnectionID? { connections[store] }

  /// The session that belongs to a store.
  func session(of store: StoreID) -> (connection: ConnectionID, session: Session)? {
    guard let connection = connections[store], let session = sessions[connection] else { return nil }
    return (connection, session)
  }

  /// The sessions in the order in which they were opened.
  var inOrder: [(connection: ConnectionID, session: Session)] {
    sessions.sorted { $0.value.number < $1.value.number }.map { ($0.key, $0.value) }
  }

  // MARK: Open and close

  mutating func open(_ hello: Hello, sentAt: BusTime, on connection: ConnectionID, isRunOn: Bool, at now: BusTime) {
    lastNumber += 1
    var session = Session(number: lastNumber, hello: hello, heardAt: now)
    _ = session.offset.arrival(sentAt: sentAt, now: clock.real(at: now))
    set(session, on: connection)
    connections[hello.storeID] = connection
    if silenceCheckAt == nil { silenceCheckAt = now + silence(isRunOn: isRunOn) }
  }

  mutating func close(_ connection: ConnectionID) -> Session? {
    guard let session = sessions[connection] else { return nil }
    set(nil, on: connection)
    if connections[session.hello.storeID] == connection {
      connections[session.hello.storeID] = nil
      openStores.remove(session.hello.storeID)
    }
    return session
  }

  /// Notes that the session of a store was welcomed.
  mutating func beginDelivery(to store: StoreID) { openStores.insert(store) }

  /// Closes the unreachable session that has been silent for longest, to make room for another one.
  mutating func closeLongestSilent() -> Session? {
    let silent = sessions.filter { !$0.value.isReachable }.min { $0.value.heardAt < $1.value.heardAt }
    return silent.flatMap { close($0.key) }
  }

  private mutating func set(_ session: Session?, on connection: ConnectionID) {
    let old = sessions[connection]?.memberDevice
    sessions[connection] = session
    guard old != session?.memberDevice else { return }
    if let old { count(old, -1) }
    if let device = session?.memberDevice { count(device, 1) }
  }

  private mutating func count(_ device: DeviceID, _ change: Int) {
    let count = reachable[device, default: 0] + change
    reachable[device] = count == 0 ? nil : count
  }

  // MARK: Presence

  /// Whether any session of a device is reachable.
  func isReachable(_ device: DeviceID) -> Bool { reachable[device] != nil }

  /// When a frame would have arrived without waiting in a socket's queue.
  ///
  /// - Parameter sentAt: the sender's monotonic clock.
  mutating func arrival(sentAt: BusTime, on connection: ConnectionID, at now: BusTime) -> BusTime {
    guard let arrived = sessions[connection]?.offset.arrival(sentAt: sentAt, now: clock.real(at: now)) else {
      return now
    }
    return min(now, clock.bus(at: arrived))
  }

  /// Notes that a session was heard.
  ///
  /// - Returns: the presence to publish, if the device was unreachable.
  mutating func hear(_ connection: ConnectionID, isRunOn: Bool, at now: BusTime) -> Presence? {
    guard var session = sessions[connection] else { return nil }
    let hello = session.hello
    let wasReachable = session.isReachable || isReachable(hello.deviceID)
    if !session.isReachable {
      // The peer is back after a silence, and can fall silent again long before the next check.
      let due = now + silence(isRunOn: isRunOn)
      silenceCheckAt = min(silenceCheckAt ?? due, due)
    }
    session.heardAt = now
    session.isReachable = true
    set(session, on: connection)
    guard !wasReachable else { return nil }
    return Presence(deviceID: hello.deviceID, role: hello.role, isReachable: true)
  }

  /// Notes a ping, with the round trip that the peer has measured.
  mutating func ping(_ connection: ConnectionID, roundTrip: BusDuration?, isRunOn: Bool) {
    sessions[connection]?.roundTrip = roundTrip
    if sessions.count <= Self.smallBusMax { scheduleSilenceCheck(isRunOn: isRunOn) }
  }

  /// The presence to publish because a session is closed or silent; `nil` if its device is reachable by another one.
  ///
  /// - Parameter wasReachable: whether the session was reachable until now.
  func loss(of hello: Hello, wasReachable: Bool) -> Presence? {
    guard wasReachable, !isReachable(hello.deviceID) else { return nil }
    return Presence(deviceID: hello.deviceID, role: hello.role, isReachable: false)
  }

  /// The silent sessions in the order in which they were opened, and whether each is to be closed because it has been
  /// silent for ten minutes.
  func silent(isRunOn: Bool, at now: BusTime) -> [(connection: ConnectionID, session: Session, isOver: Bool)] {
    let silence = silence(isRunOn: isRunOn)
    let forgotten = clock.speed.bus(fromReal: Self.forgottenAfter)
    let silent = sessions.filter { now - lastBeat(of: $0.value) >= silence }
    return silent.sorted { $0.value.number < $1.value.number }.map {
      ($0.key, $0.value, now - $0.value.heardAt >= forgotten)
    }
  }

  /// Marks a session as unreachable.
  mutating func fallSilent(_ connection: ConnectionID) {
    guard var session = sessions[connection] else { return }
    session.isReachable = false
    set(session, on: connection)
  }

  /// Applies the shorter silence limit of a run that is on.
  mutating func quickenBeat(at now: BusTime) {
    quickenedAt = now
    guard let due = silenceCheckAt else { return }
    silenceCheckAt = min(due, now + silence(isRunOn: true))
  }

  /// Schedules the next check for when a session could fall silent, or is to be closed.
  mutating func scheduleSilenceCheck(isRunOn: Bool) {
    let silence = silence(isRunOn: isRunOn)
    let forgotten = clock.speed.bus(fromReal: Self.forgottenAfter)
    silenceCheckAt = nil
    for session in sessions.values {
      // A session is closed by a check of the silent ones only, so never before it counts as silent.
      let silentAt = lastBeat(of: session) + silence
      let due = session.isReachable ? silentAt : max(silentAt, session.heardAt + forgotten)
      silenceCheckAt = min(silenceCheckAt ?? due, due)
    }
  }

  private func lastBeat(of session: Session) -> BusTime { max(session.heardAt, quickenedAt ?? session.heardAt) }

  private func silence(isRunOn: Bool) -> BusDuration {
    clock.speed.bus(fromReal: Heartbeat.silence(isRunOn: isRunOn))
  }

  // MARK: Answers and records

  /// Notes that one more answer to a session waits for a commit.
  mutating func oweAnswer(on connection: ConnectionID) { sessions[connection]?.owedAnswers += 1 }

  /// Notes that an answer is sent; `false` if the connection has another session by now.
  mutating func payAnswer(on connection: ConnectionID, session: UInt64) -> Bool {
    guard sessions[connection]?.number == session else { return false }
    sessions[connection]?.owedAnswers -= 1
    return true
  }

  /// Notes that a part of a record is being read for a session.
  mutating func beginFetch(on connection: ConnectionID) { sessions[connection]?.isFetching = true }

  /// Notes that the read has ended.
  ///
  /// - Returns: the session; `nil` if the connection has another one by now.
  mutating func endFetch(on connection: ConnectionID, session: UInt64) -> Session? {
    guard sessions[connection]?.number == session else { return nil }
    sessions[connection]?.isFetching = false
    return sessions[connection]
  }
}
