@testable import RunCore
import Testing

@Suite("Newest values at their sender")
struct LatestValuesSendingTests {
  private func row(_ key: String, _ version: UInt64, _ id: UInt64, isAcknowledged: Bool = false) -> LatestRow {
    LatestRow(
      device: LatestValuesStage.device, key: key, version: version, message: MessagingLines.message(id),
      isAcknowledged: isAcknowledged)
  }

  /// A stage whose value 1 of the key "goal" is sent and not acknowledged.
  private func sent() -> LatestValuesStage {
    var stage = LatestValuesStage()
    _ = stage.post(1)
    _ = stage.commits()
    return stage
  }

  @Test("A value is sent when it is durable, and not again once it is acknowledged")
  func acknowledged() {
    var stage = LatestValuesStage()
    #expect(stage.post(1) == ["commit: set goal 1"])
    #expect(stage.commits() == ["1 queued", "goal 1"])
    #expect(stage.acknowledges(1) == ["later: set goal 1 arrived"])
    #expect(stage.commits() == ["1 processed"])
    #expect(stage.acknowledges(1) == [])
    #expect(stage.acknowledges(1, "other") == [])
    #expect(stage.values.hasNothingWaiting && stage.values.retryAt == nil)
    #expect(stage.open() == [])
  }

  @Test("A newer value replaces one that is not acknowledged; an acknowledgement of the older one does not count")
  func replaced() {
    var stage = sent()
    #expect(stage.post(2) == ["commit: set goal 2"])
    #expect(stage.acknowledges(1) == [])
    #expect(stage.refuses(1) == [])
    #expect(stage.retries() == [], "the older value is gone, and the newer is not durable")
    #expect(stage.commits() == ["1 replaced", "2 queued", "goal 2"])
    _ = stage.acknowledges(2)
    #expect(stage.commits() == ["2 processed"])
    _ = stage.post(3)
    #expect(stage.commits() == ["3 queued", "goal 3"], "a value that has arrived is not replaced")
  }

  @Test("Of two values that become durable together only the newer is sent")
  func together() {
    var stage = LatestValuesStage()
    _ = stage.post(1)
    _ = stage.post(2)
    #expect(stage.commits() == ["1 queued", "1 replaced", "2 queued", "goal 2"])
  }

  @Test("A refused value is not sent again until a newer one replaces it")
  func refused() {
    var stage = sent()
    #expect(stage.refuses(1) == ["commit: set goal 1 arrived"])
    #expect(stage.commits() == ["1 busy"])
    #expect(stage.refuses(1) == [])
    #expect(stage.values.retryAt == nil)
    #expect(stage.open() == [])
    _ = stage.post(2)
    #expect(stage.commits() == ["2 queued", "goal 2"])
  }

  @Test("A value whose version the receiver has passed gets a higher one and is sent again")
  func overtaken() {
    var stage = sent()
    #expect(stage.acknowledges(7) == ["commit: set goal 8"])
    #expect(stage.retries() == [], "the new version is not durable")
    #expect(stage.commits() == ["goal 8"])
    #expect(stage.acknowledges(1 << 61) == [], "no node gives a key so many values")
    #expect(stage.acknowledges(8) == ["later: set goal 8 arrived"])
    #expect(stage.commits() == ["1 processed"])
    #expect(stage.acknowledges(9) == [])
  }

  @Test("A value that a newer one replaces while its higher version is stored is not sent")
  func overtakenAndReplaced() {
    var stage = sent()
    _ = stage.acknowledges(7)
    #expect(stage.post(2) == ["commit: set goal 9"])
    #expect(stage.commits() == ["1 replaced", "2 queued", "goal 9"])
  }

  @Test("Values without an answer are sent again after about five seconds, by key")
  func retry() {
    var stage = sent()
    _ = stage.post(2, "b")
    _ = stage.post(3, "a")
    #expect(stage.commits() == ["2 queued", "b 1", "3 queued", "a 1"])
    let wait = (stage.values.retryAt! - stage.now).nanoseconds / 1_000_000
    #expect((3750...6250).contains(wait))
    #expect(stage.retries() == ["a 1", "b 1", "goal 1"])
    _ = stage.acknowledges(1, "b")
    #expect(stage.retries() == ["a 1", "goal 1"])
  }

  @Test("A full queue of the transport postpones only values that wait for an answer")
  func postpone() {
    var stage = sent()
    stage.postpone(to: stage.now + .milliseconds(200))
    #expect(stage.values.retryAt == stage.now + .milliseconds(200))
    #expect(stage.retries() == ["goal 1"])
    _ = stage.acknowledges(1)
    stage.postpone(to: stage.now + .milliseconds(200))
    #expect(stage.values.retryAt == nil)
  }

  @Test("Without a session values wait; the next one sends all that are not acknowledged, by key")
  func sessions() {
    var stage = LatestValuesStage(
      posted: [row("b", 3, 1), row("a", 2, 2), row("c", 5, 3, isAcknowledged: true)], isOpen: false)
    _ = stage.post(4, "d")
    #expect(stage.commits() == ["4 queued"])
    #expect(stage.values.waiting.map(\.key) == ["a", "b", "d"])
    #expect(stage.open() == ["a 2", "b 3", "d 1"])
    stage.close()
    #expect(stage.values.retryAt == nil)
    #expect(stage.open() == ["a 2", "b 3", "d 1"])
  }

