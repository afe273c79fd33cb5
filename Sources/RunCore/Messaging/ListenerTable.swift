/// The listeners of a node: shells that take messages, or answer questions, in the place of its app.
///
/// It decides who may listen, which question of a listener gets which message, and when a listener counts as gone. Who
/// drives it opens a reader for each place and passes on what that reader is given, one message at a time. A place is named
/// after the listener that began it. Who is gone leaves it for a moment to a listener that waits for it, with its message.
///
///         take                 hand
///   ──▶ asking ◀───────┐ ┌──▶ working ──┐ report
///         │  3 s        ╲╱       │       │
///         ▼             ╱╲       │ 10 min, or 6 s without a word
///       idle ──hand──▶ holding   ▼       ▼
///                    (take)    vacant  asking
package struct ListenerTable: Sendable {
  /// What the driver does.
  package enum Action: Hashable, Sendable {
    /// Answers the question of this number.
    case answer(MessageAnswer, UInt64)
    /// Refuses it.
    case refuse(InquiryFailure, UInt64)
    /// The message of the reader of this place is done with.
    case finish(ListenerID, ListenerReport.Outcome)
    /// Closes the reader of this place, which gives back a message that is not processed.
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

  /// How long the place of one that is gone, and its message, wait for the next listener. One that waits for a place asks
  /// for it five times a second.
  package static let vacancyMax = BusDuration.seconds(1)

  private enum State {
    /// Nothing is there for it, and it does not ask. Can go to: asking, holding.
    case idle
    /// Its question waits for a message until a moment. Can go to: idle, working.
    case asking(UInt64, until: BusTime)
    /// A message waits for its question. Can go to: working, idle.
    case holding(ReceivedMessage)
    /// It has this message until a moment. Can go to: idle, asking.
    case working(HandedMessage, until: BusTime)
    /// Its listener is gone; the place waits for the next one until a moment. Can go to: idle, holding.
    case vacant(ReceivedMessage?, until: BusTime)
  }

  private struct Place {
    let topic: ListenerTopic
    var listener: ListenerID
    var state = State.idle
    var heardAt: BusTime
    /// When it is gone, or its question is answered.
    var due: BusTime {
      let gone = heardAt + ListenerTable.silenceMax
      return switch state {
      case .idle, .holding: gone
      case .asking(_, let until), .vacant(_, let until): until
      case .working(_, let until): min(gone, until)
      }
    }
    var isVacant: Bool { if case .vacant = state { true } else { false } }
    /// A question, and a live message that a listener has, is not given to a second one.
    var isGivenOnce: Bool {
      guard case .messages = topic else { return true }
      return if case .working(let handed, _) = state { handed.received.deliveryClass == .live } else { false }
    }
    /// What the next listener gets.
    var message: ReceivedMessage? {
      switch state {
      case .idle, .asking, .vacant: nil
      case .holding(let received): received
      case .working(let handed, _): handed.received
      }
    }
  }

  private var places: [ListenerID: Place] = [:]
  private var lastNumber: UInt64 = 0

  /// A table without listeners.
  package init() {}

  /// Whether a listener is registered.
  package func knows(_ id: ListenerID) -> Bool { place(of: id) != nil }
  /// Whether a place is open.
  package func has(place: ListenerID) -> Bool { places[place] != nil }
  /// Whether there is room for one more.
  package var hasRoom: Bool { places.count < Self.listenersMax }
  /// When ``meet(_:)`` has something to do.
  package var deadline: BusTime? { places.values.map(\.due).min() }

  private func place(of id: ListenerID) -> ListenerID? {
    places.first { $0.value.listener == id && !$0.value.isVacant }?.key
  }

  /// Registers a listener whose reader is open. Its first question is answered at once, so that it knows.
  package mutating func add(
    _ id: ListenerID, _ topic: ListenerTopic, question: UInt64, at now: BusTime
  ) -> [Action] {
    places[id] = Place(topic: topic, listener: id, heardAt: now)
    return [.answer(.nothing, question)]
  }

  /// Registers a listener in the place of one that is gone, whose message it gets.
  ///
  /// - Returns: what to do; `nil` when no place of this topic is vacant.
  package mutating func succeed(
    _ id: ListenerID, _ topic: ListenerTopic, question: UInt64, at now: BusTime
  ) -> [Action]? {
    guard let place = places.first(where: { $0.value.topic == topic && $0.value.isVacant })?.key,
      case .vacant(let received, _) = places[place]?.state
    else { return nil }
    places[place] = Place(topic: topic, listener: id, state: received.map { .holding($0) } ?? .idle, heardAt: now)
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
    guard let key = place(of: id), var place = places[key] else { return [.refuse(.listenerGone, question)] }
    place.heardAt = now
    defer { places[key] = place }
    let isOfItsMessage = report.map { isAt($0.number, place) } ?? false
    if report?.outcome == .working {
      // A late word about a message that is done with is no question for the next one.
      return [isOfItsMessage ? .answer(.nothing, question) : .refuse(.listenerGone, question)]
    }
    var actions: [Action] = []
    if isOfItsMessage, let report {
      place.state = .idle
      actions.append(.finish(key, report.outcome))
    }
    switch place.state {
    case .idle, .vacant: place.state = .asking(question, until: now + Self.questionMax)
    case .asking(let earlier, _):
      actions.append(.answer(.nothing, earlier))
      place.state = .asking(question, until: now + Self.questionMax)
    case .holding(let received): actions.append(handOut(received, to: question, &place, at: now))
    // It asks as if it had none: the answer with it was lost.
    case .working(let handed, _): actions.append(.answer(.handed(handed), question))
    }
    return actions
  }

  private func isAt(_ number: UInt64, _ place: Place) -> Bool {
    if case .working(let handed, _) = place.state { handed.number == number } else { false }
  }

  /// The reader of a place has a message for it. The reader gives the next one when this one is finished.
  package mutating func hand(_ received: ReceivedMessage, to key: ListenerID, at now: BusTime) -> [Action] {
    guard var place = places[key] else { return [] }
    defer { places[key] = place }
    switch place.state {
    case .asking(let question, _): return [handOut(received, to: question, &place, at: now)]
    case .vacant(_, let until): place.state = .vacant(received, until: until)
    case .idle, .holding, .working: place.state = .holding(received)
    }
    return []
  }

  private mutating func handOut(
    _ received: ReceivedMessage, to question: UInt64, _ place: inout Place, at now: BusTime
  ) -> Action {
    lastNumber += 1
    let handed = HandedMessage(lastNumber, received)
    place.state = .working(handed, until: now + Self.keepingMax)
    place.heardAt = now
    return .answer(.handed(handed), question)
  }

  /// A listener ends.
  ///
  /// - Parameter report: What became of its last message.
  package mutating func leave(_ id: ListenerID, _ report: ListenerReport?, question: UInt64) -> [Action] {
    guard let key = place(of: id), let place = places.removeValue(forKey: key) else {
      return [.answer(.nothing, question)]
    }
    var actions: [Action] = []
    if case .asking(let earlier, _) = place.state { actions.append(.answer(.nothing, earlier)) }
    if let report, report.outcome != .working, isAt(report.number, place) {
      actions.append(.finish(key, report.outcome))
    }
    return actions + [.close(key), .answer(.nothing, question)]
  }

  /// Answers questions that have waited long enough, vacates the places of listeners that are gone, and closes places that
  /// stayed vacant.
  package mutating func meet(_ now: BusTime) -> [Action] {
    var actions: [Action] = []
    for key in places.keys.sorted() {
      guard var place = places[key], place.due <= now else { continue }
      if case .asking(let question, _) = place.state {
        (place.state, place.heardAt) = (.idle, now)
        actions.append(.answer(.nothing, question))
        places[key] = place
      } else if !place.isVacant, !place.isGivenOnce {
        place.state = .vacant(place.message, until: now + Self.vacancyMax)
        places[key] = place
      } else {
        places[key] = nil
        actions.append(.close(key))
      }
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
