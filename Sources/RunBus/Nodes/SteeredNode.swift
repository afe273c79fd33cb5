extension Node {
  /// Runs tasks on the loop of a node whose time a test steers; `nil` for other nodes.
  package nonisolated var steeredExecutor: LoopTaskExecutor? { internals.node.steeredExecutor }
}

extension DrivenNode {
  nonisolated var steeredExecutor: LoopTaskExecutor? { loop.isSteered ? LoopTaskExecutor(loop) : nil }
}
