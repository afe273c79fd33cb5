import RunCore
import Synchronization

/// The listeners of a node: the readers of its streams, and callers that wait for a verdict.
///
/// There is one table of readers. What the node learns is told as ``RunCore/NodeNews``, and each reader takes of it what
/// its stream is about. It is safe to use from any thread, because an app may drop a stream on any thread.
final class Broadcaster: Sendable {
  /// What a stream is about.
  enum Subject: Hashable {
    case news, snapshots, demands, events, links, views, lockScreens, hubLosses, records, ownReceipts, route
    case command(CommandID)
    case message(MessageID)
  }

  /// What readers are told.
  enum Telling: Sendable {
    case news(NodeNews)
    /// An event of the bus as it was heard.
    case event(BusEvent)
    case demand(SensorDemand)
    case stage(MessageReceipt)
  }

  /// The answer to a command: the verdict, and the receipt of the last stage with it.
  typealias Judged = (verdict: Verdict, receipt: Receipt)

  /// One reader: what takes a telling, and what ends its stream.
  private struct Reader {
    let take: @Sendable (Telling) -> Void
    let finish: @Sendable () -> Void
  }

  private struct State {
    var nextKey: UInt64 = 0
    var readers: [Subject: [UInt64: Reader]] = [:]
    /// The sensor demand that the readers were told last.
    var demand: SensorDemand?
    var predicted: RunPhase?
    var waiters: [CommandID: [UInt64: CheckedContinuation<Result<Judged, any Error>, Never>]] = [:]
    var posts: [MessageID: CheckedContinuation<Result<Void, RunBusError>, Never>] = [:]
    var end: RunBusError?
  }
  /// The bound of a stream of events: a reader that falls further behind loses the oldest, so that the node never
  /// waits.
  static let eventsMax = 1024
  /// The bound of a stream of receipts: twice what a full outbox of 1,024 commands needs when each of them reaches two
  /// stages at once.
  static let receiptsMax = 4096
  /// The bound of a stream of stages of one command or message, which reaches fewer. A stage can be reported twice after
  /// a lost connection. The last stage is the newest and is never lost.
  static let stagesMax = 16
  /// The bound of a stream of the route: a few minutes of a run, and at most 5 MB of full parts. A reader that falls
  /// further behind asks the hub for what it has lost.
  static let routeNewsMax = 64
  private let state = Mutex(State())

  // MARK: Listening

  /// Calls a function whenever something about a subject is told, until the listening is dropped or the node ends.
  func listen(
    to subject: Subject, finish: @escaping @Sendable () -> Void = {}, _ take: @escaping @Sendable (Telling) -> Void
  ) -> Listening {
    let key = add(Reader(take: take, finish: finish), to: subject)
    guard let key else {
      finish()
      return Listening {}
    }
    return Listening { [weak self] in self?.remove(key, from: subject) }
  }

  /// Snapshots from now on; a slow reader sees the newest.
  func snapshots(first: Snapshot?) -> AsyncStream<Snapshot> {
    stream(of: .snapshots, keeping: .bufferingNewest(1), first: first) {
      if case .news(.snapshot(let snapshot)) = $0 { snapshot } else { nil }
    }
  }

  /// Changes of the sensor demand from now on, the present one first; a slow reader gets the newest.
  func sensorDemands(first: SensorDemand) -> AsyncStream<SensorDemand> {
    state.withLock { $0.demand = $0.demand ?? first }
    return stream(of: .demands, keeping: .bufferingNewest(1), first: first) {
      if case .demand(let demand) = $0 { demand } else { nil }
    }
  }

  /// Events from now on.
  func events() -> AsyncStream<BusEvent> {
    stream(of: .events, keeping: .bufferingNewest(Self.eventsMax)) {
      if case .event(let event) = $0 { event } else { nil }
    }
  }

  /// Changes of reachability from now on, the present one first.
  func reachabilities(first: Reachability) -> AsyncStream<Reachability> {
    stream(of: .links, keeping: .bufferingNewest(1), first: first) {
      if case .news(.link(let link)) = $0 { link } else { nil }
    }
  }

  /// Changes of the view's state from now on, the present one first.
  func views(first: ViewState) -> AsyncStream<ViewState> {
    stream(of: .views, keeping: .bufferingNewest(1), first: first) {
      if case .news(.view(let view)) = $0 { view } else { nil }
    }
  }

  /// What the lock screen shows from now on, the present state first.
  func liveActivities(first: LiveActivity?) -> AsyncStream<LiveActivity> {
    stream(of: .lockScreens, keeping: .bufferingNewest(1), first: first) {
      if case .news(.lockScreen(let activity)) = $0 { activity } else { nil }
    }
  }

