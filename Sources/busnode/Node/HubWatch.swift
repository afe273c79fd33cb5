import RunBus

/// How a peer stands to its hub: what is shown of it, and what a silence of it starts.
struct HubWatch: Sendable {
  private let reachability: AsyncStream<Reachability>
  private let states: AsyncStream<ViewState>
  private let losses: AsyncStream<HubLost>
  private let hook: HubLostHook?

  /// Listens from now on.
  init(_ peer: Peer, hook: HubLostHook?) async {
    reachability = await peer.reachabilities()
    states = await peer.views()
    losses = await peer.hubLost()
    self.hook = hook
  }

  /// Shows it until the node ends.
  func keep(_ view: NodeView) async {
    await withDiscardingTaskGroup { group in
      group.addTask { for await state in reachability { view.show(state) } }
      group.addTask { for await state in states { view.show(state) } }
      group.addTask {
        await withDiscardingTaskGroup { hooks in
          for await lost in losses {
            view.show(lost)
            // A command that hangs holds nothing up, the next alarm included.
            if let hook { hooks.addTask { await hook.run(lost) } }
          }
        }
      }
    }
  }
}
