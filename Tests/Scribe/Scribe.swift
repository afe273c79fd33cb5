import ArgumentParser
import Foundation
import RunBus

@main
struct Scribe: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Appends to a room of the log of this machine, follows it, or both, as a hub in a process of its own does.",
    discussion: """
      An entry's body is its number among the author's, and when its append began on the machine's monotonic clock.
        {"event":"acked","number":7,"took":612345}             entry 7 is durable
        {"event":"read","position":41,"time":…,"author":"…","number":7,"late":812345}
        {"event":"replaced"} · {"event":"trouble","text":"…"} · {"event":"refused","number":7,"text":"…"}
      Times are nanoseconds. It ends with its standard input.
      """)

  @Option(help: "The name of the log.") var log = "crew"
  @Option(help: "The room, a number.") var room: UInt64 = 1
  @Option(help: "The author, two hexadecimal digits that are repeated.") var author = "01"
  @Option(help: "How many entries to append; 0 for as many as there is time for.") var count = -1
  @Option(help: "Milliseconds between two appends.") var gap = 0
  @Option(help: "Bytes of an entry.") var bytes = 200
  @Flag(help: "Follows the room from its beginning.") var follow = false
  @Flag(help: "Goes on after a refusal.") var stubborn = false

  func run() async throws {
    guard let name = BusName(log) else { throw ValidationError("no log can be called \(log)") }
    guard let byte = UInt8(author, radix: 16), let author = MemberID([UInt8](repeating: byte, count: 32)) else {
      throw ValidationError("no author: \(author)")
    }
    let log = SQLiteLog(LogPlace(name))
    let room = RoomID(high: 0, low: room)
    let feed = follow ? try await log.follow(room, from: 0) : nil
    say(#"{"event":"ready"}"#)
    try await withThrowingTaskGroup(of: Void.self) { group in
      if let feed { group.addTask { for await news in feed { show(news) } } }
      if count >= 0 { group.addTask { try await write(to: log, room, author) } }
      group.addTask {
        await Self.endOfInput()
        await log.close()
      }
      try await group.waitForAll()
    }
  }

  private func write(to log: SQLiteLog, _ room: RoomID, _ author: MemberID) async throws {
    var number: UInt64 = 0
    while count == 0 || number < count {
      number += 1
      let start = Loop.now
      var body = [UInt8](repeating: 0, count: max(16, bytes))
      body.replaceSubrange(0..<16, with: Self.bytes(number) + Self.bytes(UInt64(start.nanoseconds)))
      do {
        try await log.append(body, author: author, to: room)
        say(#"{"event":"acked","number":\#(number),"took":\#((Loop.now - start).nanoseconds)}"#)
      } catch .closed { return } catch {
        say(#"{"event":"refused","number":\#(number),"text":"\#(error)"}"#)
        if !stubborn { return }
      }
      if gap > 0 { try await Task.sleep(for: .milliseconds(gap)) }
    }
    say(#"{"event":"written"}"#)
  }

  private func show(_ news: LogNews) {
    switch news {
    case .replaced: say(#"{"event":"replaced"}"#)
    case .unavailable(let sentence): say(#"{"event":"trouble","text":"\#(sentence)"}"#)
    case .rows(let batch):
      let now = Loop.now.nanoseconds
      for row in batch.rows where row.body.count >= 16 {
        let (number, start) = (Self.number(row.body.prefix(8)), Self.number(row.body.dropFirst(8).prefix(8)))
        say(
          #"{"event":"read","position":\#(row.position),"time":\#(row.time.nanoseconds),"author":"\#(row.author)","#
            + #""number":\#(number),"late":\#(now - Int64(clamping: start))}"#)
      }
    }
  }

  private static func bytes(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }
  }
  private static func number(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

  /// A line at once, in one piece.
  private func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

  /// A blocking reader needs a thread of its own.
  private static func endOfInput() async {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        while readLine() != nil {}
        continuation.resume()
      }
    }
  }
}
