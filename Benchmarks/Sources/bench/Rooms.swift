import ArgumentParser
import Foundation
import RunBus

/// How long an entry of a room takes until every member has folded it, beside the prototype's protocol.
struct Rooms: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "An entry of a room: its append, and until every member has folded it; beside the prototype's protocol.",
    discussion: """
      Members are processes that share a log on SQLite. RunBus's sign, check, hash and fold by the rules; the prototype's \
      (reference/room.py) read rows. Both play in turns, in this one run. A cell is the median of the rounds' percentiles, \
      with the smallest and the largest of them. The clock is the machine's monotonic one.
      """)

  @Option(help: "The prototype's program (Benchmarks/run gives it).") var prototype: String
  @Option(help: "How many members; may be repeated.") var members = [2, 4, 16]
  @Option(help: "Rounds of each side.") var rounds = 3
  @Option(help: "Entries of a round, of all members together.") var entries = 400
  @Option(help: "Milliseconds between two entries of the room.") var gap = 50

  func validate() throws {
    guard members.allSatisfy(RoomTerms.placesBounds.contains), rounds > 0, entries > 0, gap >= 0 else {
      throw ValidationError("2 to 32 members, and sizes are positive numbers")
    }
    guard members.allSatisfy({ entries / $0 <= 400 }) else {
      throw ValidationError("a member of a room writes 512 entries: at most 400 here")
    }
  }

  /// One of the two that are compared.
  private enum Maker: String, CaseIterable {
    case runBus = "RunBus"
    case prototype
  }

  func run() async throws {
    print(
      "\(rounds) rounds of \(entries) entries a side, \(gap) ms apart; load \(Machine.load) on \(Machine.cores) cores\n"
    )
    print("| members | | append, ms, p50 | p99 | folded by all, ms, p50 | p99 |\n|---|---|---|---|---|---|")
    for count in members {
      var times: [Maker: [RoomTimes]] = [:]
      for number in 0..<rounds {
        // The order alternates.
        for maker in number % 2 == 0 ? Maker.allCases : Maker.allCases.reversed() {
          times[maker, default: []].append(try await play(maker, count))
        }
      }
      for maker in Maker.allCases {
        let rounds = times[maker] ?? []
        func cell(_ spans: (RoomTimes) -> [Int64], _ part: Double) -> String {
          Spread(rounds.map { RoomTimes.milliseconds(spans($0), part) }).text(1)
        }
        print(
          "| \(count) | \(maker.rawValue) | \(cell(\.appends, 0.5)) | \(cell(\.appends, 0.99)) "
            + "| \(cell(\.folds, 0.5)) | \(cell(\.folds, 0.99)) |")
      }
    }
  }

  private func play(_ maker: Maker, _ count: Int) async throws -> RoomTimes {
    let place = try Place.make()
    defer { place.remove() }
    let own = max(1, entries / count)
    let pace = gap * count
    let outputs = try await withThrowingTaskGroup(of: (Int, String).self) { group in
      for number in 0..<count {
        let numbers = [place.directory, "\(number)", "\(count)", "\(own)", "\(pace)"]
        group.addTask {
          switch maker {
          case .runBus: (number, try await collect(CommandLine.arguments[0], ["room-member"] + numbers, limit: 1 << 22))
          case .prototype:
            (number, try await collect("/usr/bin/env", ["python3", prototype] + numbers, limit: 1 << 22))
          }
        }
      }
      var outputs: [Int: String] = [:]
      for try await (number, output) in group { outputs[number] = output }
      return outputs
    }
    let times = RoomTimes(outputs)
    guard times.folds.count == own * count else {
      throw BenchError(
        description: "\(maker.rawValue): \(times.folds.count) of \(own * count) entries were folded by all")
    }
    return times
  }
}

/// What the members of a round have measured, nanoseconds.
struct RoomTimes {
  /// From the beginning of an append to its end.
  private(set) var appends: [Int64] = []
  /// From the beginning of an append until the last member has folded the entry.
  private(set) var folds: [Int64] = []

  /// - Parameter outputs: The lines of each member, by its number.
  init(_ outputs: [Int: String]) {
    struct Entry: Hashable {
      let author: Int64
      let number: Int64
    }
    var began: [Entry: Int64] = [:]
    var folded: [Entry: [Int64]] = [:]
    for (member, output) in outputs {
      for line in output.split(separator: "\n") {
        let words = line.split(separator: " ")
        let numbers = words.dropFirst().compactMap { Int64($0) }
        guard numbers.count == 3 else { continue }
        if words[0] == "append" {
          began[Entry(author: Int64(member), number: numbers[0])] = numbers[1]
          appends.append(numbers[2] - numbers[1])
        } else {
          folded[Entry(author: numbers[0], number: numbers[1]), default: []].append(numbers[2])
        }
      }
    }
    for (entry, start) in began {
      guard let moments = folded[entry], moments.count == outputs.count, let last = moments.max() else { continue }
      folds.append(last - start)
    }
  }

