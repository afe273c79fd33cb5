import RunBus
import Synchronization
import TestSupport
import Testing

@Suite("An app's messages", .timeLimit(.minutes(5)))
struct MessageNodeTests {
  /// The messages that a handler received, in order.
  private final class Got: Sendable {
    private let names = Mutex<[String]>([])
    private let stream = AsyncStream.makeStream(of: String.self)
    var all: [String] { names.withLock { $0 } }
    func add(_ name: String) {
      names.withLock { $0.append(name) }
      stream.continuation.yield(name)
    }
    func wait(for name: String) async throws {
      guard !all.contains(name) else { return }
      _ = try await stream.stream.first("message \(name)") { $0 == name }
    }
  }
  private struct Refused: Error {}

  @Test("A queued message waits for a hub that is away and is processed once, and its sender learns that")
  func queued() async throws {
    try await withTestBus { place in
      let bus = try RunningBus(place)
      let watch = try bus.peer("watch")
      let got = Got()
      try await withRunning([bus.hub, watch]) {
        try await withThrowingTaskGroup(of: Void.self) { group in
          let message = AppMessage(name: "note", body: Array("at the bridge".utf8))
          let receipts = watch.messages.receipts(for: message.id)
          try await within("queued") { try await watch.messages.post(message, by: .queued) }
          // Nobody handles messages at the hub yet, so the message stays with its sender.
          #expect(got.all.isEmpty)
          group.addTask { try await bus.hub.messages.handle { got.add($0.message.name) } }
          _ = try await receipts.first("processed") { $0.stage == .processed }
          #expect(got.all == ["note"])
          group.cancelAll()
        }
      }
    }
  }

  @Test("A message whose handler fails is delivered again, and later messages keep their order")
  func handlerFails() async throws {
    try await withTestBus { place in
      let bus = try RunningBus(place)
      let watch = try bus.peer("watch")
      let got = Got()
      try await withRunning([bus.hub, watch]) {
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask {
            try await bus.hub.messages.handle { received in
              got.add(received.message.name)
              if got.all.count == 1 { throw Refused() }
            }
          }
          let messages = (1...3).map { AppMessage(id: .random(), name: "\($0)", body: []) }
          let receipts = watch.messages.receipts(for: messages[2].id)
          for message in messages { try await watch.messages.post(message, by: .queued) }
          _ = try await receipts.first("processed") { $0.stage == .processed }
          #expect(got.all == ["1", "1", "2", "3"])
          group.cancelAll()
        }
      }
    }
  }

  @Test("The latest value of a key arrives, in both directions, and is there after a restart")
  func latest() async throws {
    try await withTestBus { place in
      let watchID = DeviceID("watch")
      let bus = try RunningBus(place)
      let directory = place.directory + "/watch"
      let watch = try bus.peer("watch", store: try NodeStore(directory: directory))
      try await withRunning([bus.hub]) {
        try await withRunning([watch]) {
          _ = try await watch.snapshots().first("the state") { $0.order.term == 1 }
          await watch.disconnect()
          for value in ["km", "miles"] {
            try await bus.hub.messages.post(
              AppMessage(name: "units", body: Array(value.utf8)), by: .latest(key: "units"), to: watchID)
            try await watch.messages.post(AppMessage(name: "face", body: Array(value.utf8)), by: .latest(key: "face"))
          }
          let last = AppMessage(name: "units", body: Array("miles!".utf8))
          let receipts = bus.hub.messages.receipts(for: last.id)
          try await bus.hub.messages.post(last, by: .latest(key: "units"), to: watchID)
          await watch.reconnect()
          _ = try await receipts.first("it has arrived") { $0.stage == .processed }
          #expect(await watch.messages.latest("units")?.body == Array("miles!".utf8))
        }
        let again = try bus.peer("watch", store: try NodeStore(directory: directory))
        try await withRunning([again]) {
          _ = try await again.snapshots().first("the state") { $0.order.term == 1 }
          #expect(await again.messages.latest("units")?.body == Array("miles!".utf8))
          #expect(await bus.hub.messages.latest("face", from: watchID)?.body == Array("miles".utf8))
        }
      }
    }
  }

  @Test("A live message without a receiver is an error at once")
  func live() async throws {
    try await withTestBus { place in
      let watchID = DeviceID("watch")
      let bus = try RunningBus(place)
      let watch = try bus.peer("watch")
      let got = Got()
      try await withRunning([bus.hub, watch]) {
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { try await watch.messages.handle { got.add($0.message.name) } }
          _ = try await watch.snapshots().first("the state") { $0.order.term == 1 }
          try await bus.hub.messages.post(AppMessage(name: "blink", body: []), by: .live, to: watchID)
          try await got.wait(for: "blink")
          await watch.disconnect()
          await #expect(throws: RunBusError.self) {
            try await watch.messages.post(AppMessage(name: "late", body: []), by: .live)
          }
          await #expect(throws: RunBusError.self) {
            try await bus.hub.messages.post(AppMessage(name: "whom", body: []), by: .queued, to: DeviceID("nobody"))
          }
          await #expect(throws: RunBusError.self) {
            try await watch.messages.post(AppMessage(id: .random(), name: "", body: []), by: .queued)
          }
          group.cancelAll()
        }
      }
    }
  }

  @Test("A queued message survives the death of both sides and is processed once")
  func survives() async throws {
    try await withTestBus { place in
      let (phone, watch) = (place.directory + "/phone", place.directory + "/watch")
      let got = Got()
      let first = try RunningBus(place, store: try NodeStore(directory: phone))
      let peer = try first.peer("watch", store: try NodeStore(directory: watch))
      try await withRunning([first.hub, peer]) {
        _ = try await peer.snapshots().first("the state") { $0.order.term == 1 }
        for number in 1...20 {
          try await peer.messages.post(AppMessage(id: .random(), name: "\(number)", body: []), by: .queued)
        }
      }
      let second = try RunningBus(place, store: try NodeStore(directory: phone))
      let again = try second.peer("watch", store: try NodeStore(directory: watch))
      try await withRunning([second.hub, again]) {
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { try await second.hub.messages.handle { got.add($0.message.name) } }
          let last = AppMessage(name: "21", body: [])
          let receipts = again.messages.receipts(for: last.id)
          try await again.messages.post(last, by: .queued)
          _ = try await receipts.first("processed") { $0.stage == .processed }
          group.cancelAll()
        }
      }
      #expect(got.all == (1...21).map(String.init))
    }
  }
}
