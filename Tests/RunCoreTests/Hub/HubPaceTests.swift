import Foundation
@testable import RunCore
import TestSupport
import Testing

/// docs/security.md, "Paces": a paired device that is too fast waits, and others notice nothing.
@Suite("How fast a paired device may be")
struct HubPaceTests {
  private func joined() -> HubStage {
    var hub = HubStage.pairing([.test(1, "watch"), .test(2, "band")])
    for (name, key) in [("watch", 1), ("band", 2)] as [(String, UInt8)] { _ = hub.joins(name, key: key) }
    return hub
  }

  private func hello(_ hub: HubStage, store: UInt64) -> PeerMessage {
    var hello = hub.greeting("watch", nonce: store)
    hello.storeID = StoreID(high: 77, low: store)
    return .hello(hello)
  }

  private func readings(_ range: Range<UInt64>) -> PeerMessage {
    .samples(
      range.map { SampleTransmission(sequence: $0, moment: .age(.zero), value: .heartRate(bpm: 150), runID: nil) })
  }

  // Once broken: A paired device that said hello with ever new stores made others wait for half a second: each hello
  // was a write, because only commands had a pace.
  @Test("Hellos with ever new stores are answered at their pace, and cost no write beyond it")
  func hellos() {
    var hub = joined()
    var welcomes = 0
    for store in 1...UInt64(3 * PacedKind.hellos.burst) {
      let lines = hub.says("watch", hello(hub, store: store), session: 0, by: .key(1))
      if !lines.contains("watch ← refused tooFast") {
        welcomes += 1
      } else {
        #expect(lines == ["watch ← refused tooFast"])
      }
      hub.commitsAll()
    }
    // It has said hello once before.
    #expect(welcomes == PacedKind.hellos.burst - 1)
    #expect(hub.joins("band", key: 2, nonce: 2).contains { $0.hasPrefix("band ← welcome") })
    hub.passes(.seconds(2))
    #expect(hub.says("watch", hello(hub, store: 1000), session: 0, by: .key(1)) != ["watch ← refused tooFast"])
  }

  // Once broken: A million readings of a paired device made presses of others wait for seconds, because a reading was
  // accepted as soon as it was read.
  @Test("A flight of readings is accepted at once; what comes faster waits and is not lost")
  func readingsWait() {
    var hub = joined()
    let most = UInt64(PacedKind.readings.burst)
    for first in stride(from: 1, through: most + 2000, by: 256) {
      _ = hub.says("watch", readings(first..<first + 256), by: .key(1))
    }
    let lines = hub.passes(.seconds(3))
    #expect(lines.contains("watch ← samples to \(most)"), "\(lines.suffix(5))")
    // The device goes back to what is not acknowledged.
    _ = hub.says("watch", readings(most + 1..<most + 2000), by: .key(1))
    #expect(hub.passes(.seconds(3)).contains("watch ← samples to \(most + 1500)"))
    // Readings that are known already do not count.
    for _ in 0..<100 { _ = hub.says("watch", readings(1..<257), by: .key(1)) }
    _ = hub.says("watch", readings(most + 1501..<most + 2000), by: .key(1))
    #expect(hub.passes(.seconds(3)).contains("watch ← samples to \(most + 1999)"))
  }

  @Test("Another device's readings are accepted beside a flood of readings")
  func readingsOfOthers() {
    var hub = joined()
    for first in stride(from: 1, through: UInt64(PacedKind.readings.burst) + 2000, by: 1000) {
      _ = hub.says("watch", readings(first..<first + 1000), by: .key(1))
    }
    _ = hub.says("band", readings(1..<7201), by: .key(2))
    #expect(hub.passes(.seconds(3)).contains("band ← samples to 7200"))
  }

