extension Node {
  /// Runs tasks on the loop of a node whose time a test steers; `nil` for other nodes.
  package nonisolated var steeredExecutor: LoopTaskExecutor? {
    (self as? any DrivenNode).flatMap { $0.loop.isSteered ? LoopTaskExecutor($0.loop) : nil }
  }
}
