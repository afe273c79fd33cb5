import RunCore
import Synchronization

/// The listeners of a node: streams of snapshots, events and receipts, and callers that wait for a verdict.
///
/// It is safe to use from any thread, because an app may drop a stream on any thread.
final class Broadcaster: Sendable {
  private typealias Readers<Element> = [UInt64: AsyncStream<Element>.Continuation]
  private struct State {
    var nextKey: UInt64 = 0
    /// For each stream, what finishes it.
    var finishers: [UInt64: @Sendable () -> Void] = [:]
    var snapshots: Readers<Snapshot> = [:]
    var demands: Readers<SensorDemand> = [:]
    /// The sensor demand that the readers were told last.
    var demand: SensorDemand?
    var events: Readers<BusEvent> = [:]
    var receipts: [CommandID: Readers<Receipt>] = [:]
    var ownReceipts: Readers<Receipt> = [:]
    var waiters: [CommandID: [UInt64: CheckedContinuation<Result<Verdict, any Error>, Never>]] = [:]
    var reachabilities: Readers<Reachability> = [:]
    var views: Readers<ViewState> = [:]
    var liveActivities: Readers<LiveActivity> = [:]
    var hubLosses: Readers<HubLost> = [:]
    var recordNews: Readers<RecordNews> = [:]
    var routeNews: Readers<RouteNews> = [:]
    var messages: [MessageID: Readers<MessageReceipt>] = [:]
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

  /// Snapshots from now on; a slow reader sees the newest.
  func snapshots(first: Snapshot?) -> AsyncStream<Snapshot> {
    stream(\.snapshots, keeping: .bufferingNewest(1), first: first)
  }

  /// Changes of the sensor demand from now on, the present one first; a slow reader gets the newest.
  func sensorDemands(first: SensorDemand) -> AsyncStream<SensorDemand> {
    state.withLock { $0.demand = $0.demand ?? first }
    return stream(\.demands, keeping: .bufferingNewest(1), first: first)
  }

  /// Events from now on.
  func events() -> AsyncStream<BusEvent> { stream(\.events, keeping: .bufferingNewest(Self.eventsMax)) }

  /// Changes of reachability from now on, the present one first.
  func reachabilities(first: Reachability) -> AsyncStream<Reachability> {
    stream(\.reachabilities, keeping: .bufferingNewest(1), first: first)
  }

  /// Changes of the view's state from now on, the present one first.
  func views(first: ViewState) -> AsyncStream<ViewState> {
    stream(\.views, keeping: .bufferingNewest(1), first: first)
  }

  /// What the lock screen shows from now on, the present state first.
  func liveActivities(first: LiveActivity?) -> AsyncStream<LiveActivity> {
    stream(\.liveActivities, keeping: .bufferingNewest(1), first: first)
  }

  /// Alarms from now on. There is one for each silence of the hub, so 16 are more than a live reader ever lags behind.
  func hubLosses() -> AsyncStream<HubLost> { stream(\.hubLosses, keeping: .bufferingNewest(16)) }

  /// What happens to records from now on.
  func recordNews() -> AsyncStream<RecordNews> { stream(\.recordNews, keeping: .bufferingNewest(Self.eventsMax)) }

  /// What a follower of the route has to know from now on.
  func routeNews() -> AsyncStream<RouteNews> {
    stream(\.routeNews, keeping: .bufferingNewest(Self.routeNewsMax), first: .joined)
  }

  /// The stages of one command from now on, ending with its verdict.
  func receipts(for id: CommandID) -> AsyncStream<Receipt> {
    stream(\.receipts[of: id], keeping: .bufferingNewest(Self.stagesMax))
  }

  /// The stages of all commands from now on, in the order in which they are reached.
  func ownReceipts() -> AsyncStream<Receipt> { stream(\.ownReceipts, keeping: .bufferingNewest(Self.receiptsMax)) }