  // Once broken: Questions of a paired device about the run made others wait; each wrote the readings that had
  // gathered, and a report folded late readings again each time, because questions had no pace, and a report did not
  // keep what it had folded.
  @Test(
    "Questions are answered at their pace",
    arguments: [
      .query, .inquire(.series), .inquire(.route(from: 0)), .inquire(.records(from: 0)), .request(Request(.state)),
      .request(Request(.inquiry(.report))),
    ] as [PeerMessage])
  func questions(_ message: PeerMessage) {
    var hub = joined()
    let isRequest = if case .request = message { true } else { false }
    var answers = 0
    for _ in 1...2 * PacedKind.questions.burst {
      let lines = hub.says("watch", message, session: isRequest ? 0 : nil, by: .key(1))
      if !lines.isEmpty, lines != ["watch ← refused tooFast"] { answers += 1 }
      hub.commitsAll()
    }
    #expect(answers == PacedKind.questions.burst)
    #expect(!hub.says("band", .query, by: .key(2)).isEmpty)
    hub.passes(.seconds(1))
    #expect(hub.says("watch", .query, by: .key(1)).count == 1)
  }

  @Test("A flight of messages is accepted at once; what comes faster waits, and known ones do not count")
  func messages() {
    var hub = joined()
    _ = hub.act(.handling(true))
    let most = UInt64(PacedKind.messages.burst)
    func messages(_ range: Range<UInt64>) -> PeerMessage {
      .delivery(
        .messages(
          range.map {
            MessageTransmission(sequence: $0, message: AppMessage(id: MessageID(high: 5, low: $0), name: "m", body: []))
          }))
    }
    for first in stride(from: 1, through: most + 1024, by: 512) {
      _ = hub.says("watch", messages(first..<first + 512), by: .key(1))
      _ = hub.says("watch", messages(1..<513), by: .key(1))
    }
    let store = HubStage.store("watch")
    #expect(hub.core.mail.receivedMark(of: store) == most)
    hub.passes(.seconds(2))
    _ = hub.says("watch", messages(most + 1..<most + 101), by: .key(1))
    #expect(hub.core.mail.receivedMark(of: store) == most + 100)
  }

  // Once broken: A paired device could change the list of devices as often as it liked, by announcing ever new keys,
  // because an announcement had no pace.
  @Test("Ever new keys are announced a few times, then refused")
  func newKeys() {
    var hub = joined()
    var refused = 0
    for byte in 1...UInt8(2 * PacedKind.newKeys.burst) {
      let lines = hub.says("watch", .announceKey(.test(100 + byte)), session: 0, by: .key(1))
      if lines.contains("watch ← refused tooFast") {
        refused += 1
      }
      hub.commitsAll()
    }
    #expect(refused == PacedKind.newKeys.burst)
  }

  @Test("Frames beyond the pace are not read; long ones count more; others of the machine and other devices are")
  func frames() {
    var hub = joined()
    let (watch, start) = (ConnectionIdentity.key(.test(1)), hub.now)
    var read = 0
    for _ in 0..<PacedKind.frames.burst + 100 {
      if hub.core.readsFrame(ofBytes: 200, by: watch, at: start) { read += 1 }
    }
    #expect(read == PacedKind.frames.burst)
    for identity in [.key(.test(2)), .localOwner, .anyone, .link("watch")] as [ConnectionIdentity] {
      let isRead = hub.core.readsFrame(ofBytes: 65_536, by: identity, at: start)
      #expect(isRead)
    }
    let later = start + .milliseconds(50)
    let isLongRead = hub.core.readsFrame(ofBytes: 65_000, by: watch, at: later)
    #expect(!isLongRead)
    // A ping gets through beside long frames.
    let isPingRead = hub.core.readsFrame(ofBytes: 40, by: watch, at: later)
    #expect(isPingRead)
  }

  @Test("docs/security.md has the table of paces")
  func page() throws {
    let page = try String(contentsOf: Checkout.root.appending(path: "docs/security.md"), encoding: .utf8)
    for kind in PacedKind.allCases {
      let burst = kind.burst >= 1000 ? "\(kind.burst / 1000),\(String("\(kind.burst)".suffix(3)))" : "\(kind.burst)"
      let slow = kind.perSecond < 1 / 60 ? "one in ten minutes" : "one a minute"
      let rate = kind.perSecond >= 1 ? "\(Int(kind.perSecond))".replacing("1000", with: "1,000") : slow
      #expect(page.contains("| \(kind.rawValue) | \(burst) | \(rate) |"), "\(kind)")
    }
  }
}
