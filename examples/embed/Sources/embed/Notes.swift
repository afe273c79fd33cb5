import RunBus

/// Messages of an app beside the run: a setting, of which only the newest value counts, and notes, none of which may be
/// lost.
enum Notes {
  /// Sends a setting from the phone to the watch, a note from the watch while it is out of reach, and a live message.
  static func exchange(_ phone: Hub, _ watch: Peer) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      let (shown, show) = AsyncStream.makeStream(of: String.self)
      // When a handler returns, its message is processed. When it throws, the message comes again.
      group.addTask {
        try await phone.messages.handle { received in
          show.yield("phone got \(received.message.name) from \(received.from), \(received.message.body.count) bytes")
        }
      }
      group.addTask {
        try await watch.messages.handle { received in
          show.yield("watch got \(received.message.name) = \(String(decoding: received.message.body, as: UTF8.self))")
        }
      }
      var lines = shown.makeAsyncIterator()

      // Post two values of one key: only the newest needs to arrive.
      let watchID = DeviceID("watch")
      try await phone.messages.post(
        AppMessage(name: "units", body: Array("km".utf8)), by: .latest(key: "units"), to: watchID)
      try await phone.messages.post(
        AppMessage(name: "units", body: Array("miles".utf8)), by: .latest(key: "units"), to: watchID)
      while let line = await lines.next() {
        guard line.hasSuffix("miles") else { continue }
        print(line)
        break
      }
      print(
        "watch keeps it:", await watch.messages.latest("units").map { String(decoding: $0.body, as: UTF8.self) } ?? "-")

      // While the watch is disconnected its note is durable in its store. It is sent when the phone is in reach again.
      await watch.disconnect()
      let note = AppMessage(name: "photo-note", body: Array("at the bridge".utf8))
      let receipts = watch.messages.receipts(for: note.id)
      try await watch.messages.post(note, by: .queued)
      print("watch, out of reach: note queued")
      await watch.reconnect()
      print(await lines.next() ?? "-")
      for await receipt in receipts where receipt.stage == .processed {
        print("watch knows: note processed")
        break
      }
      // A live message is sent once and never stored.
      try await phone.messages.post(AppMessage(name: "blink", body: []), by: .live, to: watchID)
      print(await lines.next() ?? "-")
      group.cancelAll()
      try await group.waitForAll()
    }
  }
}
