import Foundation
import GRDB
import RunCore
import Testing

@testable import RunBus

@Suite("Random values in any column: what was not hit stands, and no row is made up")
struct StoreColumnDamageTests {
  @Test(
    "Rows that were not hit stand; those that were are left out and named, or keep what identifies them",
    arguments: 1...20)
  func randomBytes(seed: UInt64) async throws {
    let scratch = try ScratchDirectory()
    var store = try NodeStore(directory: scratch.path)
    var generator = OperationGenerator(seed: seed)
    let operations = (0..<60).flatMap { _ in generator.batch() }
    try await store.commit(operations)
    let (hub, peer) = (try store.history(), try store.peerHistory())
    #expect(store.notices == [])
    store.close()
    var damage = ColumnDamage(seed: seed)
    try damage.apply(to: scratch.file("node.sqlite"))

    store = try NodeStore(directory: scratch.path)
    let (hubLeft, peerLeft) = (try store.history(), try store.peerHistory())
    let check = ColumnDamageCheck(damage: damage, notices: store.notices)
    check.control(hub, hubLeft)
    check.journal(hub, hubLeft, committed: operations)
    check.delivery(hub.delivery, hubLeft.delivery)
    check.records(hub, hubLeft)
    check.own(hub, hubLeft, peer, peerLeft)
    #expect(ComparableDelivery(peerLeft.delivery) == ComparableDelivery(hubLeft.delivery))

    // What is there can be worked with all the same, and is there in the next life.
    try await store.commit((0..<100).map { _ in generator.delivery() } + [.setTerm(77)])
    let (worked, storeID) = (try store.history(), store.storeID)
    #expect(worked.term == 77)
    store.close()
    store = try NodeStore(directory: scratch.path)
    #expect(ComparableHistory(try store.history()) == ComparableHistory(worked))
    #expect(store.storeID == storeID)
  }
}

/// Compares what a damaged store gives back with what it gave back before.
private struct ColumnDamageCheck {
  let damage: ColumnDamage
  let notices: [String]

