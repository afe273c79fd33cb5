import Simulation
import Testing

@testable import RunCore

@Suite("Records reach every peer")
struct RecordDeliveryTests {
  private static let run = RunID(high: 1, low: 1)

  private func own(_ kind: CommandKind, _ number: UInt64, run: RunID? = nil) -> HubCore.Event {
    .press(Command(id: CommandID(high: 9, low: number), kind: kind, source: .phone, runID: run))
  }

  /// A hub with a run of 20 s that is over, and its record.
  private func stopped() -> HubStage {
    var stage = HubStage.opened()
    _ = stage.feed(own(.start, 1, run: Self.run))
    stage.commitsAll()
    stage.passes(to: .zero + .seconds(20))
    _ = stage.feed(own(.stop, 2))
    stage.commitsAll()
    stage.passes(to: .zero + .seconds(21))
    return stage
  }

  /// The changes that carry a record with `fixes` fixes: one number, in parts.
  private func changes(_ number: UInt64, version: UInt64 = 1, fixes: Int = 0, title: String = "") -> [RecordChange] {
    let point = RoutePoint(offset: .seconds(1), position: Position(latitude: 1, longitude: 2), verdict: .counted)
    let summary = RecordSummary(
      runID: Self.run, version: version, deviceID: DeviceID("phone"), hubDeviceID: DeviceID("phone"),
      appVersion: "1", startedAtUnixSeconds: 1, elapsed: .seconds(1), active: .seconds(1), title: title)
    let body = RecordBody(
      report: RunReport(metrics: RunMetrics()), route: [RoutePoint](repeating: point, count: fixes))
    let bytes = body.encoded
    return stride(from: 0, to: bytes.count, by: RecordPart.bytesMax).map { from in
      RecordChange(
        number: number, runID: Self.run, version: version, summary: summary, from: from,
        bytes: Array(bytes.dropFirst(from).prefix(RecordPart.bytesMax)), total: bytes.count)
    }
  }

  // MARK: The hub

