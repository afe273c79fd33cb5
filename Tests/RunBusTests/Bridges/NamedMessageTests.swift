import Foundation
import RunBus
import TestSupport
import Testing

@Suite("Messages by name", .timeLimit(.minutes(5)))
struct NamedMessageTests {
  private struct Note: Codable, Equatable, Sendable {
    let text: String
    init(_ text: String) { self.text = text }
  }
  private static let photo = Data((0..<30_000).map { UInt8(truncatingIfNeeded: $0 * 7) })

  @Test("A photo of 30 KB that was taken out of reach arrives after the disconnection, and its sender learns that")
  func photo() async throws {
    let nodes = try InProcessNodes()
    let watch = nodes.peer()
    try await withRunning([nodes.hub, watch]) {
      try await watch.isConnected()
      let photos = try nodes.hub.messages.named("photo")
      await watch.disconnect()
      let message = AppMessage(name: "photo", body: Self.photo)
      let receipts = watch.messages.receipts(for: message.id)
      try await watch.messages.post(message, by: .queued)
      await watch.reconnect()
      try await within("the photo") {
        for await photo in photos {
          #expect(photo.content == Self.photo)
          #expect(photo.id == message.id && photo.from == DeviceID("watch"))
          photo.done()
          break
        }
      }
      _ = try await receipts.first("processed") { $0.stage == .processed }
    }
  }

