/// The listeners of a node: shells that take messages, or answer questions, in the place of its app.
///
/// It decides who may listen, which question of a listener gets which message, and when a listener counts as gone. Who
/// drives it opens a reader for each listener and passes on what that reader is given, one message at a time.
///
///         take                 hand
///   ──▶ asking ◀───────┐ ┌──▶ working ──┐ report
///         │  3 s        ╲╱       │       │
///         ▼             ╱╲       │ 10 min, or 6 s without a word
///       idle ──hand──▶ holding   ▼       ▼
///                    (take)     gone    asking
package struct ListenerTable: Sendable {
  /// What the driver does.
  package enum Action: Hashable, Sendable {
    /// Answers the question of this number.
    case answer(MessageAnswer, UInt64)
    /// Refuses it.
    case refuse(InquiryFailure, UInt64)
    /// The reader's message is done with.
    case finish(ListenerID, ListenerReport.Outcome)
    /// Closes the listener's reader, which gives back a message that is not processed.
    case close(ListenerID)
  }

  /// More than scripts of one person need; a reader is open for each.
  package static let listenersMax = 16
  /// How long a question waits for a message. A listener that is gone is noticed with the next one.
  package static let questionMax = BusDuration.seconds(3)
  /// A listener that says nothing for so long is gone. It says every second that it is at work.
  package static let silenceMax = BusDuration.seconds(6)
  /// How long a listener may keep a message: while it does, no other message is given out. Longer than the longest
  /// `--exec-timeout` (10 min).
  package static let keepingMax = BusDuration.seconds(630)

  private enum State {
    /// Nothing is there for it, and it does not ask. Can go to: asking, holding.
    case idle
    /// Its question waits for a message until a moment. Can go to: idle, working.
    case asking(UInt64, until: BusTime)
    /// A message waits for its question. Can go to: working, idle.
    case holding(ReceivedMessage)
    /// It has this message until a moment. Can go to: idle, asking.
    case working(HandedMessage, until: BusTime)
  }

  private struct Listener {
    var state = State.idle
    var heardAt: BusTime
    /// When it is gone, or its question is answered.
    var due: BusTime {
      let gone = heardAt + ListenerTable.silenceMax
      return switch state {
      case .idle, .holding: gone
      case .asking(_, let until): until
      case .working(_, let until): min(gone, until)
      }
    }
  }

  private var listeners: [ListenerID: Listener] = [:]
  private var lastNumber: UInt64 = 0

  /// A table without listeners.
  package init() {}

  /// Whether a listener is registered.
  package func knows(_ id: ListenerID) -> Bool { listeners[id] != nil }
  /// Whether there is room for one more.
  package var hasRoom: Bool { listeners.count < Self.listenersMax }
  /// When ``meet(_:)`` has something to do.
  package var deadline: BusTime? { listeners.values.map(\.due).min() }

  /// Registers a listener whose reader is open. Its first question is answered at once, so that it knows.
  package mutating func add(_ id: ListenerID, question: UInt64, at now: BusTime) -> [Action] {
    listeners[id] = Listener(heardAt: now)
    return [.answer(.nothing, question)]
  }

  /// A registered listener asks for its next message.
  ///
  /// - Parameters:
  ///   - report: What became of the message before.
  ///   - question: The number of its question.
  package mutating func take(
    _ id: ListenerID, _ report: ListenerReport?, question: UInt64, at now: BusTime
  ) -> [Action] {
    guard var listener = listeners[id] else { return [.refuse(.listenerGone, question)] }
    listener.heardAt = now
    defer { listeners[id] = listener }
    let isOfItsMessage = report.map { isAt($0.number, listener) } ?? false
    if report?.outcome == .working {
      // A late word about a message that is done with is no question for the next one.
      return [isOfItsMessage ? .answer(.nothing, question) : .refuse(.listenerGone, question)]
    }
    var actions: [Action] = []
    if isOfItsMessage, let report {
      listener.state = .idle
      actions.append(.finish(id, report.outcome))
    }
    switch listener.state {
    case .idle: listener.state = .asking(question, until: now + Self.questionMax)
    case .asking(let earlier, _):
      actions.append(.answer(.nothing, earlier))
      listener.state = .asking(question, until: now + Self.questionMax)
    case .holding(let received): actions.append(handOut(received, to: question, &listener, at: now))
    // It asks as if it had none: the answer with it was lost.
    case .working(let handed, _): actions.append(.answer(.handed(handed), question))
    }
    return actions
  }

  private func isAt(_ number: UInt64, _ listener: Listener) -> Bool {
    if case .working(let handed, _) = listener.state { handed.number == number } else { false }
  }

  /// The listener's reader has a message for it. The reader gives the next one when this one is finished.
  package mutating func hand(_ received: ReceivedMessage, to id: ListenerID, at now: BusTime) -> [Action] {
    guard var listener = listeners[id] else { return [] }
    defer { listeners[id] = listener }
    guard case .asking(let question, _) = listener.state else {
      listener.state = .holding(received)
      return []
    }
    return [handOut(received, to: question, &listener, at: now)]
  }

  private mutating func handOut(
    _ received: ReceivedMessage, to question: UInt64, _ listener: inout Listener, at now: BusTime
  ) -> Action {
    lastNumber += 1
    let handed = HandedMessage(lastNumber, received)
    listener.state = .working(handed, until: now + Self.keepingMax)
    listener.heardAt = now
    return .answer(.handed(handed), question)
  }

  /// A listener ends.
  ///
  /// - Parameter report: What became of its last message.
  package mutating func leave(_ id: ListenerID, _ report: ListenerReport?, question: UInt64) -> [Action] {
    guard let listener = listeners.removeValue(forKey: id) else { return [.answer(.nothing, question)] }
    var actions: [Action] = []
    if case .asking(let earlier, _) = listener.state { actions.append(.answer(.nothing, earlier)) }
    if let report, report.outcome != .working, isAt(report.number, listener) {
      actions.append(.finish(id, report.outcome))
    }
    return actions + [.close(id), .answer(.nothing, question)]
  }

  /// Answers questions that have waited long enough, and closes listeners that are gone.
  package mutating func meet(_ now: BusTime) -> [Action] {
    var actions: [Action] = []
    for id in listeners.keys.sorted() {
      guard let listener = listeners[id], listener.due <= now else { continue }
      guard case .asking(let question, _) = listener.state else {
        listeners[id] = nil
        actions.append(.close(id))
        continue
      }
      listeners[id] = Listener(heardAt: now)
      actions.append(.answer(.nothing, question))
    }
    return actions
  }
}

extension InquiryFailure {
  /// A listener that the node does not know, or no longer, reports on a message.
  package static let listenerGone = Self(
    .tooLate, "this listener said nothing for too long, and its message was given back: it may run twice")
  /// The table of listeners is full.
  package static let tooManyListeners = Self(
    .full, "\(ListenerTable.listenersMax) listeners are at this node already: end one of them")
}
