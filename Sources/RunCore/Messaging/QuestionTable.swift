/// The questions that a node has asked with live messages, and those that wait for its app's handlers.
///
/// It decides which answer belongs to which question, and how many questions there may be. Each bound of a name has a
/// share for one device, so that a device that floods a handler takes no room from the others.
package struct QuestionTable: Sendable {
  /// What a live message is for the node.
  package enum Incoming: Hashable, Sendable {
    /// The answer to a question that has none yet.
    case answer(to: MessageID, Reply)
    /// A question for the handler of its name.
    case question
    /// A question without room, or an answer that no question waits for from this device.
    case dropped
    /// A message for the app's readers.
    case other
  }

  /// Questions without an answer that this node may have: more than people or screens ask at once, and 8 MiB of answers.
  package static let askedMax = 256
  /// Questions of one name that wait for its handler, of all devices and of one.
  package static let waitingMax = 256
  package static let waitingOfOneMax = 64

  /// The device that may answer each question; `nil` for any, on a peer, which hears its hub only.
  private var asked: [MessageID: DeviceID?] = [:]
  /// For each name that has a handler, how many questions of each device wait.
  private var waiting: [String: [DeviceID: Int]] = [:]

  /// A table without questions and handlers.
  package init() {}

  // MARK: Asking

  /// Notes a question that is about to be sent.
  ///
  /// - Parameter device: The device that may answer.
  /// - Returns: `false` when too many questions have no answer: this one must not be sent.
  package mutating func ask(_ question: MessageID, of device: DeviceID?) -> Bool {
    guard asked.count < Self.askedMax else { return false }
    asked[question] = .some(device)
    return true
  }

  /// Forgets a question: an answer that comes later is dropped.
  package mutating func forget(_ question: MessageID) { asked[question] = nil }

  // MARK: Answering

  /// Opens a handler for the questions of a name; `false` when there is one already.
  package mutating func open(_ name: String) -> Bool {
    guard waiting[name] == nil else { return false }
    waiting[name] = [:]
    return true
  }

  /// Closes a handler. The questions that wait for it get no answer.
  package mutating func close(_ name: String) { waiting[name] = nil }

  /// The handler of a name begins with a question of a device.
  package mutating func begin(_ name: String, from device: DeviceID) {
    guard let count = waiting[name]?[device] else { return }
    waiting[name]?[device] = count > 1 ? count - 1 : nil
  }

  // MARK: Messages

  /// Sorts a message that has arrived.
  package mutating func receive(_ received: ReceivedMessage) -> Incoming {
    guard received.deliveryClass == .live else { return .other }
    let message = received.message
    if message.name == Reply.messageName {
      guard let (question, reply) = Reply.read(message.body), let device = asked[question],
        device ?? received.from == received.from
      else { return .dropped }
      asked[question] = nil
      return .answer(to: question, reply)
    }
    guard let counts = waiting[message.name] else { return .other }
    guard counts.values.reduce(0, +) < Self.waitingMax, counts[received.from, default: 0] < Self.waitingOfOneMax else {
      return .dropped
    }
    waiting[message.name]?[received.from, default: 0] += 1
    return .question
  }
}
