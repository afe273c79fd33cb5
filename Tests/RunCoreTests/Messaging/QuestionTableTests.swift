import RunCore
import Testing

@Suite("Questions and answers as a node sorts them")
struct QuestionTableTests {
  private let watch = DeviceID("watch")
  private let widget = DeviceID("widget")
  private var table = QuestionTable()

  private func id(_ number: UInt64) -> MessageID { MessageID(high: 7, low: number) }

  private func live(_ name: String, _ body: [UInt8] = [], from device: DeviceID) -> ReceivedMessage {
    ReceivedMessage(message: AppMessage(id: id(99), name: name, body: body), from: device, deliveryClass: .live)
  }

  private mutating func answer(_ number: UInt64, from device: DeviceID) -> QuestionTable.Incoming {
    table.receive(live(Reply.messageName, Reply.answer([1]).body(to: id(number)), from: device))
  }

  @Test("An answer counts once, from the device that was asked, and not after the question was forgotten")
  mutating func answers() {
    #expect(table.ask(id(1), of: watch) == true)
    #expect(answer(1, from: widget) == .dropped)
    #expect(answer(2, from: watch) == .dropped)
    #expect(answer(1, from: watch) == .answer(to: id(1), .answer([1])))
    #expect(answer(1, from: watch) == .dropped)
    // A peer hears its hub only, so it names no device.
    #expect(table.ask(id(3), of: nil) == true)
    table.forget(id(3))
    #expect(answer(3, from: watch) == .dropped)
    #expect(table.receive(live(Reply.messageName, [1, 2], from: watch)) == .dropped)
  }

  @Test("A node has at most 256 questions without an answer")
  mutating func asked() {
    for number in 0..<256 as Range<UInt64> { #expect(table.ask(id(number), of: watch) == true) }
    #expect(table.ask(id(256), of: watch) == false)
    #expect(answer(5, from: watch) == .answer(to: id(5), .answer([1])))
    #expect(table.ask(id(256), of: watch) == true)
  }

  @Test("Of a name without a handler, and of other classes, nothing is a question")
  mutating func others() {
    #expect(table.receive(live("battery", from: watch)) == .other)
    #expect(table.open("battery") == true)
    #expect(table.open("battery") == false)
    let queued = ReceivedMessage(
      message: AppMessage(id: id(1), name: "battery", body: []), from: watch, deliveryClass: .queued)
    #expect(table.receive(queued) == .other)
    #expect(table.receive(live("battery", from: watch)) == .question)
    table.close("battery")
    #expect(table.receive(live("battery", from: watch)) == .other)
  }

  // Once broken: One device could fill the tables of unanswered questions and unhandled live messages, so that those of
  // the others were refused, because the bounds counted all devices together.
  @Test("A device that floods a handler with questions takes no room from the others")
  mutating func flood() {
    #expect(table.open("battery") == true)
    let taken = (0..<1000).count { _ in table.receive(live("battery", from: watch)) == .question }
    #expect(taken == QuestionTable.waitingOfOneMax)
    #expect(table.receive(live("battery", from: widget)) == .question)
    // Many devices together have a bound, too.
    let crowd = (0..<100).flatMap { number in
      (0..<64).map { _ in table.receive(live("battery", from: DeviceID("device\(number)")!)) }
    }
    #expect(crowd.count { $0 == .question } == QuestionTable.waitingMax - taken - 1)
    // The handler makes room by beginning with a question.
    #expect(table.receive(live("battery", from: watch)) == .dropped)
    table.begin("battery", from: watch)
    #expect(table.receive(live("battery", from: watch)) == .question)
    #expect(table.receive(live("battery", from: watch)) == .dropped)
  }
}
