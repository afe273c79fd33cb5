/// The peers that have said hello, by connection, and which of them are reachable.
///
/// Each ping states within what time the next one comes. A session that is not heard for three times as long is silent:
/// its peer counts as unreachable. After ten minutes of silence the session is closed. Times are bus times; beats are
/// real time.
struct SessionTable: Sendable {
  /// One peer on one connection.
  struct Session: Sendable {
    let number: UInt64
    let hello: Hello
    /// Who said hello. A frame of another identity on this connection belongs to no session.
    let identity: ConnectionIdentity
    /// What the connection carries.
    let limits: ConnectionLimits
    fileprivate(set) var heardAt: BusTime
    fileprivate(set) var isReachable = true
    /// Within what real time the next ping comes, as the last one stated; `nil` before the first.
    fileprivate var stated: BusDuration?
    /// The interval that holds before the first ping.
    fileprivate var first: BusDuration
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
  /// The answers to requests that wait for a commit.
  private var owed = OwedAnswers()
  private var connections: [StoreID: ConnectionID] = [:]
  /// How many reachable sessions each device has. Counted, because every hello and every loss asks for it.
  private var reachable: [DeviceID: Int] = [:]
  /// The stores whose present session was welcomed: only these are sent deliveries.
  private(set) var openStores: Set<StoreID> = []
  private var lastNumber: UInt64
  private let clock: BusClock
  /// When a session could fall silent, or is to be closed.
  private(set) var silenceCheckAt: BusTime?

  /// Session numbers grow across incarnations, so that a frame of an earlier session never matches a present one.
  ///
  /// - Parameter opened: how many sessions the term has had.
  init(term: UInt64, clock: BusClock, opened: UInt64 = 0) {
    lastNumber = HubTerm.sessions(in: term) + opened
    self.clock = clock
  }

  /// Whether no further session can be opened: too many are open, or the term has no number left for one.
  var isFull: Bool { sessions.count >= Self.sessionsMax || HubTerm.count(of: lastNumber) == HubTerm.sessionCountMax }

  subscript(connection: ConnectionID) -> Session? { sessions[connection] }

  /// The session of a connection and an identity; `nil` if the connection's session belongs to another identity.
  func session(on connection: ConnectionID, by identity: ConnectionIdentity) -> Session? {
    sessions[connection].flatMap { $0.identity == identity ? $0 : nil }
  }

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

