import RunCore

// Readers of messages: they take them from a queue, and the core hears what they have done.
extension DrivenNode {
  /// Calls a handler for the messages whose names have no reader of their own.
  func serveMessages(
    _ handler: @escaping @Sendable (ReceivedMessage) async throws -> Void
  ) async throws(RunBusError) {
    try await openReader(nil).serve(handler)
  }

  /// Opens a reader of the messages of a name, or of all names that have no reader of their own.
  ///
  /// - Parameter isVisitor: Whether it listens in the place of the app.
  nonisolated func openReader(_ name: String?, isVisitor: Bool = false) throws(RunBusError) -> MessageReader {
    try readers.open(name, isVisitor: isVisitor) { [weak self] in
      guard let self else { return }
      loop.submit { self.assumeIsolated { $0.lookAtReaders() } }
    }
  }

  /// Tells the core what the app has done with its messages, and whether it handles any.
  func lookAtReaders() {
    let news = readers.news()
    for report in news.reports {
      switch report {
      case .handled(let stream, let sequence, let handlerGeneration):
        feed(.handled(stream, through: sequence, handlerGeneration: handlerGeneration))
      case .failed(let stream, let sequence, let reason): feed(.failed(stream, sequence, reason))
      }
    }
    if news.isGivingBack {
      setHandling(false)
      readers.finishGivingBack()
    }
    if readers.hasReaders { setHandling(true) }
  }

  private func setHandling(_ value: Bool) {
    guard driver.isHandling != value else { return }
    driver.isHandling = value
    feed(.handling(value))
  }
}
