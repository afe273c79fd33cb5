import Testing

@testable import RunCore

/// `StoreRoundTripTests` compares this state with the file store over random operations.
@Suite("The state of a store in memory")
struct StoredStateTests {
  private var state = StoredState()
  private let run = RunID.number(1)
  private let author = Author(source: .phone, deviceID: "phone", commandID: .number(1))

  private mutating func apply(_ operations: StoreOperation...) {
    for operation in operations { state.apply(operation, bootID: "boot", wallSeconds: 5) }
  }

  private func press(_ id: UInt64) -> AcceptedCommand { RunCoreTests.press(.lap, at: 0, id: id) }

  private func judge(_ id: UInt64, _ outcome: Outcome, at seconds: Int64) -> StoreOperation {
    let verdict = Verdict(
      commandID: .number(id), kind: .lap, source: .phone, outcome: outcome, runID: nil, term: 1, revision: 1,
      effectiveAt: nil)
    return .judge(verdict, press(id), judgedAt: .zero + .seconds(seconds))
  }

  private func append(_ position: UInt64, _ event: LedgerEvent) -> StoreOperation {
    .append(run, LedgerEntry(time: .zero, position: position, event: event))
  }

  private func transition(_ revision: UInt64) -> LedgerEvent {
    .transition(Transition(kind: .pause, revision: revision, change: author))
  }

  @Test("A command that is accepted again goes to the end, and its verdict removes it with its claims")
  mutating func commands() {
    apply(.accept(press(1), .window), .accept(press(2), .window), .accept(press(1), .late))
    let (first, second) = (StoreID.number(1), StoreID.number(2))
    apply(.claim(press(1).command.id, second), .claim(press(1).command.id, first), .claim(press(1).command.id, second))
    apply(.reclassify(press(2).command.id, .held), .reclassify(press(3).command.id, .held))
    #expect(state.hubHistory.accepted.map(\.press.command.id.low) == [2, 1])
    #expect(state.hubHistory.accepted.map(\.class) == [.held, .late])
    #expect(state.hubHistory.claims == [press(1).command.id: [first, second]])
    apply(judge(1, .applied, at: 1))
    #expect(state.hubHistory.accepted.map(\.press.command.id.low) == [2])
    #expect(state.hubHistory.claims == [:])
  }

  @Test("Of a command that is judged again the last verdict counts, and old verdicts are forgotten")
  mutating func verdicts() {
    apply(judge(1, .applied, at: 1), judge(2, .applied, at: 2), judge(1, .unknown, at: 3))
    #expect(state.hubHistory.verdicts.map(\.verdict.outcome) == [.applied, .unknown])
    apply(.forgetVerdicts(judgedBefore: .zero + .seconds(3)))
    #expect(state.hubHistory.verdicts.map(\.verdict.commandID.low) == [1])
  }

  @Test("A journal is ordered by position, and of a dropped one the time line stays")
  mutating func journals() {
    apply(.endJournal(run, at: .zero), .dateRun(run, wallSeconds: 1), .dropJournal(run))
    #expect(state.hubHistory.endedJournals == [:] && state.hubHistory.runDates == [:])
    apply(append(1, transition(1)), append(4, .lap(author)), append(3, transition(2)), append(2, .gap(.zero)))
    apply(.endJournal(run, at: .zero), .dateRun(run, wallSeconds: 1), .setAlias(.number(9), of: run))
    #expect(state.runs.journal(of: run).map(\.position) == [1, 2, 3, 4])
    #expect(state.hubHistory.transitions.map(\.revision) == [1, 2])
    #expect(state.hubHistory.endedJournals.count == 1 && state.hubHistory.runDates.count == 1)
    apply(.dropJournal(run), append(5, .lap(author)), .endJournal(run, at: .zero), .dateRun(run, wallSeconds: 1))
    #expect(state.hubHistory.journal.map(\.position) == [1, 2, 3])
    #expect(state.hubHistory.lastPosition == 5)
    #expect(state.hubHistory.endedJournals == [:] && state.hubHistory.runDates == [:])
    #expect(state.hubHistory.aliases == [:])
  }

  @Test("A record that is not kept is not edited, and a removed one leaves its version")
  mutating func records() {
    let record = RunRecord(
      summary: RecordSummary(
        runID: run, version: 1, deviceID: "phone", hubDeviceID: "phone", appVersion: "", startedAtUnixSeconds: 1,
        elapsed: .zero, active: .zero),
      body: RecordBody(report: RunReport(metrics: RunMetrics())))
    apply(.editRecord(record.summary, change: 1))
    #expect(state.hubHistory.records == [] && state.hubHistory.recordChanges == [:])
    apply(.expectRecord(ExpectedRecord(runID: run, isConflicted: false)), .keepRecord(record, change: 2))
    #expect(state.hubHistory.records == [record.summary] && state.hubHistory.expectedRecords == [])
    #expect(state.records.part(of: run, from: 3)?.part.bytes == Array(record.body.encoded.dropFirst(3)))
    apply(.removeRecord(run, version: 2, change: 3))
    #expect(state.hubHistory.records == [] && state.hubHistory.removedRecords == [run: 2])
    #expect(state.hubHistory.recordChanges == [run: 3])
    #expect(state.records.part(of: run, from: 0) == nil)
  }

  @Test("An acknowledgement deletes rows, except those of commands; renumbering begins anew behind what is there")
  mutating func streams() {
    let (here, there) = (StoreID.number(1), StoreID.number(2))
    func row(_ store: StoreID, _ kind: StreamID.Kind, _ sequence: UInt64) -> StoreOperation {
      let stream = OutboundStreamID(receiver: store, kind: kind)
      return .enqueue(OutboxRow(stream: stream, sequence: sequence, item: nil, since: .zero))
    }
    let messages = OutboundStreamID(receiver: here, kind: .messages)
    let commands = OutboundStreamID(receiver: here, kind: .commands)
    apply(row(here, .messages, 2), row(here, .messages, 1), row(here, .messages, 3), row(here, .commands, 1))
    apply(.acknowledge(messages, through: 1), .acknowledge(commands, through: 1))
    #expect(state.delivery.history.rows.map(\.stream) == [commands, messages, messages])
    #expect(state.delivery.history.rows.map(\.sequence) == [1, 2, 3])
    let target = OutboundStreamID(receiver: there, kind: .messages)
    apply(row(there, .messages, 7), .renumber(messages, to: target), .shiftRows(by: .seconds(-2)))
    #expect(state.delivery.rows[target]?.map(\.sequence) == [7, 8, 9])
    #expect(state.delivery.acknowledged == [commands: 1])
    #expect(state.delivery.history.rows.allSatisfy { $0.isUncertain && $0.since == .zero - .seconds(2) })
  }

  @Test("A store adds boot and wall time to a clock mark, and knows an id only when it was given one")
  mutating func clock() {
    #expect(state.storeID == nil)
    apply(.setClock(real: .zero, bus: .zero + .seconds(3)), .setStoreID(.number(4)))
    #expect(state.peerHistory.clock?.bootID == "boot" && state.hubHistory.clock?.wallSeconds == 5)
    #expect(state.storeID == .number(4))
  }
}
