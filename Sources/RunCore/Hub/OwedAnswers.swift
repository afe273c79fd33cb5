/// How many answers to requests wait for a commit, by connection. A connection without a session can ask as often as it
/// likes; what the hub keeps for it until its disk has written is bounded here.
struct OwedAnswers: Sendable {
  /// The most answers of one connection, as many as a session may have.
  static let connectionMax = 16
  /// The most answers of all connections: 64 MB of the longest frames, while the disk stands still.
  static let totalMax = 1024

  private var counts: [ConnectionID: Int] = [:]
  private(set) var total = 0

  /// Whether one more answer to a connection may wait.
  func hasRoom(for connection: ConnectionID) -> Bool {
    total < Self.totalMax && counts[connection, default: 0] < Self.connectionMax
  }

  /// Whether an answer to a connection waits. Later answers wait behind it.
  func isOwed(_ connection: ConnectionID) -> Bool { counts[connection] != nil }

  /// Notes that one more answer waits.
  mutating func owe(to connection: ConnectionID) {
    counts[connection, default: 0] += 1
    total += 1
  }

  /// Notes that an answer is sent.
  mutating func pay(_ connection: ConnectionID) {
    guard let count = counts[connection] else { return }
    counts[connection] = count > 1 ? count - 1 : nil
    total -= 1
  }
}