  @Test("When both sides begin anew, acknowledged values are sent again")
  func renumber() {
    var stage = LatestValuesStage(
      posted: [row("b", 3, 1), row("a", 2, 2, isAcknowledged: true), row("c", 5, 3, isAcknowledged: true)])
    stage.close()
    #expect(stage.renumber() == ["set a 2", "set c 5"])
    #expect(stage.open() == ["a 2", "b 3", "c 5"])
  }

  @Test("A node posts values of at most 1,024 keys")
  func keys() {
    var stage = LatestValuesStage()
    for key in 0..<LatestValues.keysMax { _ = stage.post(UInt64(key), "k\(key)") }
    #expect(stage.post(9999, "one more") == nil)
    #expect(stage.post(9999, "k0") == ["commit: set k0 2"])
  }

  @Test("A value moves to another store of its device, unless a newer one is there")
  func adopt() {
    var old = LatestValuesStage(posted: [row("a", 4, 1), row("b", 4, 2)], isOpen: false)
    var new = LatestValuesStage(posted: [row("b", 5, 3)], isOpen: false)
    for key in ["a", "b", "c"] { new.adopt(key, from: &old) }
    #expect(old.values.hasNothingWaiting)
    #expect(new.open() == ["a 4", "b 5"])
    #expect(new.post(9, "a") == ["commit: set a 5"])
  }
}

@Suite("Newest values at their receiver")
struct LatestValuesReceivingTests {
  private static let another = StoreID(high: 2, low: 2)

  @Test("A value is acknowledged and handed over when it is durable")
  func received() {
    var stage = LatestValuesStage()
    #expect(stage.hears(1, 1) == ["commit: take goal 1"])
    #expect(stage.hears(1, 1) == [], "it is not durable yet")
    #expect(stage.values.received("goal")?.id.low == 1)
    #expect(stage.commits() == ["has goal 1", "hand 1"])
    #expect(stage.hears(1, 1) == ["has goal 1"])
    #expect(stage.hears(2, 2) == ["commit: take goal 2"])
    #expect(stage.commits() == ["has goal 2", "hand 2"])
    #expect(stage.hears(1, 1) == ["has goal 2"], "an older version says which one is here")
    #expect(stage.values.receivedCount == 1)
  }

  @Test("A value that a newer one replaces before it is durable leaves the newer one not durable")
  func replacedMeanwhile() {
    var stage = LatestValuesStage()
    _ = stage.hears(1, 1)
    _ = stage.does { values, way, turn in
      // Only the first write is durable.
      let first = LatestReceived(
        device: LatestValuesStage.device, store: LatestValuesStage.store, key: "goal", version: 1,
        message: MessagingLines.message(1))
      values.receive(
        MessagingLines.message(2), key: "goal", version: 2, room: LatestValues.Room(), by: way, in: &turn)
      values.makeReceived(first, by: way, in: &turn)
    }
    #expect(stage.hears(2, 2) == [])
  }

  @Test("The same version with another id is new, because its sender has lost history")
  func lostHistory() {
    var stage = LatestValuesStage()
    _ = stage.hears(1, 3)
    _ = stage.commits()
    #expect(stage.hears(2, 3) == ["commit: take goal 3"])
    #expect(stage.commits() == ["has goal 3", "hand 2"])
    #expect(stage.hears(3, 1, from: Self.another) == ["commit: take goal 1"], "another store counts from 1")
  }

  @Test("A value is not acknowledged without a session, or in a session with another store")
  func otherSession() {
    var stage = LatestValuesStage(isOpen: false)
    _ = stage.hears(1, 1)
    #expect(stage.commits() == ["hand 1"])
    _ = stage.open()
    _ = stage.hears(2, 2)
    #expect(stage.commits(sessionWith: Self.another) == ["hand 2"])
  }

  @Test("A value beyond the room for keys is refused; a value of a known key replaces the one that is there")
  func roomForKeys() {
    var stage = LatestValuesStage()
    let room = LatestValues.Room(keys: 1)
    _ = stage.hears(1, 1, "a", room: room)
    #expect(stage.hears(2, 1, "b", room: room) == ["note", "no room for b 1"])
    #expect(stage.values.received("b") == nil)
    #expect(stage.hears(3, 2, "a", room: room) == ["commit: take a 2"])
  }

  @Test("A value beyond the room for bytes is refused; the bytes of the value that it replaces count as free")
  func roomForBytes() {
    var stage = LatestValuesStage()
    _ = stage.hears(1, 1, "a", bytes: 100)
    let size = stage.values.receivedBytes
    #expect(size > 100)
    let room = LatestValues.Room(bytes: size)
    #expect(stage.hears(2, 1, "b", room: room) == ["note", "no room for b 1"])
    #expect(stage.hears(3, 2, "a", bytes: 101, room: room) == ["note", "no room for a 2"])
    #expect(stage.hears(4, 2, "a", bytes: 90, room: room) == ["commit: take a 2"])
    #expect(stage.values.receivedBytes == size - 10)
    #expect(stage.values.receivedCount == 1)
  }

  @Test("The values of a store that is gone go to another store of its device, except for keys that it has")
  func inherit() {
    var old = LatestValuesStage()
    _ = old.hears(1, 1, "a")
    _ = old.hears(2, 1, "b")
    var new = LatestValuesStage()
    _ = new.hears(3, 1, "b", from: Self.another)
    let size = new.values.receivedBytes
    new.inherit(from: old)
    #expect(new.values.received("a")?.id.low == 1)
    #expect(new.values.received("b")?.id.low == 3)
    #expect(new.values.receivedCount == 2)
    #expect(new.values.receivedBytes == 2 * size)
  }
}
