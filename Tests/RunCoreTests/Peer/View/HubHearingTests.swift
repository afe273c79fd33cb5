@testable import RunCore
import Testing

@Suite("When a peer last heard its hub")
struct HubHearingTests {
  private static func seconds(_ count: Int64) -> BusTime { .zero + .seconds(count) }

  @Test("The hub is silent three intervals after it was last heard")
  func silence() {
    var hearing = HubHearing(silence: .seconds(30))
    #expect(hearing.silentAt == nil)
    hearing.hear(at: Self.seconds(10))
    #expect(hearing.silentAt == Self.seconds(40) && hearing.heardAt == Self.seconds(10))
    hearing.setSilence(.seconds(6))
    #expect(hearing.silentAt == Self.seconds(16))
  }

  @Test("A shorter silence counts from now, and never makes the present one longer")
  func shorter() {
    var hearing = HubHearing(silence: .seconds(30))
    hearing.hear(at: Self.seconds(10))
    hearing.shorten(to: .seconds(6), at: Self.seconds(30))
    #expect(hearing.silentAt == Self.seconds(36))
    hearing.shorten(to: .seconds(6), at: Self.seconds(35))
    #expect(hearing.silentAt == Self.seconds(36))
    hearing.hear(at: Self.seconds(36))
    #expect(hearing.silentAt == Self.seconds(42))
  }

  @Test("Answers belong to questions in the order in which these were asked")
  func questions() {
    var questions = HubQuestions()
    let early = questions.receiveAnswer()
    #expect(!early)
    questions.add(.peers)
    questions.add(.report)
    let isTaken = questions.receiveAnswer()
    #expect(isTaken && questions.waiting == [.report])
  }
}