  static func milliseconds(_ spans: [Int64], _ part: Double) -> Double {
    let sorted = spans.sorted()
    guard !sorted.isEmpty else { return .nan }
    return Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]) / 1e6
  }
}

/// A member of a room: appends entries, and folds those of all.
struct RoomMemberRole: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "room-member", shouldDisplay: false)
  @Argument var directory: String
  @Argument var number: Int
  @Argument var members: Int
  @Argument var entries: Int
  @Argument var gap: Int

  private static let fleet = FleetID.made(name: "bench")

  func run() async throws {
    limitLife()
    let environment = ["XDG_STATE_HOME": directory, "XDG_RUNTIME_DIR": directory]
    let log = SQLiteLog(LogPlace("bench", environment: environment))
    let signing = EntrySigning(.random())
    let room = try await room(in: log, signing)
    let member = RoomMember(log, signing, room: room, fleet: Self.fleet, members: members, entries: entries)
    async let lines = member.read()
    if number > 0 { try await member.append(.enter(card, metres: nil, seek: nil)) }
    let start = await member.everybody() + .milliseconds(300) + .milliseconds(gap) * number / members
    var own: [String] = []
    for count in 1...entries {
      try await Task.sleep(until: start + .milliseconds(gap) * count)
      let began = monotonic()
      try await member.append(.tick)
      own.append("append \(count) \(began) \(monotonic())")
    }
    let all = try await lines + own
    await log.close()
    print(all.joined(separator: "\n"))
  }

  private var card: RoomCard { RoomCard(nickname: Nickname("m\(number)")!, level: number % 10 + 1) }

  /// The room: the first member opens it, the others wait for it.
  private func room(in log: SQLiteLog, _ signing: EntrySigning) async throws -> RoomID {
    guard number > 0 else {
      let nonce = RoomNonce.random()
      let room = RoomID.made(owner: signing.key.id, nonce: nonce)
      let open = RoomContent(
        fleet: Self.fleet, room: room, author: signing.key.id, number: 1,
        ask: .open(RoomTerms(goal: .seconds(60), places: members), card), nonce: nonce)
      try await log.append(signing.signed(open), author: signing.key.id, to: room)
      return room
    }
    for _ in 0..<1000 {
      if let room = try await log.rooms().first { return room.room }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw BenchError(description: "nobody has opened the room")
  }
}

/// Follows a room and folds it; appends entries of its own.
private actor RoomMember {
  private let log: SQLiteLog
  private let signing: EntrySigning
  private let room: RoomID
  private let fleet: FleetID
  private let members: Int
  private let entries: Int
  private var digest = EntryDigest.none
  private var fold = RoomMachine()
  private var appended: UInt64 = 0
  private let full = AsyncStream.makeStream(of: ContinuousClock.Instant.self)

  init(_ log: SQLiteLog, _ signing: EntrySigning, room: RoomID, fleet: FleetID, members: Int, entries: Int) {
    (self.log, self.signing, self.room, self.fleet) = (log, signing, room, fleet)
    (self.members, self.entries) = (members, entries)
  }

  /// When all were in.
  func everybody() async -> ContinuousClock.Instant {
    for await moment in full.stream { return moment }
    return .now
  }

  func append(_ ask: RoomAskKind) async throws {
    appended = max(appended + 1, fold.nextNumber(of: signing.key.id))
    let content = RoomContent(
      fleet: fleet, room: room, author: signing.key.id, number: appended, seen: digest.seen, ask: ask)
    try await log.append(signing.signed(content), author: signing.key.id, to: room)
  }

  /// Reads until every member's entries are folded; a line for each.
  func read() async throws -> [String] {
    var lines: [String] = []
    var counts: [MemberID: Int] = [:]
    for await news in try await log.follow(room, from: 0) {
      guard case .rows(let batch) = news else { throw BenchError(description: "the log says \(news)") }
      for row in batch.rows {
        let signed = try EntrySigning.read(entry: row.body, room: room, fleet: fleet, author: row.author)
        digest = digest.next(position: row.position, time: row.time, hash: signed.hash)
        let folded = fold.apply(signed.entry(position: row.position, time: row.time), digest: digest.hash)
        guard case .verdict(.noted) = folded, case .tick = signed.content.ask else { continue }
        counts[row.author, default: 0] += 1
        guard let card = fold.state.member(row.author)?.card, let author = Int(card.nickname.text.dropFirst()) else {
          throw BenchError(description: "an entry of nobody")
        }
        lines.append("folded \(author) \(counts[row.author] ?? 0) \(monotonic())")
      }
      if fold.state.members.count == members { full.continuation.yield(.now) }
      if lines.count == members * entries { return lines }
    }
    return lines
  }
}
