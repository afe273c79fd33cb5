import ArgumentParser
import Foundation
import RunBus

@main
struct Askers: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Hubs of many runners in one process, each with a key and a connection to the log of its own.",
    discussion: """
      Obeys its standard input, one order a line, and ends with it:
        open 2         the first hub opens a room with 2 places
        enter ROOM AT  all hubs ask to enter, at a moment of the machine's monotonic clock
        cancel         the first hub ends its room
        look ROOM      how each hub sees the room
      Answers are lines of JSON, one for each hub that was asked:
        {"event":"verdict","member":"a3","room":"...","verdict":"entered","after":123456}
        {"event":"room","member":"a3","room":"...","stage":"recruiting","count":101,"digest":"...","roster":["...","..."]}
      Times are nanoseconds. Stores are in memory.
      """)

  @Option(help: "The name of the log.") var log = "crew"
  @Option(help: "How many hubs.") var count = 1
  @Option(help: "What their nicknames begin with, a letter.") var name = "a"

  func run() async throws {
    guard let fleet = BusName(log) else { throw ValidationError("no log can be called \(log)") }
    let members = try (0..<count).map { try Member(name: "\(name)\($0)", fleet: fleet) }
    let orders = Self.orders()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for member in members { group.addTask { try await member.hub.run() } }
      for member in members { _ = try await member.hub.rooms() }
      say(["event": "ready"])
      for await order in orders {
        let words = order.split(separator: " ").map(String.init)
        switch (words.first, words.count) {
        case ("open", 2):
          guard let places = Int(words[1]), let first = members.first else { throw Self.unknown(order) }
          group.addTask { try await tell(first, .open(RoomTerms(goal: .seconds(600), places: places)), since: .now) }
        case ("enter", 3):
          guard let room = RoomID(words[1]), let at = Int64(words[2]) else { throw Self.unknown(order) }
          // All at once, in this process and in the others.
          let moment = ContinuousClock.now + .nanoseconds(at - Loop.now.nanoseconds)
          for member in members {
            group.addTask {
              try await Task.sleep(until: moment)
              try await tell(member, .enter(room), since: moment)
            }
          }
        case ("cancel", 1):
          guard let first = members.first else { throw Self.unknown(order) }
          group.addTask { try await tell(first, .cancel, since: .now) }
        case ("look", 2):
          guard let room = RoomID(words[1]) else { throw Self.unknown(order) }
          for member in members { say(try await member.look(at: room)) }
        default: throw Self.unknown(order)
        }
      }
      group.cancelAll()
      // The remaining tasks throw only because they were cancelled.
      while await group.nextResult() != nil {}
    }
    for member in members { await member.end() }
  }

  private static func unknown(_ order: String) -> ValidationError { ValidationError("no order: \(order)") }

  /// Asks, waits for the verdict, and writes it.
  private func tell(_ member: Member, _ wish: RoomAsk.Wish, since moment: ContinuousClock.Instant) async throws {
    let answer = try await member.answer(to: wish)
    let after = ContinuousClock.now - moment
    var line: [String: Any] = [
      "event": "verdict", "member": member.name, "after": Int64(after / .nanoseconds(1)),
    ]
    switch answer {
    case .judged(let room, .rejected(let refusal)):
      line["room"] = "\(room)"
      line["verdict"] = "\(refusal)"
    case .judged(let room, let verdict):
      line["room"] = "\(room)"
      line["verdict"] = "\(verdict)"
    case .refused(let denial): line["verdict"] = "refused: \(denial)"
    case .pending, .seeking, .matched, .unmatched: line["verdict"] = "none"
    }
    say(line)
  }

  /// A line at once, in one piece.
  private func say(_ line: [String: Any]) {
    guard let bytes = try? JSONSerialization.data(withJSONObject: line, options: [.sortedKeys]) else { return }
    FileHandle.standardOutput.write(bytes + Data("\n".utf8))
  }

  /// The lines of standard input; a blocking reader needs a thread of its own.
  private static func orders() -> AsyncStream<String> {
    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }
    return stream
  }
}

/// A runner with a hub.
private struct Member: Sendable {
  /// How often a hub is asked for a verdict: a verdict is known this much later than it was told.
  private static let askEvery = Duration.milliseconds(10)

  let name: String
  let hub: Hub
  private let log: SQLiteLog
  private let loop: Loop

  init(name: String, fleet: BusName) throws {
    guard let nickname = Nickname(name) else { throw ValidationError("nobody can be called \(name)") }
    self.name = name
    log = SQLiteLog(LogPlace(fleet))
    loop = try Loop()
    var configuration = HubConfiguration(deviceID: "phone")
    configuration.together = TogetherMember(
      log: log, key: .random(), fleet: .made(name: fleet), card: RoomCard(nickname: nickname))
    hub = Hub(configuration: configuration, listeners: [], store: NodeStore(), loop: loop)
  }

  func answer(to wish: RoomAsk.Wish) async throws -> RoomAnswer {
    let ask = RoomAsk(id: .random(), wish: wish)
    while true {
      let answer = try await hub.ask(ask)
      guard case .pending = answer else { return answer }
      try await Task.sleep(for: Self.askEvery)
    }
  }

  /// How the hub sees a room.
  func look(at room: RoomID) async throws -> [String: Any] {
    let report = try await hub.rooms().first { $0.room == room }
    return [
      "event": "room", "member": name, "room": "\(room)",
      "stage": report.map { String("\($0.state.stage)".prefix { $0 != "(" }) } ?? "none",
      "count": Int(report?.count ?? 0), "digest": report?.digest?.description ?? "",
      "roster": report?.state.members.map { "\($0.id)" } ?? [],
    ]
  }

  func end() async {
    await log.close()
    loop.stop()
  }
}
