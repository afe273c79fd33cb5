import RunCore
import Testing

@Suite("A sender of requests")
struct RequestSenderTests {
  /// A sender and the time, with its actions as lines.
  private struct Stage {
    private var sender: RequestSender
    var now = BusTime.zero
    private(set) var sent: [PeerFrame] = []

    init(_ work: RequestSender.Work) { sender = RequestSender(work, bootID: "boot", seed: 1) }

    mutating func feed(_ event: RequestSender.Event) -> [String] {
      sender.receive(event, at: now).map { action in
        switch action {
        case .send(let frame):
          sent.append(frame)
          return "send \(NodeLines.line(frame.message))"
        case .reached: return "reached"
        case .receipt(let receipt): return NodeLines.line(receipt)
        case .state(let message): return "state \(message.snapshot.phase)"
        case .answer(let answer): return "answer \(NodeLines.line(answer))"
        case .fail(let refusal): return "fail \(refusal.code)"
        case .finished: return "finished"
        }
      }
    }

    mutating func hub(_ message: HubMessage) -> [String] { feed(.frame(HubFrame(session: 0, message: message))) }

    mutating func refuses(_ code: Refusal.Code, version: UInt32 = wireVersion) -> [String] {
      hub(.refused(Refusal(code: code, message: "no", version: version)))
    }

    /// Lets time pass; each deadline fires.
    mutating func passes(_ span: BusDuration) -> [String] {
      let end = now + span
      var lines: [String] = []
      while let due = sender.deadline, due <= end {
        now = due
        lines += feed(.deadline)
      }
      now = end
      return lines
    }

    var deadline: BusTime? { sender.deadline }
  }

  private static func press(_ id: UInt64, _ kind: CommandKind = .pause) -> ForwardedCommand {
    ForwardedCommand(
      command: Command(id: CommandID(high: 4, low: id), kind: kind, source: .shell), deviceID: DeviceID("shell"),
      since: .zero, isUncertain: false)
  }

  private static func pending(_ id: UInt64) -> HubMessage {
    .receipt(Receipt(commandID: CommandID(high: 4, low: id), kind: .pause, source: .shell, stage: .pending))
  }

  private static func verdict(_ id: UInt64) -> HubMessage {
    let id = CommandID(high: 4, low: id)
    let verdict = Verdict(
      commandID: id, kind: .pause, source: .shell, outcome: .applied, runID: nil, term: 1, revision: 2,
      effectiveAt: nil)
    return .receipt(Receipt(commandID: id, kind: .pause, source: .shell, stage: .verdict(verdict), phase: .paused))
  }

  private static let state = HubMessage.state(StateMessage(snapshot: .none, age: .zero))

  @Test("A command goes when the link comes up, with the question that shows whether the hub answers")
  func stages() {
    var shell = Stage(.commands([Self.press(1)]))
    #expect(shell.deadline == nil)
    shell.now = .zero + .seconds(3)
    #expect(shell.feed(.linkUp) == ["send request pause 3.0s", "send request state"])
    #expect(shell.hub(Self.state) == ["reached"])
    #expect(shell.hub(Self.pending(1)) == ["pause pending"])
    #expect(shell.hub(Self.pending(1)) == [])
    #expect(shell.hub(Self.verdict(2)) == [])
    #expect(shell.hub(Self.verdict(1)) == ["pause applied 2", "finished"])
    #expect(shell.hub(Self.verdict(1)) == [])
    #expect(shell.feed(.linkUp) == [])
    #expect(shell.deadline == nil)
  }

  @Test("It states version, session 0, and the press time by the machine's clock")
  func frame() throws {
    var shell = Stage(.commands([Self.press(1)]))
    _ = shell.feed(.linkUp)
    let frame = try #require(shell.sent.first)
    guard case .request(let request) = frame.message, case .command(let command) = request.subject else {
      Issue.record("not a command")
      return
    }
    #expect(frame.session == 0 && request.version == wireVersion)
    #expect(command.pressed == MachineTime(bootID: "boot", reading: .zero))
  }

