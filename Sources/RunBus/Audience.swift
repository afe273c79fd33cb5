import RunCore
import Synchronization

/// Who listens to a node: streams of snapshots, events and receipts, and callers that wait for a verdict.
///
/// It may be used from any thread, because a stream can be dropped anywhere.
final class Audience: Sendable {
  private struct State {
    var nextKey: UInt64 = 0
    var snapshots: [UInt64: AsyncStream<Snapshot>.Continuation] = [:]
    var demands: [UInt64: AsyncStream<SensorDemand>.Continuation] = [:]
    /// What the readers of demands were told last.
    var demand: SensorDemand?
    var events: [UInt64: AsyncStream<BusEvent>.Continuation] = [:]
    var receipts: [CommandID: [UInt64: AsyncStream<Receipt>.Continuation]] = [:]
    var ownReceipts: [UInt64: AsyncStream<Receipt>.Continuation] = [:]
    var waiters: [CommandID: [UInt64: CheckedContinuation<Result<Verdict, RunBusError>, Never>]] = [:]
    var reachabilities: [UInt64: AsyncStream<Reachability>.Continuation] = [:]
    var views: [UInt64: AsyncStream<ViewState>.Continuation] = [:]
    var hubLosses: [UInt64: AsyncStream<HubLost>.Continuation] = [:]
    var recordNews: [UInt64: AsyncStream<RecordNews>.Continuation] = [:]
    var messages: [MessageID: [UInt64: AsyncStream<MessageReceipt>.Continuation]] = [:]
    var posts: [MessageID: CheckedContinuation<Result<Void, RunBusError>, Never>] = [:]
    var end: RunBusError?
  }
  /// A reader this far behind loses the oldest events: the bus does not wait for it.
  static let eventsMax = 1024
  /// A full outbox that is accepted and judged in one go has two stages a row.
  static let receiptsMax = 4096
  private let state = Mutex(State())

  // MARK: Listening

  /// Snapshots from now on; a slow reader sees the newest.
  func snapshots(first: Snapshot?) -> AsyncStream<Snapshot> {
    let (stream, continuation) = AsyncStream.makeStream(of: Snapshot.self, bufferingPolicy: .bufferingNewest(1))
    add(continuation, \.snapshots)
    if let first { continuation.yield(first) }
    return stream
  }

  /// Changes of what the run asks of sensors from now on, the present demand first; a slow reader sees the newest.
  func sensorDemands(first: SensorDemand) -> AsyncStream<SensorDemand> {
    let (stream, continuation) = AsyncStream.makeStream(of: SensorDemand.self, bufferingPolicy: .bufferingNewest(1))
    state.withLock { $0.demand = $0.demand ?? first }
    add(continuation, \.demands)
    continuation.yield(first)
    return stream
  }

  /// Events from now on.
  func events() -> AsyncStream<BusEvent> {
    let policy = AsyncStream<BusEvent>.Continuation.BufferingPolicy.bufferingNewest(Self.eventsMax)
    let (stream, continuation) = AsyncStream.makeStream(of: BusEvent.self, bufferingPolicy: policy)
    add(continuation, \.events)
    return stream
  }

  /// Changes of reachability from now on, the present one first.
  func reachabilities(first: Reachability) -> AsyncStream<Reachability> {
    let (stream, continuation) = AsyncStream.makeStream(of: Reachability.self, bufferingPolicy: .bufferingNewest(1))
    add(continuation, \.reachabilities)
    continuation.yield(first)
    return stream
  }

  /// Changes of how far the view can be believed from now on, the present state first.
  func views(first: ViewState) -> AsyncStream<ViewState> {
    let (stream, continuation) = AsyncStream.makeStream(of: ViewState.self, bufferingPolicy: .bufferingNewest(1))
    add(continuation, \.views)
    continuation.yield(first)
    return stream
  }

  /// Alarms from now on; each is a silence of its own, so a reader that lives loses none.
  func hubLosses() -> AsyncStream<HubLost> {
    let (stream, continuation) = AsyncStream.makeStream(of: HubLost.self, bufferingPolicy: .bufferingNewest(16))
    add(continuation, \.hubLosses)
    return stream
  }

  /// What becomes of records from now on.
  func recordNews() -> AsyncStream<RecordNews> {
    let policy = AsyncStream<RecordNews>.Continuation.BufferingPolicy.bufferingNewest(Self.eventsMax)
    let (stream, continuation) = AsyncStream.makeStream(of: RecordNews.self, bufferingPolicy: policy)
    add(continuation, \.recordNews)
    return stream
  }

