import Foundation
import RunBus
import Synchronization

/// Runs one node as a process: feeds its sensors, presses what standard input says, and shows what it sees.
struct NodeRunner<Member: Node>: Sendable {
  let node: Member
  let deviceID: DeviceID
  /// Who presses this node's buttons.
  let source: ControlSource
  /// What its sensors measure.
  let recording: Timeline?
  /// Whether it is told what to do on standard input, and ends with it.
  let readsOrders: Bool
  let view: NodeView

  /// How a part of the node's life ended.
  private enum Part { case isOver, nodeEnded, mustEnd }

  /// Runs until a signal, the end of standard input (with orders), or the node's own end.
  ///
  /// - Parameters:
  ///   - watch: how a peer stands to its hub, to be shown and acted upon.
  ///   - demands: which sensors the run asks for, to be shown.
  ///   - prompt: asks a person what is to become of an unfinished run.
  func run(
    watch: HubWatch? = nil, demands: AsyncStream<SensorDemand>? = nil, prompt: RecoveryPrompt? = nil
  ) async throws {
    // Subscribed before the node runs: nothing is missed.
    let events = await node.events()
    let receipts = await node.ownReceipts()
    let snapshots = await node.snapshots()
    let records = await node.recordNews()
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
          // What is for this device is shown by the handler below, with its text.
          if case .message(let message) = event, message.to == deviceID { continue }
          view.show(event, predicted: await node.predicted)
        }
        return .isOver
      }
      group.addTask {
        // Those of an earlier life, too: whoever pressed before a crash learns what became of it.
        for await receipt in receipts { view.show(receipt, of: deviceID, predicted: await node.predicted) }
        return .isOver
      }
      group.addTask {
        for await news in records { view.show(news) }
        return .isOver
      }
      group.addTask {
        // An app would do something with a message. This one shows it.
        try await node.handleMessages { if $0.deliveryClass == .queued { view.show($0, by: deviceID) } }
        return .isOver
      }
      if let watch {
        group.addTask {
          await watch.keep(view)
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
          await ScriptedPresses(node: node, source: source, deviceID: deviceID).obey(StandardInput.lines())
          return .mustEnd
        }
      }
      loop: while let part = try await group.next() {
        switch part {
        case .isOver: continue
        case .mustEnd: break loop
        case .nodeEnded: throw RunBusError(.closed, "the node has ended by itself")
        }
      }
      group.cancelAll()
      // The end that was asked for: what the parts throw now is only that they were cancelled. A node that could not
      // end cleanly says so.
      while let result = await group.nextResult() {
        if case .failure(let error as RunBusError) = result, error.code != .closed { throw error }
      }
    }
  }
}
