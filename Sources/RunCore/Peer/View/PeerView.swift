/// What a peer shows of its hub: the state, the lock screen, and whether both are still good. `hearing` is when the hub was
/// heard in the session, and how long it may be silent.
struct PeerView: Sendable {
  /// The hub's state, its clock and its term.
  private(set) var hub: HubView
  private var screen = LiveScreen()
  private var failureDetector: HubFailureDetector
  /// What came before the session.
  var early = EarlyEvents()

  init(_ hub: HubView, failureDetector: HubFailureDetector) {
    self.hub = hub
    self.failureDetector = failureDetector
  }

  /// The last snapshot that was received.
  var authoritative: Snapshot { hub.authoritative }
  /// What the lock screen shows; `nil` before the first push.
  var liveActivity: LiveActivity? { screen.shown }
  /// The last alarm that the app has.
  var lastHubLost: HubLost? { failureDetector.lastTold }

  /// How old the view is, whether it is stale, and whether the hub has said goodbye.
  func state(hearing: HubHearing, at now: BusTime) -> ViewState {
    failureDetector.viewState(of: authoritative, hearing: hearing, at: now)
  }

  /// When the view or the lock screen becomes stale, or silence has to be counted.
  func deadline(hearing: HubHearing) -> BusTime? {
    BusTime.earliest(
      failureDetector.deadline(of: authoritative, hearing: hearing),
      screen.staleAt.flatMap { hub.clock?.real(at: $0) })
  }

  // MARK: The hub's state

  /// Whether the hub's state continues what this peer has seen; see ``HubView/isContinued(by:)``.
  func isContinued(by order: SnapshotOrder) -> Bool { hub.isContinued(by: order) }

  /// A session begins with a hub of this term, whose bus clock runs this fast.
  mutating func open(term: UInt64, speed: BusSpeed) {
    hub.open(speed)
    screen.beginSession(term: term)
  }

  /// Receives the hub's state, and shows and stores it if it is news.
  ///
  /// - Returns: what has changed; `nil` when nothing has.
  mutating func observe(
    _ message: StateMessage, isNewSession: Bool, in turn: inout PeerCore.Turn
  ) -> HubView.Change? {
    guard let change = hub.observe(message, isNewSession: isNewSession, at: turn.now) else { return nil }
    screen.catchUp(with: message.snapshot)
    // Listeners hear each snapshot once, whether it was published, came with a welcome or answered a query.
    turn.act(.hear(.snapshot(message)))
    turn.write(hub.keep())
    turn.act(.show(message.snapshot))
    return change
  }

  /// Receives what the hub pushes to lock screens.
  mutating func receive(_ push: LivePush) { screen.receive(push) }

  /// Asks the hub for a term above everything that was seen; see ``HubView/claimTerm()``.
  mutating func claimTerm() -> StoreOperation { hub.claimTerm() }

  /// Forgets a term that no hub comes to; see ``HubView/forgetTerm()``.
  mutating func forgetTerm() -> [StoreOperation]? { hub.forgetTerm() }

  /// Tells the app when what the lock screen shows has changed.
  ///
  /// - Parameter pending: The kinds of this peer's commands that wait for their verdict.
  mutating func draw(pending: Set<CommandKind>, hearing: HubHearing, in turn: inout PeerCore.Turn) {
    let activity = screen.look(
      at: hub.clock?.bus(at: turn.now), isStale: state(hearing: hearing, at: turn.now).isStale,
      isHubLost: failureDetector.isAlarmed, pending: pending)
    if let activity { turn.act(.showLive(activity)) }
  }

  // MARK: Signs of life, and silence

  /// Begins to count silence.
  mutating func start(at now: BusTime) { failureDetector.start(at: now) }

  /// Counts the time since the last event, unless the device slept.
  mutating func pass(to now: BusTime, hearing: HubHearing) {
    failureDetector.pass(to: now, isRunOn: hub.isRunOn, hearing: hearing)
  }

  /// Notes whether the peer listens.
  mutating func setListening(_ value: Bool, hearing: HubHearing) {
    failureDetector.setListening(value, hearing: hearing)
  }

  /// Notes that the hub was heard: anything that it sends is a sign of life.
  mutating func noteSignOfLife(in turn: inout PeerCore.Turn) {
    if let write = failureDetector.hear() { turn.write([write], isUrgent: false) }
  }

  /// Notes that the hub has said goodbye.
  mutating func dismiss(in turn: inout PeerCore.Turn) {
    if let write = failureDetector.dismiss() { turn.write([write]) }
  }

  /// Tells the app when the state of the view has changed, and prepares an alarm when the silence has lasted too long.
  ///
  /// - Parameter device: The hub's device.
  mutating func check(hub device: DeviceID?, hearing: HubHearing, in turn: inout PeerCore.Turn) {
    failureDetector.check(authoritative, hearing: hearing, hub: device, in: &turn)
  }

  /// Raises the alarm with this number, whose commit is durable; without a number, any that is pending.
  mutating func raiseAlarm(_ durable: UInt64? = nil, in turn: inout PeerCore.Turn) {
    if let lost = failureDetector.takePending(durable) { turn.act(.hubLost(lost)) }
  }
}
