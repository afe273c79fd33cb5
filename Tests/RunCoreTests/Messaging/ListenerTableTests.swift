import Testing

@testable import RunCore

@Suite("The table of listeners at a node")
struct ListenerTableTests {
  /// A table whose listeners are numbers, at a time in seconds. Actions are words.
  private struct Stage {
    var table = ListenerTable()
    var seconds: Double = 0
    private var questions: UInt64 = 0
    private var now: BusTime { .zero + BusDuration(seconds: seconds) }
    private func id(_ number: UInt64) -> ListenerID { ListenerID(high: 0, low: number) }

    private mutating func next() -> UInt64 {
      questions += 1
      return questions
    }
    mutating func add(_ number: UInt64, _ topic: ListenerTopic = .messages("a")) -> [String] {
      words(table.add(id(number), topic, question: next(), at: now))
    }
    mutating func succeed(_ number: UInt64, _ topic: ListenerTopic = .messages("a")) -> [String]? {
      table.succeed(id(number), topic, question: next(), at: now).map(words)
    }
    mutating func ask(_ number: UInt64, _ report: (UInt64, ListenerReport.Outcome)? = nil) -> [String] {
      let report = report.map { ListenerReport($0.0, $0.1) }
      return words(table.take(id(number), report, question: next(), at: now))
    }
    mutating func hand(_ name: String, to number: UInt64, by way: DeliveryClass = .queued) -> [String] {
      let message = AppMessage(id: MessageID(high: 0, low: 1), name: name, body: [])
      return words(
        table.hand(
          ReceivedMessage(message: message, from: .watch, deliveryClass: way), to: id(number), at: now))
    }
    mutating func leave(_ number: UInt64, _ report: (UInt64, ListenerReport.Outcome)? = nil) -> [String] {
      let report = report.map { ListenerReport($0.0, $0.1) }
      return words(table.leave(id(number), report, question: next()))
    }
    mutating func meet() -> [String] { words(table.meet(now)) }
    /// When something is due, in seconds.
    var due: Double? { table.deadline.map { ($0 - .zero).seconds } }

    private func words(_ actions: [ListenerTable.Action]) -> [String] {
      actions.map { action in
        switch action {
        case .answer(.nothing, let question): "q\(question): nothing"
        case .answer(.handed(let handed), let question):
          "q\(question): \(handed.received.message.name) is \(handed.number)"
        case .answer(let answer, let question): "q\(question): \(answer)"
        case .refuse(let failure, let question): "q\(question): \(failure.code)"
        case .finish(let id, let outcome): "\(id.low) finishes: \(outcome)"
        case .close(let id): "\(id.low) closes"
        }
      }
    }
  }
  private var stage = Stage()

  @Test("A listener is told at once that it listens, gets one message at a time, and reports with its next question")
  mutating func life() {
    #expect(stage.add(1) == ["q1: nothing"])
    #expect(stage.ask(1) == [])
    #expect(stage.hand("a", to: 1) == ["q2: a is 1"])
    #expect(stage.ask(1, (1, .processed)) == ["1 finishes: processed"])
    #expect(stage.hand("b", to: 1) == ["q3: b is 2"])
    #expect(stage.ask(1, (2, .failed("full"))) == ["1 finishes: failed(\"full\")"])
    #expect(stage.leave(1) == ["q4: nothing", "1 closes", "q5: nothing"])
    #expect(stage.due == nil)
  }

  @Test("A message that comes between two questions waits for the next one")
  mutating func holding() {
    _ = stage.add(1)
    #expect(stage.hand("a", to: 1) == [])
    #expect(stage.ask(1) == ["q2: a is 1"])
  }

  @Test("A question is answered after 3 s, and a listener that says nothing for 6 s more is gone")
  mutating func silence() {
    _ = stage.add(1)
    _ = stage.ask(1)
    #expect(stage.due == 3)
    stage.seconds = 2.9
    #expect(stage.meet() == [])
    stage.seconds = 3
    #expect(stage.meet() == ["q2: nothing"])
    #expect(stage.due == 9)
    stage.seconds = 9
    #expect(stage.meet() == [])
    #expect(stage.ask(1) == ["q3: tooLate"])
    stage.seconds = 10
    #expect(stage.meet() == ["1 closes"])
  }

  @Test("A listener that says that it is at work keeps its message, for ten and a half minutes at most")
  mutating func working() {
    _ = stage.add(1)
    _ = stage.ask(1)
    _ = stage.hand("a", to: 1)
    while stage.seconds < 625 {
      stage.seconds += 5
      #expect(stage.meet() == [])
      #expect(stage.ask(1, (1, .working)).allSatisfy { $0.hasSuffix("nothing") })
    }
    stage.seconds = 630
    #expect(stage.meet() == [])
    #expect(stage.ask(1, (1, .working)).allSatisfy { $0.hasSuffix("tooLate") })
    stage.seconds = 631
    #expect(stage.meet() == ["1 closes"])
  }

  @Test("One that has a message and says nothing for 6 s is gone, also when its question was answered to nobody")
  mutating func killed() {
    _ = stage.add(1)
    _ = stage.ask(1)
    stage.seconds = 2
    _ = stage.hand("a", to: 1)
    #expect(stage.due == 8)
    stage.seconds = 8
    #expect(stage.meet() == [])
    #expect(stage.due == 9)
    stage.seconds = 9
    #expect(stage.meet() == ["1 closes"])
    #expect(stage.due == nil)
  }