  /// Waits for a command's verdict. `begin` runs when the waiter is registered.
  func verdict(
    of id: CommandID, isolation: isolated any Actor, begin: () -> Void
  ) async -> Result<Verdict, any Error> {
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

  /// The stages of one of the app's messages from now on, ending with its last.
  func messageReceipts(for id: MessageID) -> AsyncStream<MessageReceipt> {
    stream(\.messages[of: id], keeping: .bufferingNewest(Self.stagesMax))
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

  /// Reports a stage of one of the app's messages. The first stage answers the caller that posts it; the last one ends
  /// its streams.
  func tell(_ receipt: MessageReceipt) {
    let id = receipt.messageID
    let (post, listeners) = state.withLock { state in
      let all = receipt.stage.isLast ? state.messages.removeValue(forKey: id) : state.messages[id]
      return (state.posts.removeValue(forKey: id), Array((all ?? [:]).values))
    }
    post?.resume(returning: .success(()))
    for listener in listeners {
      listener.yield(receipt)
      if receipt.stage.isLast { listener.finish() }
    }
  }

  /// Fails the caller that posts a message which the core refuses, and ends the message's streams.
  func refuse(_ id: MessageID, _ refusal: PostRefusal) {
    let (post, listeners) = state.withLock { state in
      (state.posts.removeValue(forKey: id), Array((state.messages.removeValue(forKey: id) ?? [:]).values))
    }
    post?.resume(returning: .failure(RunBusError(refusal)))
    for listener in listeners { listener.finish() }
  }

  /// Reports a new snapshot, and the sensor demand if it has changed.
  func show(_ snapshot: Snapshot) {
    let (readers, followers) = state.withLock { (Array($0.snapshots.values), Array($0.routeNews.values)) }
    for reader in readers { reader.yield(snapshot) }
    for follower in followers { follower.yield(.snapshot(snapshot)) }
    let demand = snapshot.sensors
    let listeners = state.withLock { state in
      defer { state.demand = demand }
      return state.demand == demand ? [] : Array(state.demands.values)
    }
    for listener in listeners { listener.yield(demand) }
  }

  /// Reports an event of the bus.
  func hear(_ event: BusEvent) {
    let (listeners, followers) = state.withLock { (Array($0.events.values), Array($0.routeNews.values)) }
    for listener in listeners { listener.yield(event) }
    if case .route(let part) = event { for follower in followers { follower.yield(.part(part)) } }
  }

  /// Reports that the hub became reachable or unreachable.
  func tell(_ reachability: Reachability) {
    let (listeners, followers) = state.withLock { (Array($0.reachabilities.values), Array($0.routeNews.values)) }
    for listener in listeners { listener.yield(reachability) }
    if reachability.isReachable { for follower in followers { follower.yield(.joined) } }
  }

  /// Reports that the lock screen shows something else.
  func show(_ activity: LiveActivity) {
    for listener in state.withLock({ Array($0.liveActivities.values) }) { listener.yield(activity) }
  }

  /// Reports that the view became stale or fresh.
  func tell(_ view: ViewState) {
    for listener in state.withLock({ Array($0.views.values) }) { listener.yield(view) }
  }

  /// Reports an alarm: the hub is lost.
  func tell(_ lost: HubLost) {
    for listener in state.withLock({ Array($0.hubLosses.values) }) { listener.yield(lost) }
  }

  /// Reports a change of a record.
  func tell(_ news: RecordNews) {
    for listener in state.withLock({ Array($0.recordNews.values) }) { listener.yield(news) }
  }

  /// Reports a stage of a command. A verdict ends the command's streams and answers the callers that wait for it.
  func tell(_ receipt: Receipt) {
    typealias Listeners = [AsyncStream<Receipt>.Continuation]
    typealias Waiters = [CheckedContinuation<Result<Verdict, any Error>, Never>]
    for listener in state.withLock({ Array($0.ownReceipts.values) }) { listener.yield(receipt) }
    let (listeners, waiters) = state.withLock { state -> (Listeners, Waiters) in
      guard case .verdict = receipt.stage else {
        return (Array((state.receipts[receipt.commandID] ?? [:]).values), [])
      }
      return (
        Array((state.receipts.removeValue(forKey: receipt.commandID) ?? [:]).values),
        Array((state.waiters.removeValue(forKey: receipt.commandID) ?? [:]).values)
      )
    }
    for listener in listeners { listener.yield(receipt) }
    guard case .verdict(let verdict) = receipt.stage else { return }
    for listener in listeners { listener.finish() }
    for waiter in waiters { waiter.resume(returning: .success(verdict)) }
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
    for finish in old.finishers.values { finish() }
    for post in old.posts.values { post.resume(returning: .failure(error)) }
    for waiter in old.waiters.values.flatMap(\.values) { waiter.resume(returning: .failure(error)) }
  }

  /// A stream of what is reported from now on, until its reader drops it or the node ends.
  private func stream<Element: Sendable>(
    _ path: any WritableKeyPath<State, Readers<Element>> & Sendable,
    keeping policy: AsyncStream<Element>.Continuation.BufferingPolicy, first: Element? = nil
  ) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: policy)
    let key = state.withLock { state -> UInt64? in
      guard state.end == nil else { return nil }
      state.nextKey += 1
      state[keyPath: path][state.nextKey] = continuation
      state.finishers[state.nextKey] = { continuation.finish() }
      return state.nextKey
    }
    guard let key else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { state in
        state[keyPath: path][key] = nil
        state.finishers[key] = nil
      }
    }
    if let first { continuation.yield(first) }
    return stream
  }
}

extension Dictionary {
  /// The listeners of one id; an id without listeners is removed.
  fileprivate subscript<Reader>(of id: Key) -> Value where Value == [UInt64: Reader] {
    get { self[id] ?? [:] }
    set { self[id] = newValue.isEmpty ? nil : newValue }
  }
}
