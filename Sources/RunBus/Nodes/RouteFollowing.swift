import RunCore

/// What a follower of the route has to know.
enum RouteNews: Sendable {
  /// The hub can be asked from now on. What it published before may be lost.
  case joined
  case part(RoutePart)
  indirect case snapshot(Snapshot)
}

/// Follows the route for one stream of an app. It works only when the app reads: parts that come meanwhile wait in a
/// bounded stream and are asked for again if some were lost, so that a slow reader gets few and large updates.
actor RouteFollowing {
  private var news: AsyncStream<RouteNews>.Iterator
  private let ask: @Sendable (Int) async throws -> RoutePart?
  private var view = RouteView()
  /// The index from which to ask the hub next.
  private var question: Int?
  /// Whether a question got no answer, so that the view has to ask anew.
  private var isUnanswered = false
  /// The first index that has changed since the last update; `nil` when none has.
  private var changedFrom: Int?
  /// Whether the last update was complete.
  private var wasComplete = false

  /// - Parameters:
  ///   - news: What the node hears.
  ///   - ask: Asks the hub for the points from an index on, and waits until it answers or the task is cancelled.
  init(_ news: AsyncStream<RouteNews>, ask: @escaping @Sendable (Int) async throws -> RoutePart?) {
    self.news = news.makeAsyncIterator()
    self.ask = ask
  }

  /// The updates as a stream.
  nonisolated var updates: AsyncStream<RouteUpdate> { AsyncStream { await self.next() } }

  private func next() async -> RouteUpdate? {
    while !Task.isCancelled {
      if let update = takeUpdate() { return update }
      if let from = question {
        question = nil
        do {
          note(view.receive(answer: try await ask(from)))
        } catch {
          view.answerFailed()
          isUnanswered = true
        }
      } else {
        // A copy, because an actor's property cannot be lent to an asynchronous call.
        var news = news
        guard let next = await news.next(isolation: self) else { return nil }
        self.news = news
        if isUnanswered {
          isUnanswered = false
          note(view.joined())
        }
        switch next {
        case .joined: note(view.joined())
        case .part(let part): note(view.receive(part))
        case .snapshot(let snapshot): note(view.receive(snapshot))
        }
      }
    }
    return nil
  }

  private func note(_ actions: [RouteView.Action]) {
    for action in actions {
      switch action {
      case .began: changedFrom = 0
      case .changed(let from): changedFrom = min(changedFrom ?? from, from)
      case .ask(let from): question = from
      }
    }
  }

  /// The points that have changed since the last update. An update without points tells that the route is complete.
  private func takeUpdate() -> RouteUpdate? {
    guard let runID = view.runID, changedFrom != nil || view.isComplete != wasComplete && view.isComplete else {
      return nil
    }
    let from = min(changedFrom ?? view.points.count, view.points.count)
    changedFrom = nil
    wasComplete = view.isComplete
    return RouteUpdate(
      runID: runID, from: from, points: Array(view.points[from...]), isComplete: view.isComplete)
  }
}

/// Follows the splits for one stream of an app: it asks the hub at each snapshot, and tells when they have changed.
actor SplitsFollowing {
  private var snapshots: AsyncStream<Snapshot>.Iterator
  private let ask: @Sendable () async throws -> RunReport?
  private var last: RunSplits?

  /// - Parameters:
  ///   - snapshots: The snapshots of the node; only the newest waits.
  ///   - ask: Asks the hub for a report, and waits until it answers or the task is cancelled.
  init(_ snapshots: AsyncStream<Snapshot>, ask: @escaping @Sendable () async throws -> RunReport?) {
    self.snapshots = snapshots.makeAsyncIterator()
    self.ask = ask
  }

  /// The splits as a stream.
  nonisolated var updates: AsyncStream<RunSplits> { AsyncStream { await self.next() } }

  private func next() async -> RunSplits? {
    while !Task.isCancelled {
      var snapshots = snapshots
      guard await snapshots.next(isolation: self) != nil else { return nil }
      self.snapshots = snapshots
      // A question that fails is asked again with the next snapshot.
      guard let splits = try? await RunSplits(ask()) else { continue }
      guard splits != last else { continue }
      last = splits
      return splits
    }
    return nil
  }
}
