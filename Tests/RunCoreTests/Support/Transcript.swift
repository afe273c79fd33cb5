import RunCore

/// A bus that a test writes as a transcript: one press a line, then the verdicts.
struct Transcript {
  private(set) var driven: DrivenArbiter
  private var heard = 0
  private var nextID: UInt64 = 1

  init(window: BusDuration = .milliseconds(500)) { driven = DrivenArbiter(window: window) }

  /// A bus with run 100 on, started by the phone (#100, revision 1) at 0.
  static var running: Transcript {
    var bus = Transcript()
    bus.driven.arrive(RunCoreTests.press(.start, .phone, at: 0, id: 100, run: 100))
    _ = bus.settle()
    return bus
  }

  /// A press and its arrival; presses are numbered from 1.
  @discardableResult
  mutating func press(
    _ kind: CommandKind, _ device: DeviceID, at pressed: Int64, arriving: Int64? = nil, run: UInt64? = nil,
    base: ObservedRevision? = nil, stopFollows: Bool = false, by stream: UInt64 = 1, ifRevision: UInt64? = nil
  ) -> Admission {
    defer { nextID += 1 }
    return driven.arrive(
      RunCoreTests.press(
        kind, device, at: pressed, arriving: arriving, id: nextID, run: run, base: base, stopFollows: stopFollows,
        stream: stream, ifRevision: ifRevision))
  }

  /// When the open window settles, in milliseconds.
  var deadline: Int64? { driven.arbiter.deadline.map { $0.nanoseconds / 1_000_000 } }

  /// The verdicts since the last call.
  mutating func said() -> [String] {
    defer { heard = driven.answers.count }
    return driven.answers[heard...].map { "#\($0.verdict.commandID.low) \($0.verdict.shown)" }
  }

  /// Settles everything and returns the verdicts.
  mutating func settle() -> [String] {
    driven.finish()
    return said()
  }

  /// The verdicts as people read them, since the last call.
  mutating func messages() -> [String] {
    driven.finish()
    defer { heard = driven.answers.count }
    return driven.answers[heard...].map(\.verdict.message)
  }

  var control: ControlState { driven.arbiter.control }
}

extension ObservedRevision {
  /// The base of a press: a revision and the number of the press that made it.
  static func saw(_ revision: UInt64, by id: UInt64?) -> ObservedRevision {
    ObservedRevision(revision: revision, commandID: id.map { .number($0) })
  }
}