  // Otherwise the app would take the message before the listener that waits for the place.
  @Test("The message of one that is gone is for the listener that takes its place, for a second")
  mutating func succession() {
    _ = stage.add(1)
    _ = stage.ask(1)
    _ = stage.hand("a", to: 1)
    #expect(stage.succeed(2) == nil)
    stage.seconds = 6
    #expect(stage.meet() == [])
    #expect(stage.succeed(2, .messages("b")) == nil)
    #expect(stage.succeed(2) == ["q5: nothing"])
    #expect(stage.succeed(3) == nil)
    #expect(stage.ask(1, (1, .processed)) == ["q7: tooLate"])
    #expect(stage.ask(2) == ["q8: a is 2"])
    #expect(stage.ask(2, (2, .processed)) == ["1 finishes: processed"])
    #expect(stage.leave(2) == ["q9: nothing", "1 closes", "q10: nothing"])
  }

  @Test("A message that comes to a place that is vacant waits for the next listener")
  mutating func vacancy() {
    _ = stage.add(1)
    stage.seconds = 6
    #expect(stage.meet() == [])
    #expect(stage.hand("a", to: 1) == [])
    _ = stage.succeed(2)
    #expect(stage.ask(2) == ["q3: a is 1"])
  }

  @Test("A live message is not given to a second listener, nor is a question")
  mutating func once() {
    _ = stage.add(1)
    _ = stage.ask(1)
    _ = stage.hand("a", to: 1, by: .live)
    _ = stage.add(2, .questions("a"))
    stage.seconds = 6
    #expect(stage.meet() == ["1 closes", "2 closes"])
  }

  // Otherwise the next message would be the answer to a question that nobody waits for.
  @Test("A late word about a message that is done with is no question for the next one")
  mutating func late() {
    _ = stage.add(1)
    _ = stage.ask(1)
    _ = stage.hand("a", to: 1)
    #expect(stage.ask(1, (1, .processed)) == ["1 finishes: processed"])
    #expect(stage.ask(1, (1, .working)) == ["q4: tooLate"])
    #expect(stage.hand("b", to: 1) == ["q3: b is 2"])
    // A report on another message than its own finishes nothing: it is given its own again.
    #expect(stage.ask(1, (1, .processed)) == ["q5: b is 2"])
    #expect(stage.ask(1, (2, .processed)) == ["1 finishes: processed"])
  }

  @Test("A second question answers the first, so that a listener has one at a time")
  mutating func twice() {
    _ = stage.add(1)
    #expect(stage.ask(1) == [])
    #expect(stage.ask(1) == ["q2: nothing"])
    #expect(stage.hand("a", to: 1) == ["q3: a is 1"])
  }

  @Test("A listener ends with a report, or without one and its reader gives the message back")
  mutating func leaving() {
    _ = stage.add(1)
    _ = stage.ask(1)
    _ = stage.hand("a", to: 1)
    #expect(stage.leave(1, (1, .answer([7]))) == ["1 finishes: answer([7])", "1 closes", "q3: nothing"])
    _ = stage.add(2)
    _ = stage.ask(2)
    _ = stage.hand("b", to: 2)
    #expect(stage.leave(2) == ["2 closes", "q6: nothing"])
    #expect(stage.leave(2) == ["q7: nothing"])
  }

  @Test("There is room for 16")
  mutating func bound() {
    for number in 1...16 as ClosedRange<UInt64> {
      #expect(stage.table.hasRoom)
      _ = stage.add(number)
    }
    #expect(!stage.table.hasRoom)
    _ = stage.leave(3)
    #expect(stage.table.hasRoom)
  }
}

@Suite("Questions about newest values")
struct ValueReplyTests {
  private let reports = [
    ValueReport(key: "units", from: .watch, name: "u", bytes: 2, age: .seconds(3)),
    ValueReport(key: "face", from: .widget, name: "f", bytes: 1, age: nil),
    ValueReport(key: "units", from: .widget, name: "u", bytes: 5, age: nil),
  ]
  private func answer(_ inquiry: MessageInquiry) -> InquiryAnswer? {
    let reply = inquiry.reply(reports) { key, device in
      AppMessage(id: MessageID(high: 0, low: 1), name: "\(key) of \(device)", body: [])
    }
    return switch reply {
    case .atOnce(let answer), .durably(let answer, _): answer
    case .read: nil
    }
  }

  @Test("A list goes on from an index, and states how many there are")
  func list() {
    #expect(answer(.values(from: 0)) == .messages(.values(reports, total: 3)))
    #expect(answer(.values(from: 2)) == .messages(.values([reports[2]], total: 3)))
    #expect(answer(.values(from: 9)) == .messages(.values([], total: 3)))
  }

  @Test("A value is that of its only sender, or of the one that is named")
  func value() {
    func name(_ key: String, _ device: DeviceID?) -> String? {
      guard case .messages(.value(let message, _)) = answer(.value(key: key, from: device)) else { return nil }
      return message.name
    }
    func failure(_ key: String, _ device: DeviceID?) -> InquiryFailure.Code? {
      guard case .failed(let failure) = answer(.value(key: key, from: device)) else { return nil }
      return failure.code
    }
    #expect(name("face", nil) == "face of widget")
    #expect(name("units", .watch) == "units of watch")
    #expect(failure("units", nil) == .invalid)
    #expect(failure("face", .watch) == .notFound)
    #expect(failure("goal", nil) == .notFound)
  }
}
