import RunCore
import TestSupport
import Testing

@testable import RunBus

@Suite("Every shared log")
struct SharedLogTests {
  private let room = RoomID(high: 1, low: 1)
  private let other = RoomID(high: 2, low: 2)
  private let ann = MemberID.test(1)
  private let bob = MemberID.test(2)

  @Test("Entries come in order, each once, with times that grow", arguments: LogKind.allCases)
  func order(_ kind: LogKind) async throws {
    try await kind.withFleet { fleet in
      let (one, two) = (fleet.member(), fleet.member())
      for number in 1...3 as ClosedRange<UInt8> { try await one.append([number], author: ann, to: room) }
      let reader = FeedReader(try await two.follow(room, from: 0))
      try await reader.rows(3)
      for number in 4...6 as ClosedRange<UInt8> {
        try await (number.isMultiple(of: 2) ? one : two).append([number], author: bob, to: room)
      }
      let rows = try await reader.rows(6)
      #expect(rows.map(\.body) == (1...6).map { [$0] })
      #expect(rows.map(\.author) == [ann, ann, ann, bob, bob, bob])
      #expect(zip(rows, rows.dropFirst()).allSatisfy { $0.position < $1.position && $0.time < $1.time })
      #expect(try await one.rows(of: room, from: 0, count: 100) == rows)
      #expect(try await one.now() > rows[5].time)
    }
  }

  @Test("Four writers at once leave no hole for whoever follows", arguments: LogKind.allCases)
  func writers(_ kind: LogKind) async throws {
    try await kind.withFleet { fleet in
      let readers = try await [fleet.member(), fleet.member()].asyncMap {
        FeedReader(try await $0.follow(room, from: 0))
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 1...4 as ClosedRange<UInt8> {
          let log = fleet.member()
          group.addTask {
            for number in 0..<40 as Range<UInt8> { try await log.append([number], author: .test(writer), to: room) }
          }
        }
        try await group.waitForAll()
      }
      let all = try await readers[0].rows(160)
      #expect(try await readers[1].rows(160) == all)
      #expect(try await fleet.member().rows(of: room, from: 0, count: 256) == all)
      for writer in 1...4 as ClosedRange<UInt8> {
        #expect(all.filter { $0.author == .test(writer) }.map(\.body) == (0..<40).map { [$0] })
      }
      #expect(zip(all, all.dropFirst()).allSatisfy { $0.position < $1.position && $0.time < $1.time })
    }
  }

