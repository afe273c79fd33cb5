import RunCore

// Readers of messages: the desk calls them, and the core hears what they have done.
extension DrivenNode {
  /// Calls a handler for the messages whose names have no reader of their own.
  func serveMessages(
    _ handler: @escaping @Sendable (ReceivedMessage) async throws -> Void
  ) async throws(RunBusError) {
    try await openReader(nil).serve(handler)
  }

  /// Opens a reader of the messages of a name, or of all names that have no reader of their own.
  nonisolated func openReader(_ name: String?) throws(RunBusError) -> MessageReader {
    try desk.open(name) { [weak self] in
      guard let self else { return }
      loop.submit { self.assumeIsolated { $0.lookAtDesk() } }
    }
  }

  /// Tells the core what the app has done with its messages, and whether it handles any.
  func lookAtDesk() {
    let news = desk.news()
    for report in news.reports {
      switch report {
      case .handled(let stream, let sequence, let handlerGeneration):
        feed(.handled(stream, through: sequence, handlerGeneration: handlerGeneration))
      case .failed(let stream, let sequence, let reason): feed(.failed(stream, sequence, reason))
      }
    }
    if news.isGivingBack {
      setHandling(false)
      desk.finishGivingBack()
    }
    if desk.hasReaders { setHandling(true) }
  }

  private func setHandling(_ value: Bool) {
    guard driver.isHandling != value else { return }
    driver.isHandling = value
    feed(.handling(value))
  }
}
