import RunCore
import Testing

@Suite("The answer to a question")
struct ReplyTests {
  private let question = MessageID(high: 1, low: 2)

  @Test("An answer and a failure are read as they were written, the empty and the longest too")
  func roundTrip() {
    let longest = Reply.answer([UInt8](repeating: 7, count: Reply.contentMax))
    for reply in [Reply.answer([]), .answer([1, 2, 3]), longest, .failed(""), .failed("the map is gone")] {
      let body = reply.body(to: question)
      let read = Reply.read(body)
      #expect(read?.question == question)
      #expect(read?.reply == reply)
      #expect(AppMessage(id: question, name: Reply.messageName, body: body).isCarried)
    }
  }

  @Test("A long reason is cut, and control characters in it are left out")
  func reason() {
    let body = Reply.failed("a\nb" + String(repeating: "x", count: 5000)).body(to: question)
    #expect(Reply.read(body)?.reply == .failed("ab" + String(repeating: "x", count: 1022)))
  }

  @Test("A body without a header is no answer, and one of an unknown kind is a failure")
  func unknown() {
    #expect(Reply.read([UInt8](repeating: 0, count: 16)) == nil)
    guard case .failed? = Reply.read(question.bytes + [9, 1])?.reply else {
      Issue.record("a kind of a later version was taken for an answer")
      return
    }
  }

  @Test("The bytes are those that docs/protocol.md describes")
  func golden() {
    let id = MessageID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10)
    #expect(Reply.answer([0xFF]).body(to: id) == Array(1...16) + [0, 0xFF])
    #expect(Reply.failed("no").body(to: id) == Array(1...16) + [1, 0x6E, 0x6F])
  }
}