  /// A list that is read from one table: what was not hit stands in its order, and what is not there is named.
  private func list<Element: Equatable>(
    _ before: [Element], _ after: [Element], of table: String, named name: String? = nil
  ) {
    let name = name ?? table
    #expect(damage.rows[table]?.count == before.count, "\(table): another number of rows than of values")
    var rest = damage.intact(before, of: table)[...]
    for element in after where element == rest.first { rest.removeFirst() }
    #expect(rest.isEmpty, "\(table): \(rest.count) rows that were not hit are not given back")
    let missing = before.count - after.count
    let named = notices.filter { $0.contains(" of \(name) in the store could not be read") }
    #expect(
      named == (missing == 0 ? [] : ["\(missing) row(s) of \(name) in the store could not be read and were left out"]),
      "\(table)")
  }
  private func subset<Element: Hashable>(
    _ after: some Sequence<Element>, _ before: some Sequence<Element>, _ what: String
  ) {
    #expect(Set(after).subtracting(before).isEmpty, "\(what): given back, and never committed")
  }

  func control(_ before: HubHistory, _ after: HubHistory) {
    let (was, now) = (ComparableHistory(before), ComparableHistory(after))
    list(was.accepted, now.accepted, of: "accepted")
    subset(now.accepted.map(\.press.command.id), was.accepted.map(\.press.command.id), "accepted")
    list(was.verdicts, now.verdicts, of: "verdicts")
    subset(now.verdicts.map(\.verdict.commandID), was.verdicts.map(\.verdict.commandID), "verdicts")
    list(was.windows, now.windows, of: "windows")
    subset(now.windows.map(\.deadline), was.windows.map(\.deadline), "windows")
    list(was.devices, now.devices, of: "devices")
    subset(now.devices.map(\.deviceID), was.devices.map(\.deviceID), "devices")
    list(before.members.devices, after.members.devices, of: "paired", named: "paired devices")
    // Tables that nobody hit.
    #expect(now.claims == was.claims && now.aliases == was.aliases)
    #expect(now.unanswered == was.unanswered && now.discarded == was.discarded)
    #expect(now.endedJournals == was.endedJournals && now.skippedChanges == was.skippedChanges)
  }

  func journal(_ before: HubHistory, _ after: HubHistory, committed: [StoreOperation]) {
    let hit = Set(damage.hit("journal").compactMap { $0.integer("position").map { UInt64(bitPattern: $0) } })
    var entries: [UInt64: LedgerEntry] = [:]
    for case .append(_, let entry) in committed { entries[entry.position] = entry }
    #expect(after.lastPosition == before.lastPosition)
    // An entry that was not hit is the one that was committed there; there is none where none was.
    for entry in after.journal {
      #expect(hit.contains(entry.position) ? entries[entry.position] != nil : entries[entry.position] == entry)
    }
    if after.presentRun == before.presentRun {
      let intact = before.journal.filter { !hit.contains($0.position) }
      #expect(after.journal.filter { !hit.contains($0.position) } == intact)
    }
    let hitCommands = Set(
      hit.compactMap { position -> CommandID? in
        guard case .transition(let transition)? = entries[position]?.event else { return nil }
        return transition.change.commandID
      })
    func intact(_ transitions: [PastTransition]) -> [PastTransition] {
      transitions.filter { !hitCommands.contains($0.change.commandID) }
    }
    #expect(intact(after.transitions) == intact(before.transitions))
    subset(after.transitions.map(\.change.commandID), before.transitions.map(\.change.commandID), "transitions")
  }

  func delivery(_ before: DeliveryHistory, _ after: DeliveryHistory) {
    list(before.quarantine, after.quarantine, of: "quarantine")
    list(before.latestSent, after.latestSent, of: "latest_sent")
    list(before.latestReceived, after.latestReceived, of: "latest_received")
    subset(
      after.latestSent.map { "\($0.device as Any) \($0.key)" },
      before.latestSent.map { "\($0.device as Any) \($0.key)" }, "latest_sent")

    let hitMarks = Set(
      damage.hit("watermarks").compactMap { row -> StreamID? in
        guard let sender: StoreID = row.identifier("sender") else { return nil }
        return row.text("stream").flatMap(StreamID.Kind.init).map { StreamID(sender: sender, kind: $0) }
      })
    #expect(
      after.watermarks.filter { !hitMarks.contains($0.key) } == before.watermarks.filter { !hitMarks.contains($0.key) })
    subset(after.watermarks.keys, before.watermarks.keys, "watermarks")

    // A stream that was hit takes its rows along. In the others every place stands, if only as a tombstone.
    func stream(_ row: Row) -> OutboundStreamID? {
      guard let receiver: StoreID = row.identifier("receiver") else { return nil }
      return row.integer("kind").flatMap(StreamID.Kind.init(code:)).map {
        OutboundStreamID(receiver: receiver, kind: $0)
      }
    }
    let hitStreams = Set(damage.hit("streams").compactMap(stream))
    let was = before.rows.filter { !hitStreams.contains($0.stream) }
    let now = after.rows.filter { !hitStreams.contains($0.stream) }
    #expect(now.map(Place.init) == was.map(Place.init))
    subset(after.rows.map(Place.init), before.rows.map(Place.init), "outbox")
    let numbers = Dictionary(
      (damage.rows["streams"] ?? []).compactMap { row in
        row.integer("number").flatMap { number in stream(row).map { (number, $0) } }
      }
    ) { first, _ in first }
    let hitPlaces = Set(
      damage.hit("outbox").compactMap { row -> Place? in
        guard let position = row.integer("position"), let stream = numbers[OutboxKey.number(position)] else {
          return nil
        }
        return Place(stream: stream, sequence: OutboxKey.sequence(position))
      })
    #expect(now.filter { !hitPlaces.contains(Place($0)) } == was.filter { !hitPlaces.contains(Place($0)) })
    #expect(
      after.acknowledged.filter { !hitStreams.contains($0.key) }
        == before.acknowledged.filter { !hitStreams.contains($0.key) })
    subset(after.acknowledged.keys, numbers.values, "acknowledged")
  }

  private struct Place: Hashable {
    let stream: OutboundStreamID
    let sequence: UInt64
    init(stream: OutboundStreamID, sequence: UInt64) { (self.stream, self.sequence) = (stream, sequence) }
    init(_ row: OutboxRow) { self.init(stream: row.stream, sequence: row.sequence) }
  }

  /// A summary is whole or not there; no byte of it can change and be read.
  func records(_ before: HubHistory, _ after: HubHistory) {
    let hit = Set(damage.hit("records").compactMap { row -> RunID? in row.identifier("run") })
    let intact = before.records.filter { !hit.contains($0.runID) }
    #expect(after.records.filter { !hit.contains($0.runID) } == intact)
    subset(after.records, before.records, "records")
    subset(after.removedRecords.map { "\($0)" }, before.removedRecords.map { "\($0)" }, "removed records")
    list(before.expectedRecords, after.expectedRecords, of: "expected_records")
    subset(after.expectedRecords.map(\.runID), before.expectedRecords.map(\.runID), "expected records")
  }

  /// What there is one of.
  func own(_ before: HubHistory, _ after: HubHistory, _ peerBefore: PeerHistory, _ peerAfter: PeerHistory) {
    func isHit(_ table: String) -> Bool { damage.places[table]?.isEmpty == false }
    #expect(after.term == before.term)
    let (clock, clockLeft) = (ComparableHistory(before).clock, ComparableHistory(after).clock)
    #expect(isHit("clock") ? clockLeft.isEmpty || clockLeft.last == clock.last : clockLeft == clock)
    let (was, now) = (ComparablePeerHistory(peerBefore), ComparablePeerHistory(peerAfter))
    if !isHit("hub") { #expect(now.hubStore == was.hubStore && now.hubDevice == was.hubDevice) }
    #expect(isHit("view") ? now.view == nil || now.view == was.view : now.view == was.view)
    #expect(now.failureMark == was.failureMark && now.term == was.term)
  }
}
