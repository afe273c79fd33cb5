import ArgumentParser
import Foundation
import RunBus
import Synchronization

struct Drain: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "A backlog of queued messages, delivered after a reconnect: messages a second, the receiver's commits included.",
    discussion: """
      A peer with its store on disk is off the air while messages are posted to it; each is durable before the next. Then \
      it comes back. Measured: from the moment the link is up to the moment when the peer's last message is known to be \
      processed: handled by the hub's handler, committed with the hub's watermark, acknowledged.
      """)

  @Option(help: "Messages in the backlog.") var count = 10_000
  @Option(help: "Bytes of a message's body.") var bytes = 256
  @Option(help: "Rounds.") var rounds = 5

  func validate() throws {
    guard count > 0, rounds > 0, (0...AppMessage.bodyMax).contains(bytes) else {
      throw ValidationError("sizes are positive numbers, a body at most \(AppMessage.bodyMax) bytes")
    }
  }

  func run() async throws {
    print("\(count) messages of \(bytes) bytes, \(rounds) rounds; load \(Machine.load) on \(Machine.cores) cores\n")
    var rates: [Double] = []
    for _ in 0..<rounds {
      let seconds = try await round()
      rates.append(Double(count) / seconds)
    }
    print("| messages a second, processed and acknowledged | median (smallest–largest) |\n|---|---|")
    print("| RunBus | \(Spread(rates).text(0)) |")
  }

  private func round() async throws -> Double {
    let place = try Place.make()
    defer { place.remove() }
    let phone = DeviceID("phone")
    let hub = Hub(
      configuration: HubConfiguration(deviceID: phone),
      listeners: [ZeroMQListener(control: place.control, events: place.events)],
      store: try NodeStore(directory: place.directory + "/phone", device: phone), loop: try Loop())
    let peer = Peer(
      configuration: PeerConfiguration(deviceID: DeviceID("watch"), role: .watch, topics: []),
      connector: ZeroMQConnector(control: place.control), store: try NodeStore(directory: place.directory + "/watch"),
      loop: try Loop())
    let handled = Count()
    return try await withThrowingTaskGroup(of: Double?.self) { group in
      group.addTask {
        try await hub.run()
        return nil
      }
      group.addTask {
        try await peer.run()
        return nil
      }
      group.addTask {
        try await hub.messages.handle { _ in handled.add() }
        return nil
      }
      for await state in await peer.reachabilities() where state.isReachable { break }
      await peer.disconnect()
      let body = [UInt8](repeating: 7, count: bytes)
      // In parallel, so that posts share commits; the speed of single posts is measured elsewhere.
      var last = AppMessage(name: "note", body: body)
      try await withThrowingTaskGroup(of: Void.self) { posts in
        for index in 0..<(count - 1) {
          posts.addTask { try await peer.messages.post(AppMessage(name: "note", body: body), by: .queued) }
          if index % 512 == 511 { try await posts.waitForAll() }
        }
        try await posts.waitForAll()
      }
      last = AppMessage(name: "note", body: body)
      let receipts = peer.messages.receipts(for: last.id)
      try await peer.messages.post(last, by: .queued)
      let reachabilities = await peer.reachabilities()
      await peer.reconnect()
      for await state in reachabilities where state.isReachable { break }
      let began = monotonic()
      for await receipt in receipts where receipt.stage == .processed { break }
      let seconds = Double(monotonic() - began) / 1e9
      guard handled.value == count else {
        throw BenchError(description: "\(handled.value) of \(count) messages were handled")
      }
      group.cancelAll()
      while await group.nextResult() != nil {}
      return seconds
    }
  }
}

/// Counts from any thread.
private final class Count: Sendable {
  private let count = Mutex(0)
  var value: Int { count.withLock { $0 } }
  func add() { count.withLock { $0 += 1 } }
}
