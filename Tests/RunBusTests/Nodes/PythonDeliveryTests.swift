import Foundation
import RunCore
import TestSupport
import Testing

@testable import RunBus
@testable import RunWire

/// The Python watch against a hub that the test plays.
@Suite(
  "A client that uses only the published wire loses nothing", .timeLimit(.minutes(5)),
  .enabled(if: Python.isWanted, Python.hint))
struct PythonDeliveryTests {
  @Test("A watch in Python acknowledges what has taken effect, and asks once for a missing message")
  func delivery() async throws {
    try await withScript(press: "pause") { hub in
      let hello = try await hub.hello()
      #expect(hello.version == wireVersion)
      #expect(hello.hub == nil)
      #expect(hello.received.isEmpty)
      try await hub.welcome(hello)
      let pause = try await hub.command()
      #expect(pause.sequence == 1)

      try await hub.say(.acknowledge(.commands, through: 1))
      try await hub.say(.tombstones(.verdicts, from: 1, through: 300))
      try await hub.expect(.acknowledge(.verdicts, through: 300))
      try await hub.say(.verdicts([hub.verdict(302, pause.command)]))
      try await hub.expect(.acknowledge(.verdicts, through: 300))
      let zones = AppMessage(id: MessageID(high: 1, low: 2), name: "zones", body: [1, 2, 3])
      try await hub.say(.messages([MessageTransmission(sequence: 3, message: zones)]))
      try await hub.expect(.goBack(.messages, to: 1, failure: nil))
      try await hub.say(.messages([MessageTransmission(sequence: 2, message: zones)]))
      try await hub.say(.messages([MessageTransmission(sequence: 1, message: zones)]))
      try await hub.say(.messages([MessageTransmission(sequence: 1, message: zones)]))
      try await hub.expect(.acknowledge(.messages, through: 1))
      try await hub.expect(.acknowledge(.messages, through: 1))
      try await hub.say(.latest(key: "goal", version: 7, zones))
      try await hub.expect(.acknowledgeLatest(key: "goal", version: 7))
      try await hub.say(.tombstones(.messages, from: 2, through: 4))
      try await hub.expect(.acknowledge(.messages, through: 4))
      // An acknowledgement beyond what was sent counts as one of everything sent.
      try await hub.say(.acknowledge(.commands, through: 9))

      try await hub.refuse(.unknownSession, session: 0)
      let again = try await hub.hello()
      #expect(again.nonce != hello.nonce)
      #expect(again.acknowledged == [.commands: 1])
      #expect(
        again.received == [.messages: StreamMark(sequence: 4, id: zones.id), .verdicts: StreamMark(sequence: 300)])
      let id = MessageID(high: pause.command.id.high, low: pause.command.id.low)
      try await hub.welcome(again, received: [.commands: StreamMark(sequence: 1, id: id)])
      try await hub.say(.verdicts([hub.verdict(301, pause.command)]))
      try await hub.expect(.acknowledge(.verdicts, through: 301))

      let ending = try await hub.process.ending()
      #expect(ending == .exited(0), "\(hub.process.view.errors)")
      let lines = hub.process.view.lines.filter { !$0.hasPrefix("welcome") && !$0.hasPrefix("snapshot") }
      #expect(
        lines == ["pause: pending", "message zones: 3 bytes", "message zones: 3 bytes", "pause: applied, revision 2"])
    }
  }

  // Once broken: The Python client repeated its hello each second with one nonce, forgot ids at tombstones, and never
  // asked a hub that had lost its store for a higher term.
  @Test("A watch in Python repeats its hello with another nonce, and makes a hub that fell behind raise its term")
  func greeting() async throws {
    try await withScript(press: "pause") { hub in
      let silent = try await hub.hello()
      let first = try await hub.hello()
      #expect(first.nonce != silent.nonce)
      #expect(first.storeID == silent.storeID)
      // A welcome to the earlier hello does not count.
      try await hub.welcome(silent, order: SnapshotOrder(term: 9, revision: 0, tick: 1))
      try await hub.welcome(first, order: SnapshotOrder(term: 4, revision: 2, tick: 7))
      _ = try await hub.command()

      // A refusal that names the present session answers an older frame.
      try await hub.refuse(.unknownSession)
      try await hub.refuse(.unknownSession, session: 0)
      let behind = try await hub.hello()
      #expect(behind.termSeen == 4)
      try await hub.welcome(behind, order: SnapshotOrder(term: 4, revision: 2, tick: 6))
      let claim = try await hub.hello()
      #expect(claim.termSeen == 5)
      #expect(claim.storeID == first.storeID)
      try await hub.welcome(claim, order: SnapshotOrder(term: 6, revision: 0, tick: 1))
      let pause = try await hub.command()
      #expect(pause.sequence == 1)
      try await hub.say(.verdicts([hub.verdict(1, pause.command)]))
      let ending = try await hub.process.ending()
      #expect(ending == .exited(0), "\(hub.process.view.errors)")
    }
  }

  @Test("A watch in Python that meets another hub store takes a new store id and renumbers what it owes from 1")
  func anotherStore() async throws {
    try await withScript(press: "pause") { hub in
      let first = try await hub.hello()
      try await hub.welcome(first)
      let pause = try await hub.command()
      try await hub.say(.acknowledge(.commands, through: 1))

      hub.storeID = StoreID(high: 9, low: 9)
      try await hub.refuse(.unknownSession, session: 0)
      let again = try await hub.hello()
      #expect(again.storeID == first.storeID)
      #expect(again.hub == StoreID(high: 1, low: 1))
      #expect(again.acknowledged == [.commands: 1])
      try await hub.welcome(again)
      let renewed = try await hub.hello(after: first.storeID)
      #expect(renewed.hub == hub.storeID)
      #expect(renewed.acknowledged.isEmpty)

      try await hub.refuse(.storeRegressed)
      // One that was on its way when the refusal was said is passed over.
      var regressed = try await hub.hello()
      while regressed.storeID == renewed.storeID { regressed = try await hub.hello() }
      try await hub.welcome(regressed)
      let said = try await hub.command()
      #expect(said.command == pause.command)
      #expect(said.sequence == 1)
      try await hub.say(.verdicts([hub.verdict(1, pause.command)]))
      try await hub.expect(.acknowledge(.verdicts, through: 1))
      #expect(try await hub.process.ending() == .exited(0))
    }
  }

  /// Runs the watch, which presses one button, against a hub that the body plays.
  private func withScript(press: String, _ body: @Sendable (inout ScriptedHub) async throws -> Void) async throws {
    try await withTestBus { place in
      let path = "ipc://" + place.runtimeDirectory
      let end = HubEnd(try Loop())
      try await end.listen(ZeroMQListener(control: path + "/c", events: path + "/e"))
      let process = Python.spawn(["watch.py", "--press", press, "--snapshots", "1"], endpoint: path + "/c", place)
      var hub = ScriptedHub(end: end, process: process)
      try await body(&hub)
      await end.close()
    }
  }
}

