public import RunCore
import Synchronization

/// Everything that a node learns, in order; see ``Node/news(asking:)``.
///
/// A reader may be slow. The node never waits for it. What only the newest counts of is replaced while it waits; of what
/// others cause at most 1,024 wait, and ``RunCore/NodeNews/missed(_:)`` tells of the rest; verdicts on the node's own
/// commands are never left out. One loop reads a stream.
public struct NewsStream: AsyncSequence, Sendable {
  fileprivate let reader: NewsReader
  /// Makes the node ask for something, or not.
  fileprivate let change: @Sendable (NewsQuestions) async -> Void

  /// Changes what the stream asks the hub for, for example when the screen is turned off.
  public func ask(_ questions: NewsQuestions) async { await change(questions) }

  /// Begins to read.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

  /// Reads the news of a node.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let reader: NewsReader

    /// Waits for the next; `nil` at the end of the node, or when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> NodeNews? {
      while !Task.isCancelled {
        if let news = reader.take() { return news }
        guard await reader.waits(isolation: actor) else { return nil }
      }
      return nil
    }
  }
}

/// What a stream of news asks the hub for beside what comes by itself. Each of it costs traffic between a peer and its
/// hub.
public struct NewsQuestions: OptionSet, Sendable {
  /// The bits.
  public let rawValue: Int
  /// A set from its bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The devices that the hub knows: when it comes in reach, when a device comes that it has not named, and every three
  /// seconds.
  public static let devices = Self(rawValue: 1)
  /// The route of the present run as it grows; see ``Node/route()``.
  public static let route = Self(rawValue: 2)
  /// The splits with each snapshot that changes them; see ``Node/splits()``.
  public static let splits = Self(rawValue: 4)
  /// All of them.
  public static let all: Self = [.devices, .route, .splits]
}

extension Node {
  /// Everything that this node learns from now on, in order, what is known now first: one stream for a screen, and for a
  /// ``RunCore/RunBoard`` that folds it.
  ///
  /// - Parameter questions: What the stream asks the hub for beside what comes by itself; ``news()`` asks for all of it.
  public func news(asking questions: NewsQuestions) -> NewsStream {
    internals.node.assumeIsolated { $0.makeNews(asking: questions) }
  }

  /// Everything that this node learns, with the devices, the route and the splits; see ``news(asking:)``.
  ///
  /// ```swift
  /// var board = RunBoard(own: "watch")
  /// for await news in await node.news() {
  ///   board.receive(news, at: node.moment)
  ///   draw(board)
  /// }
  /// ```
  public func news() -> NewsStream { news(asking: .all) }

  /// Real time now by a clock that is not set: the moments of a ``RunCore/RunBoard``. In a `TestBus` it is the test's time.
  public nonisolated var moment: BusTime { internals.node.loop.now }
}

/// The queue of one stream of news, and who waits for it.
///
/// It resumes the waiting task itself. An `AsyncStream` would wake it by way of the shared pool of threads, which a test
/// in steered time cannot wait for.
final class NewsReader: Sendable {
  private struct State {
    var queue = NewsQueue()
    var hasEnded = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }
  private let state = Mutex(State())
  /// What is dropped with the stream: its place in the table of the node, and what asks the hub for it.
  private let holds = Mutex<(listening: Listening?, asking: [Int: Asking])>((nil, [:]))

  func put(_ news: NodeNews) { wake { $0.queue.put(news) } }

  func take() -> NodeNews? { state.withLock { $0.queue.take() } }

  func end() { wake { $0.hasEnded = true } }

