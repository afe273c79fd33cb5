import RunBus

/// Follows a peer's link to its hub: shows its changes, and runs the hook when the hub is lost.
struct HubWatch: Sendable {
  private let reachability: AsyncStream<Reachability>
  private let states: AsyncStream<ViewState>
  private let losses: AsyncStream<HubLost>
  private let hook: HubLostHook?

  /// Subscribes to the peer's streams.
  init(_ peer: Peer, hook: HubLostHook?) async {
    reachability = await peer.reachabilities()
    states = await peer.views()
    losses = await peer.hubLost()
    self.hook = hook
  }

  /// Shows changes until the node ends.
  func keep(_ view: NodeView) async {
    await withDiscardingTaskGroup { group in
      group.addTask { for await state in reachability { view.show(state) } }
      group.addTask { for await state in states { view.show(state) } }
      group.addTask {
        await withDiscardingTaskGroup { hooks in
          for await lost in losses {
            view.show(lost)
            // The hook runs in a task of its own, so that a command that hangs does not delay the next alarm.
            if let hook { hooks.addTask { await hook.run(lost) } }
          }
        }
      }
    }
  }
}
