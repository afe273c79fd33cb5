import Testing

@testable import RunCore

@Suite("Stores that their devices have replaced, and visitors")
struct HubLeftStoreTests {
  private static let other = StoreID(high: 2, low: 99)

  private func message(_ id: UInt64) -> AppMessage { AppMessage(id: MessageID(high: 7, low: id), name: "m", body: []) }

  private func disk(of hub: HubStage) -> HubDisk {
    var disk = HubDisk()
    disk.commit(hub.durable)
    return disk
  }

  /// Says hello for a device with another store, on another connection.
  private func hello(_ hub: inout HubStage, _ device: String, _ store: StoreID, on connection: String) -> [String] {
    var hello = hub.greeting(device)
    hello.storeID = store
    hello.role = .shell
    return hub.says(connection, .hello(hello), session: 0)
  }

  // Once broken: A device began anew although nothing was lost, and its message was processed twice: the hub forgot a
  // shell that had sent only messages, because it treated it as a visitor.
  @Test("A shell that has sent a message is not forgotten when it leaves")
  func shellWithMessages() {
    var hub = HubStage.with("shell")
    _ = hub.feed(.handling(true))
    let lines = hub.says("shell", .delivery(.messages([MessageTransmission(sequence: 1, message: message(1))])))
    #expect(lines.contains("hand 1 at 1"))
    _ = hub.feed(.handled(StreamID(sender: HubStage.store("shell"), kind: .messages), through: 1))
    hub.commitsAll()
    _ = hub.says("shell", .goodbye)
    hub.passes(.seconds(1))
    var again = hub.greeting("shell", nonce: 2)
    again.hub = HubStage.storeID
    again.acknowledged[.messages] = 1
    #expect(hub.says("shell", .hello(again), session: 0).contains { $0.hasPrefix("shell ← welcome 2, messages 1") })
  }

  // Once broken: A newest value was deleted from the disk before its sender received the acknowledgement, because a
  // visitor used the name of a device; when the hub forgot the visitor, it forgot everything under that name.
  @Test("Forgetting a visitor with the name of a device keeps the device")
  func visitorOfThatName() {
    var hub = HubStage.with("watch")
    _ = hub.says("watch", .delivery(.latest(key: "goal", version: 1, message(1))))
    hub.commitsAll()
    _ = hello(&hub, "watch", Self.other, on: "wrong")
    hub.commitsAll()
    _ = hub.says("wrong", .goodbye)
    hub.passes(.seconds(1))
    #expect(disk(of: hub).history.delivery.latestReceived.map(\.key) == ["goal"])
    #expect(disk(of: hub).history.devices.map(\.deviceID.rawValue) == ["watch"])
  }

  // Once broken: A mark of messages went back, because the mark stayed on the disk when the hub forgot its store.
  @Test("When a device replaces its store, the hub forgets the marks of all streams of the old one")
  func marks() {
    var hub = HubStage.with("watch", debounce: .zero)
    _ = hub.feed(.handling(true))
    _ = hub.presses("watch", .start)
    _ = hub.says("watch", .delivery(.messages([MessageTransmission(sequence: 1, message: message(1))])))
    _ = hub.feed(.handled(StreamID(sender: HubStage.store("watch"), kind: .messages), through: 1))
    hub.commitsAll()
    #expect(disk(of: hub).history.delivery.watermarks.count == 2)
    _ = hub.says("watch", .goodbye)
    _ = hello(&hub, "watch", Self.other, on: "wrong")
    hub.commitsAll()
    #expect(disk(of: hub).history.delivery.watermarks.isEmpty)
  }

  // Once broken: A message got the sequence of another message, which was lost, because after a restart the hub did not
  // read back what it owed to a store whose device had come with another store.
  @Test("What is owed to a replaced store survives a restart of the hub, and no sequence number is used twice")
  func owedToTheFirst() {
    var hub = HubStage.with("watch")
    _ = hub.feed(.post(message(1), .queued, to: DeviceID("watch")))
    hub.commitsAll()
    _ = hello(&hub, "watch", Self.other, on: "wrong")
    hub.commitsAll()
    var next = HubStage.opened(history: disk(of: hub).history, now: hub.now)
    var lines = next.hello("watch", nonce: 2) + next.commitsAll()
    #expect(lines.contains("watch ← messages 1"), "\(lines)")
    lines = next.feed(.post(message(2), .queued, to: DeviceID("watch"))) + next.commitsAll()
    #expect(lines.contains("watch ← messages 2"), "\(lines)")
  }