/// A hub that does nothing by itself.
private struct ScriptedHub {
  let end: HubEnd
  let process: NodeProcess
  var storeID = StoreID(high: 1, low: 1)
  private var session: UInt64 = 0
  private var heard = 0
  private var lastWelcome: (received: [StreamID.Kind: StreamMark], order: SnapshotOrder)?
  private var peer: ConnectionID?

  init(end: HubEnd, process: NodeProcess) {
    self.end = end
    self.process = process
  }

  /// Waits for the next message of a kind and skips those before it.
  private mutating func next<Found: Sendable>(
    _ what: String, _ pick: @escaping @Sendable (PeerMessage) -> Found?
  ) async throws -> Found {
    let start = heard
    let found = try await end.log.wait(for: what) { events -> (Found, Int, ConnectionID)? in
      for (index, frame) in EventLog.frames(events).enumerated().dropFirst(start) {
        if let found = (try? Codec.peerFrame(frame.bytes)).flatMap({ pick($0.message) }) {
          return (found, index, frame.connection)
        }
      }
      return nil
    }
    (heard, peer) = (found.1 + 1, found.2)
    return found.0
  }

  mutating func hello() async throws -> Hello {
    try await next("a hello") { if case .hello(let hello) = $0 { hello } else { nil } }
  }
  /// The next hello from another store than `storeID`.
  mutating func hello(after storeID: StoreID) async throws -> Hello {
    try await answered("a hello from another store") {
      if case .hello(let hello) = $0, hello.storeID != storeID { hello } else { nil }
    }
  }
  mutating func command() async throws -> CommandTransmission {
    try await answered("a command") { if case .command(let transmission) = $0 { transmission } else { nil } }
  }
  /// Waits for a message, and welcomes each hello before it as it has welcomed the last. The watch says hello again each
  /// second, with another nonce, until a welcome comes: on a busy machine the welcome to an earlier one.
  private mutating func answered<Found: Sendable>(
    _ what: String, _ pick: @escaping @Sendable (PeerMessage) -> Found?
  ) async throws -> Found {
    while true {
      let (found, hello) = try await next(what) { message -> (Found?, Hello?)? in
        if let found = pick(message) { return (found, nil) }
        if case .hello(let hello) = message { return (nil, hello) }
        return nil
      }
      if let found { return found }
      if let hello, let last = lastWelcome { try await welcome(hello, received: last.received, order: last.order) }
    }
  }
  mutating func expect(_ delivery: DeliveryMessage) async throws {
    _ = try await next("\(delivery)") { $0 == .delivery(delivery) ? true : nil }
  }

  private func send(_ message: HubMessage, session: UInt64? = nil) async throws {
    let peer = try #require(peer)
    let frame = HubFrame(session: session ?? self.session, message: message)
    #expect(await end.send(Codec.encode(frame), to: peer) == .sent)
  }
  func say(_ delivery: DeliveryMessage) async throws { try await send(.delivery(delivery)) }
  func refuse(_ code: Refusal.Code, session: UInt64? = nil) async throws {
    try await send(.refused(Refusal(code: code, message: "no")), session: session)
  }
  mutating func welcome(
    _ hello: Hello, received: [StreamID.Kind: StreamMark] = [:],
    order: SnapshotOrder = SnapshotOrder(term: 1, revision: 1, tick: 1)
  ) async throws {
    session += 1
    lastWelcome = (received, order)
    var snapshot = Snapshot.none
    snapshot.order = order
    try await send(
      .welcome(
        Welcome(
          nonce: hello.nonce, nodeID: NodeID(high: 3, low: 3), storeID: storeID, deviceID: DeviceID("phone"),
          eventsEndpoint: await end.eventsEndpoint, speed: .realTime, debounce: .zero, received: received,
          state: StateMessage(snapshot: snapshot, age: .zero))))
  }
  func verdict(_ sequence: UInt64, _ command: Command) -> VerdictTransmission {
    let verdict = Verdict(
      commandID: command.id, kind: command.kind, source: command.source, outcome: .applied, runID: nil, term: 1,
      revision: 2, effectiveAt: nil)
    return VerdictTransmission(
      sequence: sequence,
      receipt: Receipt(
        commandID: command.id, kind: command.kind, source: command.source, stage: .verdict(verdict)))
  }
}