  /// Waits until there may be news; `false` when there will be none any more.
  fileprivate func waits(isolation actor: isolated (any Actor)?) async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: actor) { continuation in
        let isDue = state.withLock { state in
          let isDue = !state.queue.isEmpty || state.hasEnded || Task.isCancelled
          if !isDue { state.waiters.append(continuation) }
          return isDue
        }
        if isDue { continuation.resume() }
      }
    } onCancel: {
      wake { _ in }
    }
    return state.withLock { !$0.hasEnded || !$0.queue.isEmpty }
  }

  private func wake(_ change: (inout State) -> Void) {
    let waiters = state.withLock { state in
      change(&state)
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  fileprivate func hold(_ listening: Listening) { holds.withLock { $0.listening = listening } }

  /// Keeps what asks for something, made only when nothing does yet; drops it where nothing is to be asked.
  fileprivate func hold(_ question: NewsQuestions, if isAsked: Bool, _ make: () -> Asking) {
    let isNew = holds.withLock { holds in
      if !isAsked { holds.asking[question.rawValue] = nil }
      return isAsked && holds.asking[question.rawValue] == nil
    }
    guard isNew else { return }
    let asking = make()
    holds.withLock { $0.asking[question.rawValue] = asking }
  }
}

/// Asks the hub for something, until it is dropped.
final class Asking: Sendable {
  private let task: Task<Void, Never>
  init(_ task: Task<Void, Never>) { self.task = task }
  deinit { task.cancel() }
}

/// Asks for the devices of one node, for all of its streams that want them, so that all boards of a node have the same.
struct DeviceQuestions {
  /// How often, in real time.
  static let every = BusDuration.seconds(3)
  /// What asks while a stream holds it.
  weak var asking: Asking?
  /// Makes it ask now.
  var bell: AsyncStream<Void>.Continuation?
}

extension DrivenNode {
  /// The route from now on.
  func routeUpdates() -> AsyncStream<RouteUpdate> {
    let news = broadcaster.routeNews()
    followRoute()
    return RouteFollowing(news) { [self] in try await askHub(.route(from: $0)) }.updates
  }

  /// The splits from now on.
  func splitUpdates() -> AsyncStream<RunSplits> {
    SplitsFollowing(snapshotUpdates()) { [self] in try await askHub(.report) }.updates
  }

  /// The snapshots from now on, the present one first.
  func snapshotUpdates() -> AsyncStream<Snapshot> {
    broadcaster.snapshots(first: authoritative == Snapshot.none ? nil : authoritative)
  }

  /// What lock screens show from now on, the present state first.
  func lockScreenUpdates() -> AsyncStream<LiveActivity> {
    followLiveActivity()
    return broadcaster.liveActivities(first: liveActivity)
  }

  /// A stream of everything that this node learns from now on.
  func makeNews(asking questions: NewsQuestions) -> NewsStream {
    followLiveActivity()
    let reader = NewsReader()
    for news in knownNews { reader.put(news) }
    if let liveActivity { reader.put(.lockScreen(liveActivity)) }
    if authoritative != Snapshot.none { reader.put(.snapshot(authoritative)) }
    reader.put(.predicted(predicted))
    // The table holds the reader weakly: it ends with its stream.
    reader.hold(
      broadcaster.listen(to: .news, finish: { [weak reader] in reader?.end() }) { [weak reader] in
        if case .news(let news) = $0 { reader?.put(news) }
      })
    ask(questions, for: reader)
    return NewsStream(reader: reader) { [weak self, weak reader] in
      if let reader { await self?.ask($0, for: reader) }
    }
  }

  private func ask(_ questions: NewsQuestions, for reader: NewsReader) {
    reader.hold(.route, if: questions.contains(.route)) { follow(routeUpdates(), for: reader) { .route($0) } }
    reader.hold(.splits, if: questions.contains(.splits)) { follow(splitUpdates(), for: reader) { .splits($0) } }
    reader.hold(.devices, if: questions.contains(.devices)) { askForDevices() }
  }

  private func follow<Element: Sendable>(
    _ stream: AsyncStream<Element>, for reader: NewsReader, _ news: @escaping @Sendable (Element) -> NodeNews
  ) -> Asking {
    Asking(
      Task(executorPreference: steeredExecutor) { [weak reader] in
        for await element in stream { reader?.put(news(element)) }
      })
  }

  private func askForDevices() -> Asking {
    if let asking = driver.deviceQuestions.asking {
      driver.deviceQuestions.bell?.yield()
      return asking
    }
    let (bells, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    bell.yield()
    let asking = Asking(
      Task(executorPreference: steeredExecutor) { [weak self] in await self?.askForDevices(whenever: bells, bell) })
    driver.deviceQuestions = DeviceQuestions(asking: asking, bell: bell)
    return asking
  }

  /// Asks whenever a bell rings. It rings when the hub comes in reach, when a device comes that was not named, and some
  /// time after each answer.
  private func askForDevices(whenever bells: AsyncStream<Void>, _ bell: AsyncStream<Void>.Continuation) async {
    let known = Mutex<Set<DeviceID>>([])
    let listening = broadcaster.listen(to: .news, finish: { bell.finish() }) {
      switch $0 {
      case .news(.link(let link)): if link.isReachable { bell.yield() }
      case .news(.presence(let presence)):
        if !known.withLock({ $0.contains(presence.deviceID) }) { bell.yield() }
      default: break
      }
    }
    let timer = loop.makeTimer { bell.yield() }
    for await _ in bells {
      // A question that fails is asked again in its turn.
      if let reports = try? await askHub(.peers) {
        known.withLock { $0 = Set(reports.map(\.deviceID)) }
        broadcaster.tell(.devices(reports))
      }
      timer.deadline = loop.now + DeviceQuestions.every
    }
    timer.deadline = nil
    withExtendedLifetime(listening) {}
  }
}