  // Once broken: A newest value was sent that was not on the disk, because two stores of one device had a value of the
  // same key each; the disk keeps one for a device.
  @Test("A device's latest value is never sent to another of its stores with an older version")
  func newestValue() {
    var hub = HubStage.with("watch")
    _ = hub.says("watch", .goodbye)
    for number in 1...3 as ClosedRange<UInt64> {
      _ = hub.feed(.post(message(number), .latest(key: "goal"), to: DeviceID("watch")))
      hub.commitsAll()
    }
    _ = hub.says("watch", .hello(hub.greeting("watch")), session: 0)
    // Another node appears under the same name and gets the next value.
    _ = hello(&hub, "watch", Self.other, on: "wrong")
    _ = hub.feed(.post(message(9), .latest(key: "goal"), to: DeviceID("watch")))
    let sent = hub.commitsAll()
    #expect(sent.contains { $0 == "wrong ← goal 4" }, "\(sent)")
    let kept = disk(of: hub).history.delivery.latestSent
    #expect(kept.map(\.message.id.low) == [9] && kept.map(\.version) == [4])
    var again = hub.greeting("watch", nonce: 2)
    again.hub = HubStage.storeID
    let lines = hub.says("watch", .hello(again), session: 0) + hub.commitsAll()
    #expect(
      lines.contains { $0.hasPrefix("watch ← welcome") } && !lines.contains { $0.hasPrefix("watch ← goal") }, "\(lines)"
    )
  }

  // Once broken: A newest value of the hub's app was never sent, because it was not durable yet when its device came
  // with a new store; the write's end looked for it at the old store.
  @Test("A value that was posted just before its device comes with a new store is sent to that, and the app is told")
  func postedMeanwhile() {
    var hub = HubStage.with("watch")
    _ = hub.says("watch", .goodbye)
    hub.commitsAll()
    _ = hub.feed(.post(message(1), .latest(key: "goal"), to: DeviceID("watch")))
    var lines = hello(&hub, "watch", Self.other, on: "watch again")
    lines += hub.commitsAll()
    #expect(lines.contains("watch again ← goal 1"), "\(lines)")
    #expect(lines.contains { $0.contains("queued") }, "\(lines)")
  }

  // Once broken: The app did not get the receipt "queued" of a message that it had posted just before its device came
  // with another store, because the receipt was carried out by the messages of the earlier store, which were gone; it
  // needs none.
  @Test("A message that is posted just before its device comes with another store is told as queued")
  func messageMeanwhile() {
    var hub = HubStage.with("watch")
    _ = hub.says("watch", .goodbye)
    hub.commitsAll()
    _ = hub.feed(.post(message(1), .queued, to: DeviceID("watch")))
    let lines = hello(&hub, "watch", Self.other, on: "watch again") + hub.commitsAll()
    #expect(lines.contains { $0.contains("queued") }, "\(lines)")
  }

  // Once broken: A newest value that the hub refused because of its name moved the older value of its key from one
  // store of the device to another, where it was not sent before the next session.
  @Test("A value that is refused does not take the older one from the store that it waits for")
  func refusedValue() {
    var hub = HubStage.with("watch")
    _ = hub.says("watch", .goodbye)
    _ = hub.feed(.post(message(1), .latest(key: "goal"), to: DeviceID("watch")))
    hub.commitsAll()
    _ = hub.says("watch", .hello(hub.greeting("watch")), session: 0)
    _ = hello(&hub, "watch", Self.other, on: "wrong")
    hub.commitsAll()
    let tooLong = AppMessage(id: MessageID(high: 0, low: 9), name: "", body: [])
    _ = hub.feed(.post(tooLong, .latest(key: "goal"), to: DeviceID("watch")))
    let owed = hub.core.mail.waitingCount(of: HubStage.store("watch"))
    #expect(owed == 1 && hub.core.mail.waitingCount(of: Self.other) == 0)
  }

  @Test("The number of stores without a device is bounded, also over restarts")
  func bounded() {
    var history = HubHistory()
    for number in 0...HubCore.absentMax as ClosedRange<Int> {
      let stream = StreamID(sender: StoreID(high: 5, low: UInt64(number)), kind: .commands)
      history.delivery.watermarks[stream] = StreamMark(sequence: 1)
    }
    var hub = HubStage.opened(history: history)
    #expect(hub.core.mail.storeCount == HubCore.absentMax + 1)
    _ = hub.hello("watch")
    hub.commitsAll()
    #expect(hub.core.mail.storeCount == 1)
    #expect(disk(of: hub).history.delivery.watermarks.isEmpty)
  }

  // Once broken: Values of one device name could use any number of keys and bytes, and those of forgotten stores stayed
  // on the disk, because each store of the name had the room of a whole device.
  @Test("Values of one device are bounded together, whichever stores they come from, and survive the stores")
  func valuesOfOneName() {
    var hub = HubStage.opened()
    for number in 0..<3 as Range<UInt64> {
      let name = "c\(number)"
      _ = hello(&hub, "wrong", StoreID(high: 5, low: number), on: name)
      for key in 0..<500 {
        _ = hub.says(name, .delivery(.latest(key: "\(name).\(key)", version: 1, message(UInt64(key)))))
      }
      hub.commitsAll()
    }
    #expect(disk(of: hub).history.delivery.latestReceived.count == LatestValues.keysMax)
    #expect(hub.core.mail.receivedValues.count == LatestValues.keysMax)
    _ = hub.says("c0", .goodbye)
    hub.core.inTurn(at: hub.now) { $0.giveUp(StoreID(high: 5, low: 0), in: &$1) }
    #expect(hub.core.latest("c0.0", from: DeviceID("wrong")) != nil)
    #expect(hub.core.mail.receivedValues.count == LatestValues.keysMax)
  }

  // Once broken: A verdict left before it was durable, because a store that was given up came back while a write of its
  // old verdict stream was under way, and the end of that write counted for the new stream.
  @Test("A verdict for a store that was given up and came back is sent only once it is durable")
  func comesBack() {
    var hub = HubStage.with("wrong", debounce: .zero)
    let first = hub.presses("wrong", .start)
    #expect(!first.contains { $0.contains("←") })
    let inFlight = hub.takeInFlight()!
    _ = hub.says("wrong", .goodbye)
    _ = hello(&hub, "wrong", Self.other, on: "second")
    _ = hub.says("second", .goodbye)
    _ = hello(&hub, "wrong", HubStage.store("wrong"), on: "wrong")
    let again = hub.sends("wrong", hub.command(.pause, by: "wrong"), sequence: 1)
    #expect(!again.contains { $0.contains("pause applied") && $0.contains("←") })
    let lines = hub.feed(.committed(inFlight))
    #expect(!lines.contains { $0.contains("pause applied") && $0.contains("←") }, "\(lines)")
    #expect(hub.commitsAll().contains { $0.contains("pause applied") && $0.contains("←") })
  }
}