  @Test("Without an answer it goes again after 1, 2, 4, then every 5 s, with the same id; a new link begins anew")
  func repeats() {
    var shell = Stage(.commands([Self.press(1)]))
    _ = shell.feed(.linkUp)
    for wait: Int64 in [1, 2, 4, 5, 5] {
      let before = shell.now
      #expect((wait * 750...wait * 1250).contains((shell.deadline! - before).nanoseconds / 1_000_000))
      #expect(shell.passes(shell.deadline! - before).count == 2)
    }
    #expect(shell.feed(.linkDown) == [])
    #expect(shell.deadline == nil)
    #expect(shell.feed(.linkUp).count == 2)
    #expect((shell.deadline! - shell.now) <= .milliseconds(1250))
    // After the hub has answered, only the command goes again.
    _ = shell.hub(Self.pending(1))
    #expect(shell.passes(.milliseconds(1250)).count == 1)
    let ids = shell.sent.compactMap { frame -> CommandID? in
      guard case .request(let request) = frame.message, case .command(let command) = request.subject else { return nil }
      return command.command.id
    }
    #expect(Set(ids).count == 1)
  }

  @Test("At most 64 of many commands are on their way, in order")
  func flight() {
    var shell = Stage(.commands((1...100).map { Self.press($0) }))
    #expect(shell.feed(.linkUp).count == RequestSender.flightMax + 1)
    #expect(shell.hub(Self.verdict(1)) == ["reached", "pause applied 2", "send request pause 0.0s"])
    for id in 2...99 as ClosedRange<UInt64> { #expect(!shell.hub(Self.verdict(id)).contains("finished")) }
    #expect(shell.hub(Self.verdict(100)).last == "finished")
  }

  @Test("A busy hub is asked again later; a full queue at once")
  func busy() {
    var shell = Stage(.commands([Self.press(1)]))
    _ = shell.feed(.linkUp)
    #expect(shell.refuses(.busy) == ["reached"])
    #expect(shell.passes(.milliseconds(1250)).count == 1)
    #expect(shell.feed(.sendFailed) == [])
    #expect(shell.deadline! - shell.now <= .milliseconds(250))
  }

  @Test(
    "A hub that does not permit the request, or speaks another version, ends it",
    arguments: [
      (Refusal.Code.versionMismatch, wireVersion), (Refusal.Code.forbidden, wireVersion),
      (Refusal.Code.unknownSession, wireVersion - 1), (Refusal.Code.malformed, wireVersion - 1),
    ])
  func ends(code: Refusal.Code, version: UInt32) {
    var shell = Stage(.state)
    _ = shell.feed(.linkUp)
    #expect(shell.refuses(code, version: version) == ["reached", "fail \(code)"])
    #expect(shell.feed(.linkUp) == [])
    #expect(shell.deadline == nil)
  }

  // Once broken: `busnode send` ended with exit status 65 ("the hub cannot read this") because of a single frame that
  // was damaged on its way: the sender took the first refusal as final.
  @Test("A request that the hub cannot read goes again soon, and ends at the third such refusal in a row")
  func unread() {
    var shell = Stage(.commands([Self.press(1), Self.press(2)]))
    _ = shell.feed(.linkUp)
    #expect(shell.refuses(.malformed) == [])
    #expect(shell.deadline! - shell.now <= .milliseconds(250))
    let again = shell.passes(.milliseconds(250))
    #expect(again.count == 3)
    #expect(shell.refuses(.malformed) == [])
    #expect(shell.hub(Self.verdict(1)) == ["reached", "pause applied 2"])
    #expect(shell.refuses(.malformed) == [])
    #expect(shell.refuses(.malformed) == [])
    #expect(shell.refuses(.malformed) == ["fail malformed"])
    #expect(shell.feed(.linkUp) == [])
  }

  @Test("A question is asked until it is answered, by its own kind of answer")
  func questions() {
    var shell = Stage(.inquiry(.outbox))
    #expect(shell.feed(.linkUp) == ["send request outbox"])
    #expect(shell.hub(Self.state) == [])
    #expect(shell.hub(Self.verdict(1)) == [])
    #expect(shell.refuses(.unknownSession) == [])
    #expect(shell.hub(.answer(.outbox([]))) == ["reached", "answer ", "finished"])
    var other = Stage(.state)
    #expect(other.feed(.linkUp) == ["send request state"])
    #expect(other.hub(.answer(.outbox([]))) == [])
    #expect(other.hub(Self.state) == ["reached", "state idle", "finished"])
  }

  @Test("A frame of a term that no hub reaches is dropped")
  func impossible() {
    var shell = Stage(.state)
    _ = shell.feed(.linkUp)
    let snapshot = PeerStage.snapshot(HubTerm.limit, 1, 1)
    #expect(shell.hub(.state(StateMessage(snapshot: snapshot, age: .zero))) == [])
    #expect(shell.hub(Self.state) == ["reached", "state idle", "finished"])
  }
}