  /// Opens a session.
  ///
  /// - Parameter isRunOn: whether a run is on, which decides how soon the first ping is expected.
  mutating func open(
    _ hello: Hello, sentAt: BusTime, on connection: ConnectionID, by identity: ConnectionIdentity = .localOwner,
    limits: ConnectionLimits = .full, isRunOn: Bool, at now: BusTime
  ) {
    lastNumber += 1
    let first = limits.heartbeat(Heartbeat.first(isRunOn: isRunOn))
    var session = Session(
      number: lastNumber, hello: hello, identity: identity, limits: limits, heardAt: now, first: first)
    _ = session.offset.arrival(sentAt: sentAt, now: clock.real(at: now))
    set(session, on: connection)
    connections[hello.storeID] = connection
    checkSilence(by: silentAt(session))
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

  /// How many devices are reachable.
  var reachableCount: Int { reachable.count }

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
  mutating func hear(_ connection: ConnectionID, at now: BusTime) -> Presence? {
    guard var session = sessions[connection] else { return nil }
    let hello = session.hello
    let wasReachable = session.isReachable || isReachable(hello.deviceID)
    let wasSilent = !session.isReachable
    session.heardAt = now
    session.isReachable = true
    // A peer that is back after a silence can fall silent again long before the next check.
    if wasSilent { checkSilence(by: silentAt(session)) }
    set(session, on: connection)
    guard !wasReachable else { return nil }
    return Presence(deviceID: hello.deviceID, role: hello.role, isReachable: true)
  }

  /// Notes that a session is welcomed, and whether the welcome shows a run that is on. A peer times its first ping by
  /// the welcome.
  mutating func expectFirstPing(of connection: ConnectionID, isRunOn: Bool) {
    guard var session = sessions[connection] else { return }
    session.first = session.limits.heartbeat(Heartbeat.first(isRunOn: isRunOn))
    sessions[connection] = session
    checkSilence(by: silentAt(session))
  }

  /// Notes a ping.
  ///
  /// - Parameters:
  ///   - nextWithin: within what real time the next ping comes.
  ///   - roundTrip: the round trip that the peer has measured.
  mutating func ping(_ connection: ConnectionID, nextWithin: BusDuration, roundTrip: BusDuration?) {
    guard var session = sessions[connection] else { return }
    session.stated = nextWithin
    session.roundTrip = roundTrip
    sessions[connection] = session
    if sessions.count <= Self.smallBusMax { scheduleSilenceCheck() } else { checkSilence(by: silentAt(session)) }
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
  func silent(at now: BusTime) -> [(connection: ConnectionID, session: Session, isOver: Bool)] {
    let silent = sessions.filter { silentAt($0.value) <= now }
    return silent.sorted { $0.value.number < $1.value.number }.map {
      ($0.key, $0.value, forgottenAt($0.value) <= now)
    }
  }

  /// Marks a session as unreachable.
  mutating func fallSilent(_ connection: ConnectionID) {
    guard var session = sessions[connection] else { return }
    session.isReachable = false
    set(session, on: connection)
  }

  /// Schedules the next check for when a session could fall silent, or is to be closed.
  mutating func scheduleSilenceCheck() {
    silenceCheckAt = nil
    for session in sessions.values { checkSilence(by: session.isReachable ? silentAt(session) : forgottenAt(session)) }
  }

  private mutating func checkSilence(by due: BusTime) { silenceCheckAt = min(silenceCheckAt ?? due, due) }

  /// When a session falls silent unless it is heard before.
  private func silentAt(_ session: Session) -> BusTime {
    session.heardAt + clock.speed.bus(fromReal: Heartbeat.silence(session.stated ?? session.first))
  }

  /// When a silent session is closed: always later than it falls silent, because no ping may state so long an interval.
  private func forgottenAt(_ session: Session) -> BusTime {
    session.heardAt + clock.speed.bus(fromReal: Self.forgottenAfter)
  }

  /// The session of a store, and its connection, as those who send need it.
  func link(to store: StoreID) -> HubCore.Action.Link? {
    session(of: store).map { HubCore.Action.Link(connection: $0.connection, session: $0.session.number) }
  }

  // MARK: Answers and records

  /// Whether one more answer to a request of a connection may wait.
  func hasRoomForAnswer(to connection: ConnectionID) -> Bool { owed.hasRoom(for: connection) }

  /// Whether an answer to a request of a connection waits. Later answers wait behind it.
  func isAnswerOwed(to connection: ConnectionID) -> Bool { owed.isOwed(connection) }

  /// Whether an answer that waits for a commit also answers one more copy of a request. A sender repeats its request
  /// until it is answered, and a link that stood still delivers the copies together. A REQ gets a reply to each.
  func isAnswerOwed(to connection: ConnectionID, about id: CommandID) -> Bool {
    !connection.isRequest && owed.isOwed(connection, about: id)
  }

  /// Notes that one more answer to a request waits.
  mutating func oweAnswer(to connection: ConnectionID, about id: CommandID? = nil) {
    owed.owe(to: connection, about: id)
  }

  /// Notes that an answer to a request is sent.
  mutating func payAnswer(to connection: ConnectionID) { owed.pay(connection) }

  /// The tables that members of the bus can fill, with their bounds.
  var holdings: [HubHolding] {
    [
      HubHolding(name: "sessions", count: sessions.count, max: Self.sessionsMax),
      HubHolding(name: "answers to requests that wait for a commit", count: owed.total, max: OwedAnswers.totalMax),
    ]
  }

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

  /// What is wrong by its own rules; empty when it is good.
  func check() -> [String] {
    var wrong: [String] = []
    var counted: [DeviceID: Int] = [:]
    for device in sessions.values.compactMap(\.memberDevice) { counted[device, default: 0] += 1 }
    if counted != reachable { wrong.append("reachable sessions are miscounted") }
    for (store, connection) in connections where sessions[connection]?.hello.storeID != store {
      wrong.append("the session of \(store) is another store's")
    }
    if openStores.contains(where: { connections[$0] == nil }) { wrong.append("a store without a session is open") }
    return wrong
  }
}
