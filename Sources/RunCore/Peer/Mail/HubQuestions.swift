/// Questions of the app that the hub has not answered. The hub answers in order, so an answer belongs to the oldest
/// question. All are asked again in every session.
struct HubQuestions: Sendable {
  /// Oldest first.
  private(set) var waiting: [Inquiry] = []

  /// Adds a question.
  mutating func add(_ question: Inquiry) { waiting.append(question) }

  /// Receives an answer; `false` when no question waits.
  mutating func receiveAnswer() -> Bool {
    guard !waiting.isEmpty else { return false }
    waiting.removeFirst()
    return true
  }
}
