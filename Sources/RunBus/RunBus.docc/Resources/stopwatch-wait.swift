extension Screen {
  /// Waits until the screen satisfies a condition. SwiftUI draws a view again in the same way: when a property that was
  /// read has changed.
  func wait(until holds: @escaping @MainActor (RunModel) -> Bool) async throws {
    while true {
      let (changes, change) = AsyncStream.makeStream(of: Void.self)
      if withObservationTracking({ holds(model) }, onChange: { change.finish() }) { return }
      for await _ in changes {}
      try Task.checkCancellation()
      // The change is announced before it is made.
      await Task.yield()
    }
  }
}