  @Test(
    "A member has so many entries in a room and no more, those of others and in other rooms do not count",
    arguments: LogKind.allCases)
  func entriesBound(_ kind: LogKind) async throws {
    try await kind.withFleet { fleet in
      let (log, runner) = (fleet.member(), SigningRunner())
      for number in 1...LogFleet.capacity.entriesOfAuthor {
        try await log.append(runner.entry(UInt64(number), in: room), author: runner.id, to: room)
      }
      let further = runner.entry(UInt64(LogFleet.capacity.entriesOfAuthor) + 1, in: room)
      await #expect(throws: SharedLogError.full(.entries)) {
        try await log.append(further, author: runner.id, to: room)
      }
      try await log.append([1], author: bob, to: room)
      try await log.append([1], author: runner.id, to: other)
      #expect(try await log.rooms().map(\.count) == [1, LogFleet.capacity.entriesOfAuthor + 1])
    }
  }

  @Test("What others put under a member's key takes no entry from the member", arguments: LogKind.allCases)
  func foreignEntries(_ kind: LogKind) async throws {
    try await kind.withFleet { fleet in
      let (log, runner, thief) = (fleet.member(), SigningRunner(), SigningRunner())
      let first = runner.entry(1, in: room)
      try await log.append(first, author: runner.id, to: room)
      for number in 1...UInt64(LogFleet.capacity.entriesOfAuthor) {
        // Garbage, an entry of another, one of another room, and what the member itself has said before.
        let bytes = [[1], thief.entry(number, in: room), runner.entry(number, in: other), first][Int(number % 4)]
        try await log.append(bytes, author: runner.id, to: room)
      }
      for number in 2...4 as ClosedRange<UInt64> {
        try await log.append(runner.entry(number, in: room), author: runner.id, to: room)
      }
      #expect(try await log.rooms().map(\.count) == [LogFleet.capacity.entriesOfAuthor + 4])
    }
  }

  @Test("An entry of 4,096 bytes is taken and a longer one refused", arguments: LogKind.allCases)
  func bytesBound(_ kind: LogKind) async throws {
    try await kind.withFleet { fleet in
      let log = fleet.member()
      let body = [UInt8](repeating: 7, count: LogBounds.bytes)
      try await log.append(body, author: ann, to: room)
      await #expect(throws: SharedLogError.full(.bytes)) { try await log.append(body + [7], author: ann, to: room) }
      await #expect(throws: SharedLogError.full(.bytes)) { try await log.announce(body + [7], class: "o", author: ann) }
      await #expect(throws: SharedLogError.full(.className)) { try await log.announce(body, class: "", author: ann) }
      #expect(try await log.rows(of: room, from: 0, count: 9).map(\.body) == [body])
    }
  }

  @Test("Who follows one room hears nothing of another", arguments: LogKind.allCases)
  func rooms(_ kind: LogKind) async throws {
    try await kind.withFleet { fleet in
      let log = fleet.member()
      let readers = try await [room, other].asyncMap { FeedReader(try await log.follow($0, from: 0)) }
      for number in 0..<10 as Range<UInt8> {
        try await log.append([number], author: ann, to: number.isMultiple(of: 2) ? room : other)
      }
      #expect(try await readers[0].rows(5).map(\.body) == [[0], [2], [4], [6], [8]])
      #expect(try await readers[1].rows(5).map(\.body) == [[1], [3], [5], [7], [9]])
      let rooms = try await log.rooms()
      #expect(rooms.map(\.room) == [other, room] && rooms.map(\.count) == [5, 5])
      #expect(rooms[0].position == readers[1].rows[4].position && rooms[0].time == readers[1].rows[4].time)
    }
  }

  @Test("Sixteen rooms are followed by one member", arguments: LogKind.allCases)
  func followers(_ kind: LogKind) async throws {
    try await kind.withFleet { fleet in
      let (reader, writer) = (fleet.member(), fleet.member())
      let rooms = (1...16 as ClosedRange<UInt64>).map { RoomID(high: 0, low: $0) }
      let readers = try await rooms.asyncMap { FeedReader(try await reader.follow($0, from: 0)) }
      for round in 0..<3 as Range<UInt8> {
        for room in rooms { try await writer.append([round], author: ann, to: room) }
      }
      for reader in readers { #expect(try await reader.rows(3).map(\.body) == [[0], [1], [2]]) }
    }
  }

  @Test("Following begins at the position itself, and says at once that there is nothing", arguments: LogKind.allCases)
  func position(_ kind: LogKind) async throws {
    try await kind.withFleet { fleet in
      let log = fleet.member()
      for number in 0..<5 as Range<UInt8> { try await log.append([number], author: ann, to: room) }
      let all = try await log.rows(of: room, from: 0, count: 9)
      let reader = FeedReader(try await log.follow(room, from: all[3].position))
      #expect(try await reader.rows(2) == Array(all[3...]))
      let empty = FeedReader(try await log.follow(room, from: all[4].position + 1))
      let first = try await empty.log.wait(for: "the first batch") { $0.first }
      guard case .rows(let batch) = first else { throw DeadlineMissed(what: "a batch") }
      #expect(batch.rows.isEmpty && !batch.hasMore)
      try await log.append([9], author: ann, to: room)
      #expect(try await empty.rows(1).map(\.body) == [[9]])
    }
  }

  @Test("A long room comes in batches, without holes", arguments: LogKind.allCases)
  func batches(_ kind: LogKind) async throws {
    try await kind.withFleet { fleet in
      let log = fleet.member()
      for number in 0..<300 { try await log.append([UInt8(number % 256)], author: ann, to: room) }
      let reader = FeedReader(try await log.follow(room, from: 0))
      #expect(try await reader.rows(300).map(\.body) == (0..<300).map { [UInt8($0 % 256)] })
      let batches = reader.log.events.compactMap { if case .rows(let batch) = $0 { batch } else { nil } }
      #expect(batches.map(\.hasMore) == [true, false])
    }
  }

  @Test("An older copy of the log is noticed by whoever had read more", arguments: LogKind.allCases)
  func olderCopy(_ kind: LogKind) async throws {
    try await kind.withFleet { fleet in
      let (log, writer) = (fleet.member(), fleet.member())
      for number in 0..<3 as Range<UInt8> { try await writer.append([number], author: ann, to: room) }
      try await fleet.copy(of: writer)
      for number in 3..<6 as Range<UInt8> { try await writer.append([number], author: ann, to: room) }
      let reader = FeedReader(try await log.follow(room, from: 0))
      let before = try await reader.rows(6)
      try fleet.putCopyBack()
      try await writer.append([100], author: bob, to: other)
      try await reader.log.wait(for: "the word of it") { $0.first { $0.replacement != nil } }
      // The positions of what was lost are used again.
      for number in 0..<4 as Range<UInt8> { try await writer.append([50 + number], author: bob, to: room) }
      let anew = FeedReader(try await log.follow(room, from: before[2].position))
      let rows = try await anew.rows(5)
      #expect(rows[0] == before[2])
      #expect(rows.dropFirst().map(\.body) == [[50], [51], [52], [53]])
      #expect(Set(reader.rows.map(\.body)).isDisjoint(with: [[100]]))
    }
  }

  @Test("A log that begins anew is noticed, and followed on", arguments: LogKind.allCases)
  func anotherLog(_ kind: LogKind) async throws {
    try await kind.withFleet { fleet in
      let log = fleet.member()
      try await log.append([1], author: ann, to: room)
      let former = try await log.identity()
      let reader = FeedReader(try await log.follow(room, from: 0))
      try await reader.rows(1)
      fleet.takeAway()
      try await log.append([2], author: ann, to: room)
      let id = try await log.identity()
      #expect(id != former)
      #expect(try await reader.rows(2).map(\.body) == [[1], [2]])
      #expect(reader.log.events.compactMap(\.replacement) == [id])
    }
  }

  @Test(
    "A moment is told on the member's own clock, and is never before the entry was there", arguments: LogKind.allCases)
  func moments(_ kind: LogKind) async throws {
    try await kind.withFleet { fleet in
      let (log, writer) = (fleet.member(ahead: .seconds(1_000_000)), fleet.member())
      let reader = FeedReader(try await log.follow(room, from: 0))
      let begin = Loop.now
      let start = try await writer.now()
      for number in 0..<20 as Range<UInt8> { try await writer.append([number], author: ann, to: room) }
      try await reader.rows(20)
      let end = Loop.now
      for case .rows(let batch) in reader.log.events {
        for row in batch.rows {
          let heard = batch.heard - .seconds(1_000_000)
          #expect(heard <= end)
          // The clocks run alike, so the log's time since the start is at most the own one.
          #expect(row.time - start <= heard - begin + .milliseconds(1))
        }
      }
    }
  }

  @Test(
    "Of live messages the newest of each member and kind come, and two a second are taken", arguments: LogKind.allCases)
  func live(_ kind: LogKind) async throws {
    try await kind.withFleet { fleet in
      let (sender, listener) = (fleet.member(), fleet.member(ahead: .seconds(5000)))
      for number in 1...5 as ClosedRange<UInt8> { sender.shout([number], kind: .standing, room: room, author: ann) }
      sender.shout([9], kind: .standing, room: other, author: ann)
      sender.shout([7], kind: .place, room: room, author: bob)
      let early = FeedReader(try await fleet.member().listen(room))
      try await early.log.wait(for: "bob") { $0.compactMap { $0 }.flatMap { $0 }.first { $0.author == bob } }
      // Who comes later gets the newest only.
      let late = FeedReader(try await listener.listen(room))
      let rows = try await late.log.wait(for: "what is there") { $0.first ?? nil }
      #expect(rows.map(\.author) == [ann, bob] && rows.map(\.body) == [[2], [7]])
      #expect(rows.map(\.kind) == [.standing, .place])
      let age = Loop.now + .seconds(5000) - (rows.first?.sent ?? .zero)
      #expect((BusDuration.zero...BusDuration.seconds(60)).contains(age))
      fleet.passed.withLock { $0 = .seconds(2) }
      sender.shout([6], kind: .standing, room: room, author: ann)
      try await late.log.wait(for: "the next one") { $0.compactMap { $0 }.flatMap { $0 }.first { $0.body == [6] } }
    }
  }

  @Test("An advert is replaced, taken away, and gone after three minutes", arguments: LogKind.allCases)
  func adverts(_ kind: LogKind) async throws {
    try await kind.withFleet { fleet in
      let (log, reader) = (fleet.member(), fleet.member())
      try await log.announce([1], class: "g30", author: ann)
      try await log.announce([2], class: "g30", author: bob)
      try await log.announce([3], class: "o", author: ann)
      #expect(try await reader.adverts(["g30"]).map(\.body) == [[1], [2]])
      try await log.announce([4], class: "g30", author: ann)
      #expect(try await reader.adverts(["g30", "o", "g45"]).map(\.body) == [[2], [3], [4]])
      try await log.announce(nil, class: "g30", author: bob)
      #expect(try await reader.adverts(["g30", "o"]).map(\.body) == [[3], [4]])
      fleet.passed.withLock { $0 = .seconds(120) }
      try await log.announce([5], class: "o", author: ann)
      fleet.passed.withLock { $0 = .seconds(190) }
      #expect(try await reader.adverts(["g30", "o"]).map(\.body) == [[5]])
    }
  }

  @Test("A member has so many adverts and no more", arguments: LogKind.allCases)
  func advertsBound(_ kind: LogKind) async throws {
    try await kind.withFleet { fleet in
      let (log, runner) = (fleet.member(), SigningRunner())
      func announce(_ name: String) async throws {
        try await log.announce(runner.advert(listedAs: name), class: name, author: runner.id)
      }
      for number in 0..<LogFleet.capacity.advertsOfAuthor { try await announce("\(number)") }
      await #expect(throws: SharedLogError.full(.adverts)) { try await announce("x") }
      try await announce("7")
      try await log.announce([2], class: "x", author: bob)
    }
  }

  @Test("What others announce under a member's key takes no advert from the member", arguments: LogKind.allCases)
  func foreignAdverts(_ kind: LogKind) async throws {
    try await kind.withFleet { fleet in
      let (log, runner, thief) = (fleet.member(), SigningRunner(), SigningRunner())
      try await log.announce(runner.advert(listedAs: "g30"), class: "g30", author: runner.id)
      for number in 1..<LogFleet.capacity.advertsOfAuthor {
        let bytes = number.isMultiple(of: 2) ? [1] : thief.advert(listedAs: "\(number)")
        try await log.announce(bytes, class: "\(number)", author: runner.id)
      }
      try await log.announce(runner.advert(listedAs: "g45"), class: "g45", author: runner.id)
      #expect(try await log.adverts(["g30", "g45"]).map(\.author) == [runner.id, runner.id])
    }
  }

  @Test("A nickname has one member, however it is written, and a member one nickname", arguments: LogKind.allCases)
  func names(_ kind: LogKind) async throws {
    try await kind.withFleet { fleet in
      let (log, other) = (fleet.member(), fleet.member())
      func claim(_ text: String, _ log: any SharedLog, _ member: MemberID) async throws -> Bool {
        try await log.claim(try #require(Nickname(text)), for: member)
      }
      let isTaken = try await claim("Zoë", log, ann)
      #expect(isTaken)
      #expect(try await claim("Zoë", other, ann))
      for text in ["zoë", "ZOË", "Zoe\u{308}"] { #expect(try await claim(text, other, bob) == false) }
      // Another accent, and a letter of another script that looks alike, make another name.
      for text in ["Zoé", "Z\u{43E}ë", "Zoe"] { #expect(try await claim(text, other, bob)) }
      #expect(try await claim("Straße", log, ann))
      #expect(try await claim("STRASSE", other, bob) == false)
      // The former name is free.
      #expect(try await claim("ZOË", other, bob))
    }
  }

  @Test("Closing ends all feeds, and later calls say so", arguments: LogKind.allCases)
  func closing(_ kind: LogKind) async throws {
    try await kind.withFleet { fleet in
      let log = fleet.member()
      let readers = try await [room, other].asyncMap { FeedReader(try await log.follow($0, from: 0)) }
      let listener = FeedReader(try await log.listen(room))
      try await log.append([1], author: ann, to: room)
      try await readers[0].rows(1)
      await log.close()
      for reader in readers { try await reader.end() }
      try await listener.end()
      await #expect(throws: SharedLogError.closed) { try await log.append([1], author: ann, to: room) }
      await #expect(throws: SharedLogError.closed) { _ = try await log.follow(room, from: 0) }
      log.shout([1], kind: .standing, room: room, author: ann)
      await log.close()
    }
  }

  @Test("A reader that is cancelled while it waits loses nothing of the feed", arguments: LogKind.allCases)
  func cancelled(_ kind: LogKind) async throws {
    try await kind.withFleet { fleet in
      let log = fleet.member()
      let feed = try await log.follow(room, from: 0)
      _ = await feed.first { _ in true }
      for number in 0..<5 as Range<UInt8> {
        let waiting = Task { await feed.first { _ in true } }
        waiting.cancel()
        let early = await waiting.value
        if early == nil {
          try await log.append([number], author: ann, to: room)
          let news = try await within("the entry") { await feed.first { !Optional($0).rows.isEmpty } }
          #expect(news.rows.map(\.body) == [[number]])
        }
      }
    }
  }
}

extension Array {
  /// The results of a body for each element, one after the other.
  func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await body(element)) }
    return values
  }
}
