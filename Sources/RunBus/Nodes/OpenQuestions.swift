import RunCore
import Synchronization

/// The questions that a node has asked with live messages, and those that its app answers; see
/// ``RunCore/QuestionTable``. It is safe to use from any thread.
final class OpenQuestions: Sendable {
  typealias Answer = Result<[UInt8], any Error>

  private struct Question {
    var answer: Answer?
    var waiter: CheckedContinuation<Answer, Never>?
  }
  private struct State {
    var table = QuestionTable()
    var asked: [MessageID: Question] = [:]
    var answering: [String: AsyncStream<ReceivedMessage>.Continuation] = [:]
    var end: RunBusError?
  }
  private let state = Mutex(State())

  // MARK: Messages that arrive

  /// Takes out the live messages that are answers, or questions that the app answers. They do not wait for the app's
  /// other messages: a handler may ask a question itself.
  ///
  /// - Returns: the messages for the app's readers.
  func take(from calls: [HandlerCall]) -> [HandlerCall] {
    calls.filter { call in
      let (incoming, questions) = state.withLock { state in
        (state.table.receive(call.received), state.answering[call.received.message.name])
      }
      switch incoming {
      case .answer(let question, .answer(let content)): finish(question, .success(content))
      case .answer(let question, .failed(let reason)):
        finish(question, .failure(RunBusError(.refused, "\(call.received.from) gave no answer: \(reason)")))
      case .question: questions?.yield(call.received)
      case .dropped: break
      case .other: return true
      }
      return false
    }
  }

  // MARK: Asking

  /// Begins to wait for an answer; the question may then be sent.
  ///
  /// - Parameter device: The device that may answer; `nil` for any, on a peer, which hears its hub only.
  func ask(_ question: MessageID, of device: DeviceID?) throws(RunBusError) {
    let refusal = state.withLock { state -> RunBusError? in
      if let end = state.end { return end }
      guard state.table.ask(question, of: device) else {
        return RunBusError(.full, "\(QuestionTable.askedMax) questions have no answer yet: this one was not asked")
      }
      state.asked[question] = Question()
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
      finish(question, .failure(CancellationError()))
    }
  }

  /// Ends the waiting for an answer. Only the first end of a question has an effect.
  func finish(_ question: MessageID, _ answer: Answer) {
    let waiter = state.withLock { state -> CheckedContinuation<Answer, Never>? in
      guard state.asked[question]?.answer == nil else { return nil }
      state.asked[question]?.answer = answer
      defer { state.asked[question]?.waiter = nil }
      return state.asked[question]?.waiter
    }
    waiter?.resume(returning: answer)
  }

  /// Forgets a question; an answer that arrives later is dropped.
  func forget(_ question: MessageID) {
    state.withLock { state in
      state.asked[question] = nil
      state.table.forget(question)
    }
  }

  // MARK: Answering

  /// The questions of a name from now on.
  ///
  /// - Throws: ``RunBusError/Code/alreadyHandled`` when the name has a handler.
  func questions(named name: String) throws(RunBusError) -> AsyncStream<ReceivedMessage> {
    // The table bounds what waits in the stream.
    let (stream, continuation) = AsyncStream.makeStream(
      of: ReceivedMessage.self, bufferingPolicy: .bufferingOldest(QuestionTable.waitingMax))
    let (isTaken, hasEnded) = state.withLock { state in
      if state.end != nil { return (false, true) }
      guard state.table.open(name) else { return (true, false) }
      state.answering[name] = continuation
      return (false, false)
    }
    if isTaken { throw RunBusError(.alreadyHandled, "this node has a handler for questions named \"\(name)\" already") }
    if hasEnded { continuation.finish() }
    return stream
  }

  /// The handler begins with a question, which makes room for another one.
  func begin(_ question: ReceivedMessage) {
    state.withLock { $0.table.begin(question.message.name, from: question.from) }
  }

  /// Answers questions of a name no more.
  func stopAnswering(_ name: String) {
    let questions = state.withLock { state in
      state.table.close(name)
      return state.answering.removeValue(forKey: name)
    }
    questions?.finish()
  }

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
