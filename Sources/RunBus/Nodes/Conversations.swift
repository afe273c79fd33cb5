import RunCore
import Synchronization

/// The questions that a node has asked with live messages, and those that its app answers. It is safe to use from any
/// thread.
final class Conversations: Sendable {
  typealias Answer = Result<[UInt8], any Error>

  private struct Question {
    /// The device that may answer.
    let device: DeviceID?
    var answer: Answer?
    var waiter: CheckedContinuation<Answer, Never>?
  }
  private struct State {
    var asked: [MessageID: Question] = [:]
    var answering: [String: AsyncStream<ReceivedMessage>.Continuation] = [:]
    var end: RunBusError?
  }
  /// Questions that this node may have asked at a time: more than people or screens ask at once, and 8 MiB of answers.
  static let askedMax = 256
  /// Questions that wait for a handler; the node drops further ones, and their senders hear nothing in time.
  static let waitingMax = 64
  private let state = Mutex(State())

  // MARK: Messages that arrive

  /// Takes out the live messages that are answers, or questions that the app answers. They do not wait for the app's
  /// other messages: a handler may ask a question itself.
  func take(from calls: [HandlerCall]) -> [HandlerCall] {
    calls.filter { call in
      guard call.received.deliveryClass == .live else { return true }
      let message = call.received.message
      if message.name == Reply.messageName {
        if let (question, reply) = Reply.read(message.body) { take(reply, to: question, from: call.received.from) }
        return false
      }
      guard let questions = state.withLock({ $0.answering[message.name] }) else { return true }
      questions.yield(call.received)
      return false
    }
  }

  private func take(_ reply: Reply, to question: MessageID, from device: DeviceID) {
    guard state.withLock({ $0.asked[question].map { $0.device ?? device } }) == device else { return }
    switch reply {
    case .answer(let content): settle(question, .success(content))
    case .failed(let reason): settle(question, .failure(RunBusError(.refused, "\(device) gave no answer: \(reason)")))
    }
  }

  // MARK: Asking

  /// Begins to wait for an answer; the question may then be sent.
  ///
  /// - Parameter device: The device that may answer; `nil` for any, on a peer, which hears its hub only.
  func ask(_ question: MessageID, of device: DeviceID?) throws(RunBusError) {
    let refusal = state.withLock { state -> RunBusError? in
      if let end = state.end { return end }
      guard state.asked.count < Self.askedMax else {
        return RunBusError(.full, "\(Self.askedMax) questions have no answer yet: this one was not asked")
      }
      state.asked[question] = Question(device: device)
      return nil
    }
    if let refusal { throw refusal }
  }

  /// Waits for the answer to a question. Cancelling the task ends the waiting.
  func answer(to question: MessageID, isolation: isolated any Actor) async -> Answer {
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: isolation) { continuation in
        let early = state.withLock { state -> Answer? in
          if Task.isCancelled { return .failure(CancellationError()) }
          guard let asked = state.asked[question] else {
            return .failure(state.end ?? RunBusError(.closed, "the node has ended"))
          }
          if let answer = asked.answer { return answer }
          state.asked[question]?.waiter = continuation
          return nil
        }
        if let early { continuation.resume(returning: early) }
      }
    } onCancel: {
      settle(question, .failure(CancellationError()))
    }
  }

  /// Answers a question, if nobody has yet.
  func settle(_ question: MessageID, _ answer: Answer) {
    let waiter = state.withLock { state -> CheckedContinuation<Answer, Never>? in
      guard state.asked[question]?.answer == nil else { return nil }
      state.asked[question]?.answer = answer
      defer { state.asked[question]?.waiter = nil }
      return state.asked[question]?.waiter
    }
    waiter?.resume(returning: answer)
  }

  /// Forgets a question; an answer that arrives later is dropped.
  func forget(_ question: MessageID) { state.withLock { $0.asked[question] = nil } }

  // MARK: Answering

  /// The questions of a name from now on.
  ///
  /// - Throws: ``RunBusError/Code/alreadyHandled`` when somebody answers them already.
  func questions(named name: String) throws(RunBusError) -> AsyncStream<ReceivedMessage> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: ReceivedMessage.self, bufferingPolicy: .bufferingOldest(Self.waitingMax))
    let (isTaken, hasEnded) = state.withLock { state in
      if state.end != nil { return (false, true) }
      if state.answering[name] != nil { return (true, false) }
      state.answering[name] = continuation
      return (false, false)
    }
    if isTaken { throw RunBusError(.alreadyHandled, "this node has a handler for questions named \"\(name)\" already") }
    if hasEnded { continuation.finish() }
    return stream
  }

  /// Answers questions of a name no more.
  func stopAnswering(_ name: String) { state.withLock { $0.answering.removeValue(forKey: name) }?.finish() }

  // MARK: The end

  /// Fails all questions and ends all handlers.
  func end(_ error: RunBusError) {
    let old = state.withLock { state in
      let old = state
      state = State(end: error)
      return old
    }
    for question in old.asked.values { question.waiter?.resume(returning: .failure(error)) }
    for questions in old.answering.values { questions.finish() }
  }
}