  /// Alarms from now on. There is one for each silence of the hub, so 16 are more than a live reader ever lags behind.
  func hubLosses() -> AsyncStream<HubLost> {
    stream(of: .hubLosses, keeping: .bufferingNewest(16)) {
      if case .news(.hubLost(let lost)) = $0 { lost } else { nil }
    }
  }

  /// What happens to records from now on.
  func recordNews() -> AsyncStream<RecordNews> {
    stream(of: .records, keeping: .bufferingNewest(Self.eventsMax)) {
      if case .news(.record(let news)) = $0 { news } else { nil }
    }
  }

  /// What a follower of the route has to know from now on.
  func routeNews() -> AsyncStream<RouteNews> {
    stream(of: .route, keeping: .bufferingNewest(Self.routeNewsMax), first: .joined) {
      switch $0 {
      case .news(.snapshot(let snapshot)): .snapshot(snapshot)
      case .news(.link(let link)): link.isReachable ? .joined : nil
      case .event(.route(let part)): .part(part)
      default: nil
      }
    }
  }

  /// The stages of one command from now on, ending with its verdict.
  func receipts(for id: CommandID) -> AsyncStream<Receipt> {
    stream(of: .command(id), keeping: .bufferingNewest(Self.stagesMax)) {
      if case .news(.ownReceipt(let receipt)) = $0 { receipt } else { nil }
    }
  }

  /// The stages of all commands from now on, in the order in which they are reached.
  func ownReceipts() -> AsyncStream<Receipt> {
    stream(of: .ownReceipts, keeping: .bufferingNewest(Self.receiptsMax)) {
      if case .news(.ownReceipt(let receipt)) = $0 { receipt } else { nil }
    }
  }

  /// The stages of one of the app's messages from now on, ending with its last.
  func messageReceipts(for id: MessageID) -> AsyncStream<MessageReceipt> {
    stream(of: .message(id), keeping: .bufferingNewest(Self.stagesMax)) {
      if case .stage(let receipt) = $0 { receipt } else { nil }
    }
  }