  /// The stages of one command from now on, ending with its verdict.
  func receipts(for id: CommandID) -> AsyncStream<Receipt> {
    let (stream, continuation) = AsyncStream.makeStream(of: Receipt.self)
    let key = state.withLock { state -> UInt64? in
      guard state.end == nil else { return nil }
      state.nextKey += 1
      state.receipts[id, default: [:]][state.nextKey] = continuation
      return state.nextKey
    }
    guard let key else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { state in
        state.receipts[id]?[key] = nil
        if state.receipts[id]?.isEmpty == true { state.receipts[id] = nil }
      }
    }
    return stream
  }

  /// The stages of all commands from now on, in the order in which they are reached.
  func ownReceipts() -> AsyncStream<Receipt> {
    let policy = AsyncStream<Receipt>.Continuation.BufferingPolicy.bufferingNewest(Self.receiptsMax)
    let (stream, continuation) = AsyncStream.makeStream(of: Receipt.self, bufferingPolicy: policy)
    add(continuation, \.ownReceipts)
    return stream
  }

  /// Waits for a command's verdict. `begin` runs once the waiter is in place.
  func verdict(
    of id: CommandID, isolation: isolated any Actor, begin: () -> Void
  ) async -> Result<Verdict, RunBusError> {
    let key = state.withLock { state in
      state.nextKey += 1
      return state.nextKey
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: isolation) { continuation in
        let early = state.withLock { state -> RunBusError? in
          if let end = state.end { return end }
          if Task.isCancelled { return RunBusError(.timeout, "nobody waits for the verdict any more") }
          state.waiters[id, default: [:]][key] = continuation
          return nil
        }
        if let early { continuation.resume(returning: .failure(early)) } else { begin() }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        let waiter = state.waiters[id]?.removeValue(forKey: key)
        if state.waiters[id]?.isEmpty == true { state.waiters[id] = nil }
        return waiter
      }
      waiter?.resume(returning: .failure(RunBusError(.timeout, "nobody waits for the verdict any more")))
    }
  }

  /// The stages of one of the app's messages from now on, to its last.
  func messageReceipts(for id: MessageID) -> AsyncStream<MessageReceipt> {
    let (stream, continuation) = AsyncStream.makeStream(of: MessageReceipt.self)
    let key = state.withLock { state -> UInt64? in
      guard state.end == nil else { return nil }
      state.nextKey += 1
      state.messages[id, default: [:]][state.nextKey] = continuation
      return state.nextKey
    }
    guard let key else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { state in
        state.messages[id]?[key] = nil
        if state.messages[id]?.isEmpty == true { state.messages[id] = nil }
      }
    }
    return stream
  }

  /// Waits until a message is durable here, on its way, or refused. `begin` runs once the waiter is in place.
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

  /// One of the app's messages reached a stage; its first answers whoever posts it, its last ends its streams.
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

  /// One of the app's messages is not taken.
  func refuse(_ id: MessageID, _ refusal: PostRefusal) {
    let (post, listeners) = state.withLock { state in
      (state.posts.removeValue(forKey: id), Array((state.messages.removeValue(forKey: id) ?? [:]).values))
    }
    post?.resume(returning: .failure(RunBusError(refusal)))
    for listener in listeners { listener.finish() }
  }

  /// The state changed.
  func show(_ snapshot: Snapshot) {
    for listener in state.withLock({ Array($0.snapshots.values) }) { listener.yield(snapshot) }
    let demand = snapshot.sensors
    let listeners = state.withLock { state in
      defer { state.demand = demand }
      return state.demand == demand ? [] : Array(state.demands.values)
    }
    for listener in listeners { listener.yield(demand) }
  }

  /// Something was heard.
  func hear(_ event: BusEvent) {
    for listener in state.withLock({ Array($0.events.values) }) { listener.yield(event) }
  }

  /// The hub became reachable or unreachable.
  func tell(_ reachability: Reachability) {
    for listener in state.withLock({ Array($0.reachabilities.values) }) { listener.yield(reachability) }
  }

  /// The view became stale or fresh.
  func tell(_ view: ViewState) {
    for listener in state.withLock({ Array($0.views.values) }) { listener.yield(view) }
  }

  /// The hub is lost.
  func tell(_ lost: HubLost) {
    for listener in state.withLock({ Array($0.hubLosses.values) }) { listener.yield(lost) }
  }

  /// Something has become of a record.
  func tell(_ news: RecordNews) {
    for listener in state.withLock({ Array($0.recordNews.values) }) { listener.yield(news) }
  }

  /// A command reached a stage; a verdict ends its streams and answers its waiters.
  func tell(_ receipt: Receipt) {
    typealias Listeners = [AsyncStream<Receipt>.Continuation]
    typealias Waiters = [CheckedContinuation<Result<Verdict, RunBusError>, Never>]
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

  /// The node has ended: every stream finishes, every waiter learns why.
  func end(_ error: RunBusError) {
    let old = state.withLock { state in
      let old = state
      state = State(nextKey: old.nextKey, end: error)
      return old
    }
    for listener in old.snapshots.values { listener.finish() }
    for listener in old.demands.values { listener.finish() }
    for listener in old.events.values { listener.finish() }
    for listener in old.reachabilities.values { listener.finish() }
    for listener in old.views.values { listener.finish() }
    for listener in old.hubLosses.values { listener.finish() }
    for listener in old.recordNews.values { listener.finish() }
    for listener in old.ownReceipts.values { listener.finish() }
    for listener in old.receipts.values.flatMap(\.values) { listener.finish() }
    for listener in old.messages.values.flatMap(\.values) { listener.finish() }
    for post in old.posts.values { post.resume(returning: .failure(error)) }
    for waiter in old.waiters.values.flatMap(\.values) { waiter.resume(returning: .failure(error)) }
  }

  private func add<Element>(
    _ continuation: AsyncStream<Element>.Continuation,
    _ path: any WritableKeyPath<State, [UInt64: AsyncStream<Element>.Continuation]> & Sendable
  ) {
    let key = state.withLock { state -> UInt64? in
      guard state.end == nil else { return nil }
      state.nextKey += 1
      state[keyPath: path][state.nextKey] = continuation
      return state.nextKey
    }
    guard let key else { return continuation.finish() }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { $0[keyPath: path][key] = nil }
    }
  }
}
