import Simulation
import Testing

@testable import RunCore

@Suite("Marks, terms and names that are wrong")
struct WrongMarkTests {
  // Once broken: One hello with an extreme mark made the hub take a new store id, and every device begin anew, because
  // the hub believed one device about its own store.
  @Test(
    "A device that claims that the hub has lost history resets alone, and others are not affected",
    arguments: [1, 9, 1 << 62, UInt64.max])
  func liesAboutMarks(lie: UInt64) {
    for kind in [StreamID.Kind.commands, .samples, .messages, .verdicts] {
      var hub = HubStage.with("watch", debounce: .zero)
      _ = hub.presses("watch", .start)
      hub.commitsAll()
      var wrong = hub.greeting("wrong")
      wrong.hub = HubStage.storeID
      if kind == .verdicts {
        wrong.received[kind] = StreamMark(sequence: lie)
      } else {
        wrong.acknowledged[kind] = lie
      }
      #expect(hub.says("wrong", .hello(wrong), session: 0) == ["wrong ← refused storeRegressed"])
      hub.commitsAll()
      #expect(!hub.durable.contains { if case .setStoreID = $0 { true } else { false } })
      #expect(hub.says("watch", .beat(1)) == ["watch ← pong 1 at 1.1.2"])
    }
  }

  // Once broken: A member could have the same device name as the hub, because the hub did not compare the names.
  @Test("A member must not have the hub's name; a request may state it")
  func hubName() {
    var hub = HubStage.opened()
    #expect(hub.hello("phone") == ["phone ← refused malformed"])
    #expect(hub.shell("phone", hub.command(.start, by: "phone")) == ["commit: accept start window"])
  }

  @Test("After lost history here, a value gets a version above the one that the other side has, and arrives")
  func overtaken() {
    var peer = PeerStage.up()
    let value = AppMessage(id: MessageID(high: 7, low: 1), name: "m", body: [])
    _ = peer.feed(.post(value, .latest(key: "k")))
    #expect(peer.commits() == ["1 queued", "send k 1"])
    #expect(peer.hub(.delivery(.acknowledgeLatest(key: "k", version: 5))) == ["commit: set k 6"])
    #expect(peer.commits() == ["send k 6"])
    #expect(peer.hub(.delivery(.acknowledgeLatest(key: "k", version: 6))) == [])
    _ = peer.passes(.seconds(1))
    #expect(peer.commits() == ["1 processed"])
    // A version that leaves no number above it is ignored.
    #expect(peer.hub(.delivery(.acknowledgeLatest(key: "k", version: .max))) == [])
  }

  @Test("Another value with the same version is accepted, because its sender has lost history")
  func sameVersion() {
    var peer = PeerStage.up()
    func gets(_ id: UInt64, _ version: UInt64) -> [String] {
      let message = AppMessage(id: MessageID(high: 7, low: id), name: "m", body: [])
      return peer.hub(.delivery(.latest(key: "k", version: version, message)))
    }
    #expect(gets(1, 3) == ["commit: take k 3"])
    #expect(peer.commits() == ["send has k 3"])
    #expect(gets(1, 3) == ["send has k 3"])
    #expect(gets(2, 3) == ["commit: take k 3"])
    #expect(peer.commits() == ["send has k 3"])
    // An older version is answered with the present one.
    #expect(gets(3, 2) == ["send has k 3"])
    #expect(peer.core.latest("k")?.id.low == 2)
  }

