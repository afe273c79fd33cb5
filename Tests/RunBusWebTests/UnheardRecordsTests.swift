import RunBus
import Testing

@testable import RunBusWeb

@Suite("What a phone that does not run has changed")
struct UnheardRecordsTests {
  private func summary(_ run: UInt64, version: UInt64, title: String) -> RecordSummary {
    RecordSummary(
      runID: RunID(high: 0, low: run), version: version, deviceID: "watch", hubDeviceID: "phone", appVersion: "",
      startedAtUnixSeconds: 0, elapsed: .zero, active: .zero, title: title)
  }

  @Test("A removed run is hidden, a newer version of the phone is shown, and an older one is not")
  func newest() {
    let unheard = UnheardRecords(
      removed: [RunID(high: 0, low: 1)],
      kept: [summary(2, version: 3, title: "new"), summary(3, version: 1, title: "old")])
    #expect(unheard.newest(summary(1, version: 1, title: "gone")) == nil)
    #expect(unheard.newest(summary(2, version: 2, title: "copy"))?.title == "new")
    #expect(unheard.newest(summary(3, version: 2, title: "copy"))?.title == "copy")
    #expect(unheard.newest(summary(4, version: 1, title: "other"))?.title == "other")
  }
}
