/// Inquiries that wait for a record that is being made or received, oldest first.
struct RecordQuestions: Sendable {
  private struct Question {
    let inquiry: Inquiry
    let number: UInt64
    let until: BusTime
  }

  /// How long an inquiry waits, in real time. It is shorter than the client's timeout (5 s), and longer than a journal
  /// takes to read (a second at most).
  static let patience = BusDuration.seconds(3)
  /// How many of them wait at a time. The node answers any further one at once with the records that it has.
  static let waitingMax = 64

  private var waiting: [Question] = []

  var isEmpty: Bool { waiting.isEmpty }
  /// When the oldest inquiry must be answered.
  var deadline: BusTime? { waiting.first?.until }

  /// Lets an inquiry wait until a moment; `false` if too many wait.
  mutating func add(_ inquiry: Inquiry, _ number: UInt64, until: BusTime) -> Bool {
    guard waiting.count < Self.waitingMax else { return false }
    waiting.append(Question(inquiry: inquiry, number: number, until: until))
    return true
  }

  /// Removes and returns the oldest inquiry if it has to be answered.
  ///
  /// - Parameter isComplete: whether no record is awaited any more.
  mutating func takeDue(isComplete: Bool, at now: BusTime) -> (inquiry: Inquiry, number: UInt64)? {
    guard let first = waiting.first, first.until <= now || isComplete else { return nil }
    waiting.removeFirst()
    return (first.inquiry, first.number)
  }
}