  @Test("A peer drops impossible terms in any frame and accepts the next honest frame")
  func impossibleHub() {
    for term in [HubTerm.limit, 1 << 62, .max] {
      var peer = PeerStage()
      _ = peer.feed(.started)
      peer.commits()
      _ = peer.feed(.linkUp)
      #expect(peer.welcome(session: 1, PeerStage.snapshot(term, 0, 1)) == ["note"])
      _ = peer.welcome(session: 1)
      peer.commits()
      #expect(peer.hub(.state(StateMessage(snapshot: PeerStage.snapshot(term, 0, 1), age: .zero))) == ["note"])
      #expect(peer.hub(.state(StateMessage(snapshot: PeerStage.snapshot(1, 0, .max), age: .zero))) == ["note"])
      #expect(peer.publishes(PeerStage.snapshot(term, 0, 1)) == ["note"])
      let order = SnapshotOrder(term: term, revision: 0, tick: 0)
      #expect(peer.hub(.pong(1, order, recordsThrough: 0)) == ["note"])
      #expect(peer.hub(.pong(1, PeerStage.snapshot(1, 0, 1).order, recordsThrough: .max)) == ["note"])
      #expect(peer.publishes(PeerStage.snapshot(1, 0, 2)).contains("show 1.0.2 idle"))
    }
  }

  // Once broken: A snapshot with an extreme term made a peer refuse every honest hub from then on, because a peer
  // believed every term and stored it.
  @Test("A peer that has seen an impossible term forgets it when the hub refuses it")
  func poisoned() {
    var peer = PeerStage.up(PeerStage.snapshot(HubTerm.limit - 1, 0, 1))
    _ = peer.passes(.milliseconds(250))
    peer.commits()
    #expect(peer.disk.history.term == HubTerm.limit - 1)
    var next = PeerStage(peer.disk, now: peer.now)
    _ = next.feed(.started)
    next.commits()
    #expect(next.feed(.linkUp) == ["send hello seen \(HubTerm.limit - 1)"])
    let lines = next.hub(.refused(Refusal(code: .malformed, message: "")), session: 0)
    #expect(lines.contains("send hello seen 0"), "\(lines)")
    next.commits()
    #expect(next.disk.history.term == 0)
    #expect(next.welcome(session: 1).contains("show 1.0.1 idle"))
  }
}

@Suite("No number that a peer sends stops a hub")
struct WrongNumberTests {
  @Test("Sequences, marks, ages, offsets and readings at their limits", arguments: [Int64.min, -1, 0, 1, .max])
  func oddNumbers(edge: Int64) {
    var hub = HubStage.with("wrong", "watch")
    hub.startRun()
    let place = UInt64(bitPattern: edge)
    let span = BusDuration(nanoseconds: edge)
    for kind in StreamID.Kind.allCases {
      for other in [place, 0, .max] {
        _ = hub.says("wrong", .delivery(.acknowledge(kind, through: other)))
        _ = hub.says("wrong", .delivery(.goBack(kind, to: other, failure: nil)))
        _ = hub.says("wrong", .delivery(.goBack(kind, to: other, failure: "no")))
        _ = hub.says("wrong", .delivery(.tombstones(kind, from: place, through: other)))
      }
    }
    _ = hub.says("wrong", .delivery(.delivered(through: place)))
    var lap = hub.command(.lap, by: "wrong", base: ObservedRevision(revision: place, commandID: nil))
    lap.runOffset = span
    for sequence in [place, 1, 2] {
      let command = CommandTransmission(
        command: lap, sequence: sequence, age: span, isUncertain: true, stopFollows: true)
      _ = hub.says("wrong", .command(command), sentAt: BusTime(nanoseconds: edge))
      for moment in [SampleMoment.age(span), .runOffset(span)] {
        let sample = SampleTransmission(sequence: sequence, moment: moment, value: .heartRate(bpm: 1), runID: nil)
        _ = hub.says("wrong", .samples([sample]), sentAt: BusTime(nanoseconds: edge))
      }
    }
    let from = Int(clamping: edge)
    for inquiry in [Inquiry.route(from: from), .records(from: from), .record(RunID(high: 9, low: 1), from: from)] {
      _ = hub.says("wrong", .inquire(inquiry))
    }
    _ = hub.says("wrong", .fetchRecord(RecordFetch(after: place, from: from)))
    _ = hub.says("wrong", .ping(place, nextWithin: .seconds(10), roundTrip: span))
    hub.commitsAll()
    hub.passes(.seconds(10))
    // The streams that it has broken are its own.
    _ = hub.presses("watch", .stop)
    hub.commitsAll()
    hub.passes(.seconds(1))
    #expect(hub.core.authoritative.phase == .completed)
  }
}