  /// Waits for a command's verdict. `begin` runs when the waiter is registered.
  func verdict(
    of id: CommandID, isolation: isolated any Actor, begin: () -> Void
  ) async -> Result<Judged, any Error> {
    let key = state.withLock { state in
      state.nextKey += 1
      return state.nextKey
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: isolation) { continuation in
        let early = state.withLock { state -> (any Error)? in
          if let end = state.end { return end }
          if Task.isCancelled { return CancellationError() }
          state.waiters[of: id][key] = continuation
          return nil
        }
        if let early { continuation.resume(returning: .failure(early)) } else { begin() }
      }
    } onCancel: {
      let waiter = state.withLock { $0.waiters[of: id].removeValue(forKey: key) }
      waiter?.resume(returning: .failure(CancellationError()))
    }
  }

  /// Waits until a message is durable here, on its way, or refused. `begin` runs when the waiter is registered.
  func posting(of id: MessageID, isolation: isolated any Actor, begin: () -> Void) async -> Result<Void, RunBusError> {
    await withCheckedContinuation(isolation: isolation) { continuation in
      let early = state.withLock { state -> RunBusError? in
        if let end = state.end { return end }
        guard state.posts[id] == nil else { return RunBusError(.badInput, "message \(id) is being sent already") }
        state.posts[id] = continuation
        return nil
      }
      if let early { continuation.resume(returning: .failure(early)) } else { begin() }
    }
  }

  // MARK: Telling

  /// Tells what the node has learned. A verdict ends the command's streams and answers the callers that wait for it.
  func tell(_ news: NodeNews) {
    tell(.news(news), to: news.subjects)
    switch news {
    case .snapshot(let snapshot): tell(snapshot.sensors)
    case .ownReceipt(let receipt):
      guard case .verdict(let verdict) = receipt.stage else { return }
      finish(.command(receipt.commandID))
      let waiters = state.withLock { $0.waiters.removeValue(forKey: receipt.commandID) }
      for waiter in (waiters ?? [:]).values { waiter.resume(returning: .success((verdict, receipt))) }
    default: break
    }
  }

  /// Tells an event of the bus as it was heard, beside the news of it.
  func hear(_ event: BusEvent) {
    tell(.event(event), to: [.events])
    if case .route = event { tell(.event(event), to: [.route]) }
  }

  /// Tells the phase that the buttons show, if it has changed. Without a reader of news `phase` is not computed.
  func tellPredicted(_ phase: @autoclosure () -> RunPhase) {
    guard state.withLock({ $0.readers[.news] != nil }) else { return }
    let phase = phase()
    let isNew = state.withLock { state in
      defer { state.predicted = phase }
      return state.predicted != phase
    }
    if isNew { tell(.predicted(phase)) }
  }

  /// Reports a stage of one of the app's messages. The first stage answers the caller that posts it; the last one ends
  /// its streams.
  func tell(_ receipt: MessageReceipt) {
    let id = receipt.messageID
    state.withLock { $0.posts.removeValue(forKey: id) }?.resume(returning: .success(()))
    tell(.stage(receipt), to: [.message(id)])
    if receipt.stage.isLast { finish(.message(id)) }
  }

  /// Fails the caller that posts a message which the core refuses, and ends the message's streams.
  func refuse(_ id: MessageID, _ refusal: PostRefusal) {
    state.withLock { $0.posts.removeValue(forKey: id) }?.resume(returning: .failure(RunBusError(refusal)))
    finish(.message(id))
  }

  /// Fails all callers that are posting a message, because its fate is unknown after a change of the store.
  func giveUpPosts(_ error: RunBusError) {
    let posts = state.withLock { state in
      let posts = state.posts
      state.posts = [:]
      return posts
    }
    for post in posts.values { post.resume(returning: .failure(error)) }
  }

  /// Ends all streams and fails all waiting callers.
  func end(_ error: RunBusError) {
    let old = state.withLock { state in
      let old = state
      state = State(nextKey: old.nextKey, end: error)
      return old
    }
    for reader in old.readers.values.flatMap(\.values) { reader.finish() }
    for post in old.posts.values { post.resume(returning: .failure(error)) }
    for waiter in old.waiters.values.flatMap(\.values) { waiter.resume(returning: .failure(error)) }
  }

  private func tell(_ demand: SensorDemand) {
    let isNew = state.withLock { state in
      defer { state.demand = demand }
      return state.demand != demand
    }
    if isNew { tell(.demand(demand), to: [.demands]) }
  }

  private func tell(_ telling: Telling, to subjects: [Subject]) {
    let readers = state.withLock { state in subjects.flatMap { Array((state.readers[$0] ?? [:]).values) } }
    for reader in readers { reader.take(telling) }
  }

  // MARK: The table

  /// Adds a reader; `nil` after the end of the node.
  private func add(_ reader: Reader, to subject: Subject) -> UInt64? {
    state.withLock { state in
      guard state.end == nil else { return nil }
      state.nextKey += 1
      state.readers[of: subject][state.nextKey] = reader
      return state.nextKey
    }
  }

  private func remove(_ key: UInt64, from subject: Subject) { state.withLock { $0.readers[of: subject][key] = nil } }

  /// Ends the streams about a subject.
  private func finish(_ subject: Subject) {
    for reader in (state.withLock { $0.readers.removeValue(forKey: subject) } ?? [:]).values { reader.finish() }
  }

  /// A stream of what is told about a subject from now on, until its reader drops it or the node ends.
  private func stream<Element: Sendable>(
    of subject: Subject, keeping policy: AsyncStream<Element>.Continuation.BufferingPolicy, first: Element? = nil,
    _ element: @escaping @Sendable (Telling) -> Element?
  ) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: policy)
    let reader = Reader(
      take: { if let element = element($0) { continuation.yield(element) } }, finish: { continuation.finish() })
    guard let key = add(reader, to: subject) else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in self?.remove(key, from: subject) }
    if let first { continuation.yield(first) }
    return stream
  }
}

/// A reader's place in the table, which it leaves when this is dropped.
final class Listening: Sendable {
  private let leave: @Sendable () -> Void
  init(_ leave: @escaping @Sendable () -> Void) { self.leave = leave }
  deinit { leave() }
}

extension NodeNews {
  /// Whose readers are told.
  fileprivate var subjects: [Broadcaster.Subject] {
    switch self {
    case .snapshot: [.news, .snapshots, .route]
    case .link: [.news, .links, .route]
    case .view: [.news, .views]
    case .hubLost: [.news, .hubLosses]
    case .lockScreen: [.news, .lockScreens]
    case .record: [.news, .records]
    case .ownReceipt(let receipt): [.news, .ownReceipts, .command(receipt.commandID)]
    case .predicted, .command, .receipt, .presence, .devices, .route, .splits, .room, .cue, .missed: [.news]
    }
  }
}

extension Dictionary {
  /// The readers of one subject; a subject without readers is removed.
  fileprivate subscript<Reader>(of key: Key) -> Value where Value == [UInt64: Reader] {
    get { self[key] ?? [:] }
    set { self[key] = newValue.isEmpty ? nil : newValue }
  }
}