  @Test("Two names have a stream each, and the handler gets what has no stream, all in the order of posting")
  func names() async throws {
    let nodes = try InProcessNodes()
    let watch = nodes.peer()
    let log = EventLog<String>()
    try await withRunning([nodes.hub, watch]) {
      try await watch.isConnected()
      let photos = try nodes.hub.messages.named("photo")
      let notes = try nodes.hub.messages.named("note", as: Note.self)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { for await photo in photos { log.append("photo of \(photo.content.count)") } }
        group.addTask { for await note in notes { log.append("note \(note.content.text)") } }
        group.addTask { try await nodes.hub.messages.handle { log.append("other \($0.message.name)") } }
        try await watch.messages.post(AppMessage(name: "photo", body: Self.photo), by: .queued)
        try await watch.messages.post(AppMessage(name: "note", encoding: Note("first")), by: .queued)
        try await watch.messages.post(AppMessage(name: "map", body: Data()), by: .queued)
        try await watch.messages.post(AppMessage(name: "note", encoding: Note("second")), by: .queued)
        _ = try await log.wait(for: "the second note") { $0.contains("note second") ? true : nil }
        #expect(log.events == ["photo of 30000", "note first", "other map", "note second"])
        group.cancelAll()
      }
    }
  }

  @Test("A message that was read and not finished when the phone died comes again with its id; a finished one does not")
  func crash() async throws {
    let (phone, crashed) = (try ScratchDirectory(), try ScratchDirectory())
    let watchStore = try ScratchDirectory()
    let messages = try ["a", "b", "c"].map { try AppMessage(name: "note", encoding: Note($0)) }
    let first = try InProcessNodes(store: try NodeStore(directory: phone.path))
    let watch = first.peer(store: try NodeStore(directory: watchStore.path))
    try await withRunning([first.hub, watch]) {
      let receipts = watch.messages.receipts(for: messages[0].id)
      for message in messages { try await watch.messages.post(message, by: .queued) }
      let notes = try first.hub.messages.named("note", as: Note.self)
      try await within("two notes") {
        var iterator = notes.makeAsyncIterator()
        #expect(await iterator.next()?.id == messages[0].id)
        // Asking for the second one finishes the first.
        #expect(await iterator.next()?.id == messages[1].id)
      }
      _ = try await receipts.first("processed") { $0.stage == .processed }
      // The phone dies while the second note is being processed.
      try crashed.takeFiles(of: phone)
    }
    let second = try InProcessNodes(store: try NodeStore(directory: crashed.path))
    let again = second.peer(store: try NodeStore(directory: watchStore.path))
    try await withRunning([second.hub, again]) {
      let notes = try second.hub.messages.named("note", as: Note.self)
      try await within("the other notes") {
        var ids: [MessageID] = []
        for await note in notes {
          ids.append(note.id)
          if ids.count == 2 { break }
        }
        #expect(ids == messages.dropFirst().map(\.id))
      }
    }
  }

  @Test("A message during which the loop is left or its task is cancelled comes again, to a new loop too")
  func unfinished() async throws {
    let nodes = try InProcessNodes()
    let watch = nodes.peer()
    let log = EventLog<String>()
    try await withRunning([nodes.hub, watch]) {
      for text in ["a", "b"] {
        try await watch.messages.post(AppMessage(name: "note", encoding: Note(text)), by: .queued)
      }
      let reading = Task {
        for await note in try nodes.hub.messages.named("note", as: Note.self) {
          log.append(note.content.text)
          // A piece of work that a cancellation cuts short.
          try? await Task.sleep(for: .seconds(600))
        }
      }
      try await log.wait(for: "the first note") { $0.first }
      reading.cancel()
      try await reading.value
      let left = try nodes.hub.messages.named("note", as: Note.self)
      try await within("the first note again") { for await note in left where note.content == Note("a") { break } }
      try await within("both notes") {
        var texts: [String] = []
        for await note in left {
          texts.append(note.content.text)
          note.done()
          if texts.count == 2 { break }
        }
        #expect(texts == ["a", "b"])
      }
    }
  }

  @Test("A body that cannot be read is set aside by its sender, and the loop goes on with the next message")
  func unreadable() async throws {
    let nodes = try InProcessNodes()
    let watch = nodes.peer()
    try await withRunning([nodes.hub, watch]) {
      let wrong = AppMessage(name: "note", body: Data("no note".utf8))
      let receipts = watch.messages.receipts(for: wrong.id)
      try await watch.messages.post(wrong, by: .queued)
      try await watch.messages.post(AppMessage(name: "note", encoding: Note("good")), by: .queued)
      let notes = try nodes.hub.messages.named("note", as: Note.self)
      try await within("the good note") {
        for await note in notes {
          #expect(note.content == Note("good"))
          note.done()
          break
        }
      }
      _ = try await receipts.first("set aside") { $0.stage == .rejected(.quarantined) }
    }
  }

  @Test("A message of a name that nobody reads is set aside by its sender, and does not hold those behind it for ever")
  func unread() async throws {
    let nodes = try InProcessNodes()
    let watch = nodes.peer()
    try await withRunning([nodes.hub, watch]) {
      let unread = AppMessage(name: "map", body: Data())
      let receipts = watch.messages.receipts(for: unread.id)
      try await watch.messages.post(unread, by: .queued)
      try await watch.messages.post(AppMessage(name: "note", encoding: Note("behind it")), by: .queued)
      let notes = try nodes.hub.messages.named("note", as: Note.self)
      try await within("the note behind it") {
        for await note in notes {
          #expect(note.content == Note("behind it"))
          note.done()
          break
        }
      }
      _ = try await receipts.first("set aside") { $0.stage == .rejected(.quarantined) }
    }
  }

  @Test("A message that the app cannot process now comes again")
  func failed() async throws {
    let nodes = try InProcessNodes()
    let watch = nodes.peer()
    try await withRunning([nodes.hub, watch]) {
      let message = try AppMessage(name: "note", encoding: Note("a"))
      try await watch.messages.post(message, by: .queued)
      let notes = try nodes.hub.messages.named("note", as: Note.self)
      try await within("the note, twice") {
        var ids: [MessageID] = []
        for await note in notes {
          ids.append(note.id)
          if ids.count == 2 { break }
          note.failed("the disk is full")
        }
        #expect(ids == [message.id, message.id])
      }
    }
  }

  @Test("Every delivery class reaches the stream of its name")
  func classes() async throws {
    let nodes = try InProcessNodes()
    let watch = nodes.peer()
    try await withRunning([nodes.hub, watch]) {
      try await watch.isConnected()
      let classes: [DeliveryClass] = [.queued, .latest(key: "key"), .live]
      let log = EventLog<DeliveryClass>()
      let notes = try watch.messages.named("note")
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { for await note in notes { log.append(note.received.deliveryClass) } }
        try await repeating {
          for deliveryClass in classes {
            try? await nodes.hub.messages.post(
              AppMessage(name: "note", body: Data()), by: deliveryClass, to: DeviceID("watch"))
          }
        } until: {
          _ = try await log.wait(for: "all classes") { Set($0).isSuperset(of: classes) ? true : nil }
        }
        group.cancelAll()
      }
    }
  }

  @Test("A name has one reader; it is free again when its stream is gone")
  func claimed() async throws {
    let nodes = try InProcessNodes()
    func claim() throws {
      let notes = try nodes.hub.messages.named("note")
      let error = #expect(throws: RunBusError.self) { try nodes.hub.messages.named("note", as: Note.self) }
      #expect(error?.code == .alreadyHandled)
      withExtendedLifetime(notes) {}
    }
    try claim()
    try claim()
  }

  @Test("A stream ends with its node, also when nothing has come and when it is read only then")
  func end() async throws {
    let nodes = try InProcessNodes()
    let early = try nodes.hub.messages.named("note")
    let reading = Task { for await _ in early { Issue.record("a message out of nowhere") } }
    try await withRunning([nodes.hub]) {}
    try await within("the end") { await reading.value }
    let late = try nodes.hub.messages.named("late")
    try await within("the end") { for await _ in late { Issue.record("a message out of nowhere") } }
  }

  @Test("A stream of a node that never ran ends with the node's last reference")
  func neverRan() async throws {
    var nodes: InProcessNodes? = try InProcessNodes()
    let notes = try #require(try nodes?.hub.messages.named("note"))
    let reading = Task { for await _ in notes { Issue.record("a message out of nowhere") } }
    nodes = nil
    try await within("the end") { await reading.value }
  }
}
