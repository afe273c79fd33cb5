/// The answers to requests that wait for a commit, by connection. A connection without a session can ask as often as it
/// likes; what the hub keeps for it until its disk has written is bounded here.
struct OwedAnswers: Sendable {
  /// The most answers of one connection, as many as a session may have.
  static let connectionMax = 16
  /// The most answers of all connections: 64 MB of the longest frames, while the disk stands still.
  static let totalMax = 1024

  /// What each connection is owed: the commands that the answers are about, `nil` for the answer to an inquiry.
  private var answers: [ConnectionID: [CommandID?]] = [:]
  private(set) var total = 0

  /// Whether one more answer to a connection may wait.
  func hasRoom(for connection: ConnectionID) -> Bool {
    total < Self.totalMax && (answers[connection]?.count ?? 0) < Self.connectionMax
  }

  /// Whether an answer to a connection waits. Later answers wait behind it.
  func isOwed(_ connection: ConnectionID) -> Bool { answers[connection] != nil }

  /// Whether an answer about a command waits. It answers all copies of the request that arrive before it is sent.
  func isOwed(_ connection: ConnectionID, about id: CommandID) -> Bool {
    answers[connection]?.contains(id) ?? false
  }

  /// Notes that one more answer waits.
  mutating func owe(to connection: ConnectionID, about id: CommandID? = nil) {
    answers[connection, default: []].append(id)
    total += 1
  }

  /// Notes that an answer is sent. Answers are sent in the order in which they were owed.
  mutating func pay(_ connection: ConnectionID) {
    guard answers[connection]?.isEmpty == false else { return }
    answers[connection]?.removeFirst()
    if answers[connection]?.isEmpty == true { answers[connection] = nil }
    total -= 1
  }
}
