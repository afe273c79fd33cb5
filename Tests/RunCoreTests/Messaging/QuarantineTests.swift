@testable import RunCore
import Testing

@Suite("Messages that wait for a person")
struct QuarantineTests {
  @Test("A message leaves the quarantine once, and its time follows the clock of this boot")
  func quarantine() {
    func message(_ id: UInt64) -> QuarantinedMessage {
      QuarantinedMessage(
        message: AppMessage(id: MessageID(high: 0, low: id), name: "m", body: []), receiver: StoreID(high: 1, low: 1),
        reason: "no", since: .zero + .seconds(10))
    }
    var quarantine = Quarantine([message(1)], shift: .seconds(-30))
    quarantine.add(message(2))
    let reports = quarantine.reports(at: .zero + .seconds(10)) { _ in DeviceID("phone") }
    #expect(reports.map(\.id.low) == [1, 2])
    #expect(reports.map(\.age) == [.seconds(30), .zero])
    #expect(quarantine.message(MessageID(high: 0, low: 1))?.message.name == "m")
    #expect(quarantine.remove(MessageID(high: 0, low: 1)).map(NodeLines.line) == "unquarantine 1")
    #expect(quarantine.remove(MessageID(high: 0, low: 1)).map(NodeLines.line) == nil)
    #expect(quarantine.message(MessageID(high: 0, low: 1)) == nil)
  }
}
