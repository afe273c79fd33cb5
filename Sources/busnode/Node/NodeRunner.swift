import Foundation
import RunBus
import RunBusWeb
import Synchronization

/// Runs one node as a process: plays its sensors, obeys standard input, and shows its events.
struct NodeRunner<Member: Node>: Sendable {
  let node: Member
  /// Who presses this node's buttons.
  let source: ControlSource
  /// The recording that its sensors play.
  let recording: Timeline?
  /// Whether it obeys orders on standard input and ends at the end of input.
  let readsOrders: Bool
  let view: NodeView
  /// Whether it is a lock screen, and shows what the hub pushes to one.
  var isLockScreen = false
  /// What is left undone when the node is asked to end, as a sentence; `nil` for nothing.
  var farewell: @Sendable () async -> String? = { nil }

  /// How a part of the node's life ended.
  private enum Part { case isOver, nodeEnded, mustEnd }

  /// Runs until a signal, the end of standard input (with orders), or the node's own end.
  ///
  /// - Parameters:
  ///   - hook: What runs when a peer's hub is lost.
  ///   - demands: The sensors that the run needs, which are shown.
  ///   - prompt: Asks a person for the recovery decision.
  ///   - metrics: Serves operators meanwhile.
  func run(
    hook: HubLostHook? = nil, demands: AsyncStream<SensorDemand>? = nil, prompt: RecoveryPrompt? = nil,
    metrics: MetricsServer? = nil
  ) async throws {
    // Subscribe before the node runs, so that nothing is missed.
    let events = await node.events()
    let snapshots = await node.snapshots()
    // This includes receipts of presses that an earlier incarnation of the node made before a crash.
    let news = await node.news(asking: [])
    let lockScreen = isLockScreen ? await node.liveActivityStates() : nil
    let service = await ServiceReport(of: node)
    let signals = Signals.stream()
    defer { view.close() }
    try await withThrowingTaskGroup(of: Part.self) { group in
      group.addTask {
        try await node.run()
        return .nodeEnded
      }
      group.addTask {
        for await _ in signals { break }
        return .mustEnd
      }
      group.addTask {
        for await event in events {
          // The handler below shows messages to this device, with their text.
          if case .message(let message) = event, message.to == node.deviceID { continue }
          // The phone shows who comes and goes.
          if case .presence = event, node is Peer { continue }
          view.show(event)
        }
        return .isOver
      }
      group.addTask {
        await withDiscardingTaskGroup { hooks in
          for await news in news {
            view.show(news, of: node)
            // The hook runs in a task of its own, so that a command that hangs does not delay the next alarm.
            if case .hubLost(let lost) = news, let hook { hooks.addTask { await hook.run(lost) } }
          }
        }
        return .isOver
      }
      group.addTask {
        // An app would act on a message; busnode only shows it.
        try await node.messages.handle { if $0.deliveryClass == .queued { view.show($0, by: node.deviceID) } }
        return .isOver
      }
      if let lockScreen {
        group.addTask {
          for await state in lockScreen { view.show(state) }
          return .isOver
        }
      }
      if let demands {
        group.addTask {
          for await demand in demands { view.show(demand) }
          return .isOver
        }
      }
      if let prompt {
        group.addTask {
          await prompt.ask()
          return .isOver
        }
      }
      if let service {
        group.addTask {
          await service.run { (try? await node.ready()) != nil }
          return .isOver
        }
      }
      if let metrics {
        Output.complain("busnode: " + Tongue.say(.metricsAt, ["url": metrics.url]))
        group.addTask {
          await metrics.run()
          return .isOver
        }
      }
      if let recording {
        let feeder = SensorPlayer(
          node, recording, ranOut: { view.showRecordingEnded($0, at: $1) }, done: { view.showSensorsDone($0, $1) })
        group.addTask {
          try await feeder.run(snapshots)
          return .isOver
        }
      }
      if readsOrders {
        group.addTask {
          await ScriptedPresses(node: node, source: source, deviceID: node.deviceID).obey(StandardInput.lines())
          return .mustEnd
        }
      }
      loop: while let part = try await group.next() {
        switch part {
        case .isOver: continue
        case .mustEnd:
          service?.end()
          if let sentence = await farewell() { Output.complain("busnode: \(sentence)") }
          break loop
        case .nodeEnded: throw RunBusError(.closed, "the node ended unexpectedly")
        }
      }
      group.cancelAll()
      // After a requested end the tasks throw because they were cancelled, which is no error. Report only a node that
      // could not end cleanly.
      while let result = await group.nextResult() {
        if case .failure(let error as RunBusError) = result, error.code != .closed { throw error }
      }
    }
  }
}
