@testable import RunCore
import Testing

@Suite("Which runs a hub keeps as records")
struct RecordKeepingTests {
  private static let run = RunID.number(1)
  private var records = RecordKeeping(HubHistory(), term: 2, speed: .realTime, now: .zero)

  private static func seconds(_ count: Int64) -> BusTime { .zero + .seconds(count) }

  private static func summary(version: UInt64 = 1) -> RecordSummary {
    RecordSummary(
      runID: run, version: version, deviceID: .watch, hubDeviceID: .phone, appVersion: "", startedAtUnixSeconds: 0,
      elapsed: .zero, active: .zero, setup: RunSetup(), isConflicted: false, title: "", note: "")
  }

  @Test("A removed record gets the next version, is known for good, and is not expected again")
  mutating func removed() {
    #expect(records.keep(Self.summary()) == 2 << 30 | 1)
    _ = records.expect(Self.run, dueAt: .zero)
    let removal = records.remove(Self.run)
    #expect(removal?.version == 2 && removal?.change == 2 << 30 | 2)
    #expect(records.removal(of: Self.run) == 2 && records.nextVersion(of: Self.run) == 3)
    #expect(records.kept.isEmpty && records.expected.all.isEmpty && records.knows(Self.run))
    #expect(records.expect(Self.run, dueAt: .zero) == nil)
    #expect(records.expected.all.isEmpty)
    #expect(records.remove(Self.run) == nil)
  }

  @Test("A part of a run that comes while its journal is read makes the record change again")
  mutating func reading() {
    _ = records.expect(Self.run, dueAt: Self.seconds(60))
    #expect(records.nextDue(at: Self.seconds(59)) == nil && records.deadline == Self.seconds(60))
    records.hurry(at: Self.seconds(1))
    #expect(records.nextDue(at: Self.seconds(1))?.run == Self.run)
    records.beginReading(Self.run)
    #expect(records.isReading && records.expected[Self.run]?.hasChanged == false && records.deadline == nil)
    _ = records.expect(Self.run, dueAt: Self.seconds(61))
    #expect(records.endReading(.number(2)) == false)
    #expect(records.endReading(Self.run) == true)
    #expect(records.expected[Self.run]?.hasChanged == true && !records.isReading)
  }

  @Test("A question waits while a record is due, and is answered after its patience")
  mutating func questions() {
    #expect(records.ask(.records(from: 0), 1, until: Self.seconds(9), at: .zero) == false)
    _ = records.expect(Self.run, dueAt: .zero)
    #expect(records.ask(.records(from: 0), 2, until: Self.seconds(9), at: .zero) == true)
    #expect(records.takeQuestion(at: Self.seconds(8)) == nil)
    #expect(records.takeQuestion(at: Self.seconds(9))?.number == 2)
    #expect(!records.hasQuestions)
  }

  @Test("Parts of an upload have to follow each other; after one that does not fit all is forgotten")
  mutating func upload() {
    func part(_ from: Int, _ bytes: [UInt8]) -> RecordUpload { RecordUpload(from: from, bytes: bytes, total: 4) }
    func name(_ upload: RecordKeeping.Upload) -> String {
      switch upload {
      case .misfit: "misfit"
      case .incomplete: "incomplete"
      case .complete(let bytes): "\(bytes)"
      }
    }
    #expect(name(records.receive(part(0, [1, 2]))) == "incomplete")
    #expect(name(records.receive(part(3, [4]))) == "misfit")
    #expect(name(records.receive(part(2, [3, 4]))) == "misfit")
    #expect(name(records.receive(part(0, [1, 2]))) == "incomplete")
    #expect(name(records.receive(part(2, [3, 4]))) == "[1, 2, 3, 4]")
  }

  @Test("The journal of a run is dropped a day after its end, once it is a record and not the present run")
  mutating func journals() {
    #expect(records.endJournal(of: Self.run, at: .zero) == .endJournal(Self.run, at: .zero))
    #expect(records.endJournal(of: Self.run, at: Self.seconds(5)) == nil)
    #expect(records.end(of: Self.run) == .zero)
    #expect(records.journalDeadline(present: nil) == nil)
    _ = records.keep(Self.summary())
    let due = BusTime.zero + ControlHistory.age + BusDuration(nanoseconds: 1)
    #expect(records.journalDeadline(present: nil) == due)
    #expect(records.journalDeadline(present: Self.run) == nil)
    #expect(records.takeJournals(present: nil, at: BusTime.zero + ControlHistory.age) == [])
    #expect(records.takeJournals(present: nil, at: due) == [Self.run])
    #expect(records.end(of: Self.run) == nil && records.forgetJournal(of: Self.run) == false)
  }
}
