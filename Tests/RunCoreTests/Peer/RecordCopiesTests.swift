@testable import RunCore
import Testing

@Suite("A peer's copies of the hub's records")
struct RecordCopiesTests {
  private var turns = PartTurns<PeerCore.Action>()
  private var copies = RecordCopies([], through: 0)

  // Once broken: A peer on a connection without records began to fetch them when the hub stated a lower number than its
  // store had, because that statement opened the inbox of records without a session.
  @Test("Copies that no session fetches ask for nothing, whatever the hub says of its last change")
  mutating func noSession() {
    copies = RecordCopies([], through: 5)
    #expect(note(newest: 9) == [])
    #expect(note(newest: 2) == [])
  }

  private mutating func lines(_ body: (inout RecordCopies, inout PeerCore.Turn) -> Void) -> [String] {
    turns.lines(\.line) { body(&copies, &$0) }
  }

  private mutating func note(newest: UInt64) -> [String] { lines { $0.note(newest: newest, over: 1, in: &$1) } }

  /// All writes are durable: returns the news for the app, and asks for the next change.
  private mutating func commits() -> [String] {
    turns.commit().flatMap { durable in
      lines { copies, turn in
        guard case .recordChanged(let news, _) = durable else { return }
        if let news { turn.act(.record(news)) }
        copies.finishWriting(over: 1, in: &turn)
      }
    }
  }

  private func line(_ reply: InquiryReply?) -> String {
    switch reply {
    case nil: "wait"
    case .durably(let answer, _)?: NodeLines.line(answer)
    case .read(let run, let from)?: "read run \(run.low) from \(from)"
    case .atOnce?: "refuse"
    }
  }

  private mutating func open(newest: UInt64) -> [String] {
    lines { $0.open(newest: newest, over: 1, in: &$1) }
  }

  private mutating func removal(_ number: UInt64) -> [String] {
    let change = RecordChange(number: number, runID: RunID(high: 9, low: 1), version: 2, summary: nil)
    return lines { $0.receive(change, over: 1, in: &$1) }
  }

  @Test("Changes are fetched one after another, each after the one before it is durable")
  mutating func fetching() {
    #expect(open(newest: 0) == [])
    #expect(note(newest: 2) == ["fetch after 0.0 from 0"])
    #expect(copies.retryAt != nil)
    #expect(removal(1) == ["commit: records to 0.1"])
    #expect(lines { $0.fetchNext(over: 1, in: &$1) } == [])
    #expect(commits() == ["fetch after 0.1 from 0"])
    copies.close()
    #expect(copies.retryAt == nil)
  }

  @Test("A hub that has lost changes is asked for all of them")
  mutating func lostChanges() {
    copies = RecordCopies([], through: 7)
    #expect(open(newest: 5) == ["commit: records to 0.0", "fetch after 0.0 from 0"])
  }

  private func summary(_ run: UInt64, _ version: UInt64) -> RecordSummary {
    RecordSummary(
      runID: RunID(high: 9, low: run), version: version, deviceID: DeviceID("watch"), hubDeviceID: DeviceID("phone"),
      appVersion: "1", startedAtUnixSeconds: Double(run), elapsed: .zero, active: .zero)
  }

  @Test("Removed runs are listed behind the copies, over a restart, and until a newer version comes")
  mutating func removals() {
    copies = RecordCopies([summary(1, 1), summary(2, 1)], removed: [RunID(high: 9, low: 3): 4], through: 0)
    #expect(line(copies.answer(.records(from: 0), 1, at: .zero)) == "records 1v1 2v1 of 3, 3v4 removed")
    #expect(line(copies.answer(.records(from: 2), 1, at: .zero)) == "records  of 3, 3v4 removed")
    #expect(line(copies.answer(.records(from: 3), 1, at: .zero)) == "records  of 3")
    // The hub's word removes a copy, and what it removed is listed from then on.
    _ = open(newest: 1)
    #expect(removal(1) == ["commit: remove record 2, records to 0.1"])
    #expect(commits() == ["removed run 1"])
    #expect(line(copies.answer(.records(from: 0), 1, at: .zero)) == "records 2v1 of 3, 1v2 removed, 3v4 removed")
  }

  @Test("A question waits while changes are on their way, and three seconds at most")
  mutating func waiting() {
    #expect(line(copies.answer(.records(from: 0), 1, at: .zero)) == "records  of 0")
    _ = open(newest: 1)
    #expect(line(copies.answer(.records(from: 0), 2, at: .zero)) == "wait")
    #expect(line(copies.answer(.record(RunID(high: 9, low: 1), from: 0), 3, at: .zero + .seconds(1))) == "wait")
    #expect(copies.answerAt == .zero + .seconds(3))
    #expect(copies.dueReplies(at: .zero + .seconds(2)).isEmpty)
    #expect(copies.dueReplies(at: .zero + .seconds(3)).map(\.number) == [2])
    _ = removal(1)
    #expect(copies.dueReplies(at: .zero + .seconds(3)).isEmpty)
    _ = commits()
    #expect(copies.dueReplies(at: .zero + .seconds(3)).map { "\($0.number) \(line($0.reply))" } == ["3 refuse"])
    #expect(!copies.hasQuestions)
  }

  @Test("At most 64 questions wait, and orders to change a record are refused")
  mutating func bounds() {
    _ = open(newest: 1)
    for number in 1...64 { #expect(line(copies.answer(.records(from: 0), UInt64(number), at: .zero)) == "wait") }
    #expect(line(copies.answer(.records(from: 0), 65, at: .zero)) == "records  of 0")
    copies.close()
    #expect(line(copies.answer(.removeRecord(RunID(high: 9, low: 1)), 66, at: .zero)) == "refuse")
  }
}