  @Test("A connected peer hears of a record once it is durable, fetches it, and has nothing more to fetch")
  func hub() throws {
    var stage = stopped()
    #expect(stage.hello("watch").contains { $0.hasPrefix("watch ← welcome") })
    stage.commitsAll()
    let fetch = RecordFetch(after: 0, from: 0)
    #expect(asks(&stage, fetch) == ["read run 1 from 0 for watch"])
    let record = try #require(stage.core.records.kept[Self.run])
    let reading = RecordReading.found(
      StoredRecord(
        change: 1 << 30 | 1, summary: record,
        part: RecordPart(runID: Self.run, version: 1, from: 0, bytes: [1, 2], total: 2)))
    let asker = RecordAsker.peer(.named("watch"), session: stage.session(of: "watch"), fetch)
    #expect(stage.feed(.recordRead(reading, for: asker)) == ["watch ← change 1.1: run 1v1 0+2 of 2"])
    #expect(
      stage.says("watch", .fetchRecord(RecordFetch(after: 1 << 30 | 1, from: 0)))
        == ["watch ← pong 0 at 1.2.9, records to 1.1"])
    // An edit is a change of its own; the peer hears of it once it is durable.
    #expect(stage.feed(.inquire(.editRecord(Self.run, title: "River", note: nil), 7)) == ["commit: edit record 2"])
    #expect(
      stage.commits() == [
        "kept run 1v2", "watch ← pong 0 at 1.2.9, records to 1.2", "answer 7: done",
      ])
  }

  // Once broken: A peer kept a version of a record that the hub had lost.
  @Test("A peer with a change that the hub's store has lost is told where the two histories part")
  func lostChange() {
    let stage = stopped()
    var disk = HubDisk()
    disk.commit(stage.durable)
    // A copy with change 1.1 replaces a store that went up to 1.6.
    var next = HubStage.opened(history: disk.history, now: stage.now)
    _ = next.hello("watch", nonce: 2)
    next.commitsAll()
    _ = next.feed(.inquire(.editRecord(Self.run, title: "River", note: nil), 7))
    next.commitsAll()
    let lost = RecordFetch(after: 1 << 30 | 6, from: 0)
    #expect(next.says("watch", .fetchRecord(lost)).map { $0.suffix(14) } == ["records to 1.1"])
    // A change that both have is not lost, also in a later incarnation.
    #expect(asks(&next, RecordFetch(after: 1 << 30 | 1, from: 0)) == ["read run 1 from 0 for watch"])
    disk = HubDisk()
    disk.commit(stage.durable + next.durable)
    var last = HubStage.opened(history: disk.history, now: next.now)
    _ = last.hello("watch", nonce: 3)
    last.commitsAll()
    #expect(last.says("watch", .fetchRecord(lost)).map { $0.suffix(14) } == ["records to 1.1"])
  }

  /// The watch fetches; returns the lines once everything before is durable.
  private func asks(_ stage: inout HubStage, _ fetch: RecordFetch) -> [String] {
    (stage.says("watch", .fetchRecord(fetch)) + stage.commitsAll()).filter { !$0.hasPrefix("commit") }
  }

  @Test("The hub reads one record at a time for a peer, and drops answers to an earlier session")
  func oneAtATime() {
    var stage = stopped()
    _ = stage.hello("watch")
    stage.commitsAll()
    let fetch = RecordFetch(after: 0, from: 0)
    #expect(asks(&stage, fetch) == ["read run 1 from 0 for watch"])
    #expect(asks(&stage, fetch) == [])
    let earlier = RecordAsker.peer(.named("watch"), session: stage.session(of: "watch"), fetch)
    _ = stage.hello("watch", nonce: 2)
    stage.commitsAll()
    #expect(stage.feed(.recordRead(.missing, for: earlier)) == [])
    #expect(asks(&stage, fetch) == ["read run 1 from 0 for watch"])
  }

  @Test("The hub tells a peer of a removal, also when the record is removed while it is read")
  func removed() {
    var stage = stopped()
    _ = stage.hello("watch")
    stage.commitsAll()
    let fetch = RecordFetch(after: 0, from: 0)
    _ = asks(&stage, fetch)
    _ = stage.feed(.inquire(.removeRecord(Self.run), 7))
    stage.commitsAll()
    let asker = RecordAsker.peer(.named("watch"), session: stage.session(of: "watch"), fetch)
    let told = stage.feed(.recordRead(.missing, for: asker)) + stage.commitsAll()
    #expect(told.contains("watch ← change 1.2: run 1v2 removed"))
    #expect(asks(&stage, fetch) == ["watch ← change 1.2: run 1v2 removed"])
  }

  // Once broken: A peer kept a record that the hub had removed, or never got one that it had kept, because a record
  // that the hub was reading for a peer changed again before the hub sent it.
  @Test("A record that changed again while it was read waits behind another that changed in between")
  func overtaken() throws {
    var stage = stopped()
    _ = stage.hello("watch")
    stage.commitsAll()
    let fetch = RecordFetch(after: 0, from: 0)
    _ = asks(&stage, fetch)
    var other = try #require(
      stage.durable.lazy.compactMap { if case .keepRecord(let record, _) = $0 { record } else { nil } }.first)
    other.summary.runID = RunID(high: 1, low: 2)
    let bytes = other.encoded
    _ = stage.feed(.inquire(.putRecord(RecordUpload(from: 0, bytes: bytes, total: bytes.count)), 7))
    _ = stage.feed(.inquire(.editRecord(Self.run, title: "River", note: nil), 8))
    stage.commitsAll()
    let record = try #require(stage.core.records.kept[Self.run])
    let reading = RecordReading.found(
      StoredRecord(
        change: 1 << 30 | 3, summary: record,
        part: RecordPart(runID: Self.run, version: 2, from: 0, bytes: [1, 2], total: 2)))
    let asker = RecordAsker.peer(.named("watch"), session: stage.session(of: "watch"), fetch)
    let lines = stage.feed(.recordRead(reading, for: asker)) + stage.commitsAll()
    #expect(lines.filter { !$0.hasPrefix("commit") } == ["read run 2 from 0 for watch"])
  }

  // Once broken: After a hub was restarted on an older copy of its store, a peer showed another record of a run than
  // the hub.
  @Test("A later incarnation's changes have higher numbers than all before, even if its store has lost some")
  func laterLife() {
    let stage = stopped()
    var disk = HubDisk()
    disk.commit(stage.durable)
    var next = HubStage.opened(history: disk.history, now: .zero + .seconds(30))
    next.commitsAll()
    _ = next.feed(.inquire(.editRecord(Self.run, title: "River", note: nil), 7))
    next.commitsAll()
    #expect(next.core.records.durableChange == 2 << 30 | 1)
  }

  // MARK: The peer

  /// A peer that was welcomed by a hub with record changes up to a number.
  private func welcomed(_ stage: PeerStage? = nil, through: UInt64, session: UInt64 = 1) -> (PeerStage, [String]) {
    var peer = stage ?? PeerStage()
    if stage == nil {
      _ = peer.feed(.started)
      peer.commits()
    }
    _ = peer.feed(.linkDown)
    _ = peer.feed(.linkUp)
    var lines = peer.welcome(session: session, recordsThrough: through)
    lines += peer.commits()
    return (peer, lines.filter { $0.contains("fetch") })
  }

  @Test("A peer that was away fetches a record in parts, keeps it once it is complete and durable, and says so once")
  func away() throws {
    var (peer, asked) = welcomed(through: 5)
    #expect(asked == ["send fetch after 0.0 from 0"])
    let parts = changes(5, fixes: 2000)
    #expect(parts.count == 2)
    #expect(peer.hub(.recordChange(parts[0])) == ["send fetch after 0.0 from \(RecordPart.bytesMax)"])
    #expect(peer.hub(.recordChange(parts[0])) == [])
    #expect(peer.hub(.recordChange(parts[1])) == ["commit: record 1, records to 0.5"])
    #expect(peer.commits() == ["kept run 1v1"])
    #expect(peer.disk.records.kept[Self.run]?.body.route.count == 2000)
    // In a later session and in a later incarnation the record is known.
    let again = welcomed(peer, through: 5, session: 2)
    #expect(again.1 == [])
    let next = welcomed(PeerStage(again.0.disk, now: again.0.now), through: 5, session: 3)
    #expect(next.1 == [])
  }

  @Test("A peer that hears of fewer changes than it has received fetches everything again, also within a session")
  func toldLess() {
    var (peer, _) = welcomed(through: 0)
    let order = peer.core.authoritative.order
    _ = peer.hub(.pong(0, order, recordsThrough: 9))
    _ = peer.hub(.recordChange(changes(9)[0]))
    _ = peer.commits()
    #expect(peer.hub(.pong(0, order, recordsThrough: 4)) == ["send fetch after 0.0 from 0", "commit: records to 0.0"])
  }

  @Test("A connected peer hears of changes at once; a lost one shows in the next pong, or is fetched again")
  func there() {
    var (peer, asked) = welcomed(through: 0)
    #expect(asked == [])
    let order = peer.core.authoritative.order
    #expect(peer.hub(.pong(0, order, recordsThrough: 9)) == ["send fetch after 0.0 from 0"])
    #expect(peer.hub(.pong(0, order, recordsThrough: 9)) == [])
    let lines = peer.passes(.seconds(7))
    #expect(lines.filter { $0.contains("fetch") }.count == 1)
    #expect(peer.hub(.recordChange(changes(9)[0])) == ["commit: record 1, records to 0.9"])
    // The hub has made changes meanwhile; the peer fetches one after the other.
    #expect(peer.hub(.pong(0, order, recordsThrough: 11)) == [])
    #expect(peer.commits() == ["kept run 1v1", "send fetch after 0.9 from 0"])
  }

  @Test("A new version replaces the old one; if it comes between two parts, the peer fetches the body from the start")
  func newVersion() {
    var (peer, _) = welcomed(through: 5)
    let old = changes(5, fixes: 2000)
    let new = changes(6, version: 2, fixes: 2000, title: "River")
    _ = peer.hub(.recordChange(old[0]))
    #expect(peer.hub(.recordChange(new[1])) == ["send fetch after 0.0 from 0"])
    _ = peer.hub(.recordChange(new[0]))
    #expect(peer.hub(.recordChange(new[1])) == ["commit: record 2, records to 0.6"])
    #expect(peer.commits() == ["kept run 1v2"])
    #expect(peer.disk.records.kept[Self.run]?.summary.title == "River")
  }

  @Test("A removal deletes the record; if the peer never had it, only the mark moves")
  func removal() {
    var (peer, _) = welcomed(through: 6)
    let removal = RecordChange(number: 6, runID: Self.run, version: 2, summary: nil)
    #expect(peer.hub(.recordChange(removal)) == ["commit: records to 0.6"])
    #expect(peer.commits() == [])
    _ = peer.hub(.pong(0, peer.core.authoritative.order, recordsThrough: 7))
    _ = peer.hub(.recordChange(changes(7)[0]))
    peer.commits()
    _ = peer.hub(.pong(0, peer.core.authoritative.order, recordsThrough: 8))
    let again = RecordChange(number: 8, runID: Self.run, version: 3, summary: nil)
    #expect(peer.hub(.recordChange(again)) == ["commit: remove record 3, records to 0.8"])
    #expect(peer.commits() == ["removed run 1"])
    #expect(peer.disk.records.kept.isEmpty)
  }

  /// The hub may have reused a version number for another content since.
  @Test("When the hub has fewer changes than the peer, the peer fetches all again and tells its app of none twice")
  func hubLost() {
    var (peer, _) = welcomed(through: 5)
    _ = peer.hub(.recordChange(changes(5)[0]))
    peer.commits()
    let again = welcomed(peer, through: 4, session: 2)
    #expect(again.1 == ["send fetch after 0.0 from 0"])
    peer = again.0
    #expect(peer.hub(.recordChange(changes(4, fixes: 3)[0]), session: 2) == ["commit: record 1, records to 0.4"])
    #expect(peer.commits() == [])
    #expect(peer.disk.records.kept[Self.run]?.body.route.count == 3)
  }

  // Once broken: A peer that died while it fetched all records again from a hub that had lost some could keep a record
  // that differs from the hub's under the same version, because which records to replace was known in memory only.
  @Test("A peer that dies while it fetches all again continues in its next incarnation")
  func hubLostAndKilled() {
    var (peer, _) = welcomed(through: 5)
    _ = peer.hub(.recordChange(changes(5)[0]))
    peer.commits()
    // Another run's removal arrives first, and then the peer dies.
    peer = welcomed(peer, through: 4, session: 2).0
    let removal = RecordChange(number: 3, runID: RunID(high: 1, low: 77), version: 2, summary: nil)
    #expect(peer.hub(.recordChange(removal), session: 2) == ["commit: records to 0.3"])
    peer.commits()
    let next = welcomed(PeerStage(peer.disk, now: peer.now), through: 4, session: 3)
    #expect(next.1 == ["send fetch after 0.3 from 0"])
    peer = next.0
    #expect(peer.hub(.recordChange(changes(4, fixes: 3)[0]), session: 3) == ["commit: record 1, records to 0.4"])
    #expect(peer.commits() == [])
    #expect(peer.disk.records.kept[Self.run]?.body.route.count == 3)
  }

  @Test(
    "A record that this build cannot read blocks no later one, and is fetched again after the peer's next start",
    arguments: [false, true])
  func unreadable(isSummaryKnown: Bool) {
    var (peer, _) = welcomed(through: 5)
    var garbage = changes(5)[0]
    garbage.bytes = [9, 9, 9]
    garbage.total = 3
    if !isSummaryKnown { (garbage.summary, garbage.isUnreadable) = (nil, true) }
    #expect(peer.hub(.recordChange(garbage)) == ["note"])
    #expect(peer.hub(.pong(0, peer.core.authoritative.order, recordsThrough: 6)) == ["send fetch after 0.5 from 0"])
    let next = changes(6, fixes: 3)[0]
    #expect(peer.hub(.recordChange(next)) == ["commit: record 1"])
    #expect(peer.commits().contains { $0.contains("fetch") } == false)
    #expect(peer.disk.records.kept[Self.run]?.body.route.count == 3)
    // A later build may be able to read what this one passed over.
    let restarted = welcomed(PeerStage(peer.disk, now: peer.now), through: 6)
    #expect(restarted.1 == ["send fetch after 0.0 from 0"])
  }
}
