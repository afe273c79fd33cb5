import RunBus

/// Tells the service manager of this process how its node stands: that it is ready, what the run does, that the node
/// lives, and that it ends.
///
/// ```swift
/// let report = await ServiceReport(of: hub)  // nil for a process that is no service
/// await report?.run { (try? await hub.ready()) != nil }
/// ```
struct ServiceReport: Sendable {
  private let manager: ServiceManager
  private let node: any Node
  private let news: NewsStream

  /// Begins to listen to a node; `nil` when no manager wants to hear of it. A report that is made before the node runs
  /// misses nothing.
  init?(of node: some Node, to manager: ServiceManager? = .ofThisProcess) async {
    guard let manager else { return nil }
    (self.manager, self.node) = (manager, node)
    news = await node.news(asking: [])
  }

  /// Reports until the node ends or the task is cancelled.
  ///
  /// - Parameter isReady: Waits until the node can do its work; `false` when it never will.
  func run(when isReady: @Sendable () async -> Bool) async {
    guard await isReady() else { return }
    var status = ServiceStatus(isHub: node is Hub)
    manager.tell("READY=1", "STATUS=\(status.text)")
    await withTaskGroup(of: Void.self) { group in
      if let beat = manager.beat { group.addTask { try? await live(every: beat) } }
      for await news in news {
        let before = status.text
        status.take(news)
        if status.text != before { manager.tell("STATUS=\(status.text)") }
      }
      group.cancelAll()
    }
  }

  /// Says that the node was asked to end.
  func end() { manager.tell("STOPPING=1") }

  /// Tells that the node lives as long as its loop answers. When the loop hangs, the manager hears nothing and ends the
  /// process.
  private func live(every beat: Duration) async throws {
    while true {
      let answer = try await within(beat) { [node] in await node.predicted }
      if answer != nil { manager.tell("WATCHDOG=1") }
      try await Task.sleep(for: beat)
    }
  }
}

/// How a node stands, in the line that a service manager shows. It says nothing of where or how fast somebody runs.
struct ServiceStatus: Hashable, Sendable {
  /// Whether the node is the phone, which is never out of its own reach.
  let isHub: Bool
  private var isReachable = false
  private var phase = RunPhase.idle
  private var isRecovering = false

  init(isHub: Bool) { self.isHub = isHub }

  mutating func take(_ news: NodeNews) {
    switch news {
    case .snapshot(let snapshot): (phase, isRecovering) = (snapshot.phase, snapshot.isRecovering)
    case .link(let link): isReachable = link.isReachable
    case .predicted, .view, .hubLost, .lockScreen, .command, .receipt, .ownReceipt, .presence, .devices, .route,
      .splits,
      .record, .room, .cue, .missed:
      break
    }
  }

  /// `the run is paused`.
  var text: String {
    guard isHub || isReachable else { return "the phone is out of reach" }
    if isRecovering { return "a run waits for a decision: busnode recover" }
    return phase == .idle ? "no run has been started" : "the run is \(phase.rawValue)"
  }
}
