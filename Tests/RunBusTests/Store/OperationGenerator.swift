import RunCore

/// Draws random operations with all their corners from a seed.
struct OperationGenerator {
  private var random: SplitMix64
  private var position: UInt64 = 0
  private var runs: [RunID] = []
  private var judgedAt = BusTime.zero
  private var presses: [Press] = []

  init(seed: UInt64) { random = SplitMix64(state: seed) }

  mutating func batch() -> [StoreOperation] { (0..<Int.random(in: 1...8, using: &random)).map { _ in operation() } }

  mutating func operation() -> StoreOperation {
    switch Int.random(in: 0..<16, using: &random) {
    case 0: return .setTerm(anyUnsigned())
    case 1, 2:
      let press = press()
      presses.append(press)
      return .accept(press, pick([.window, .next, .late, .held]))
    case 3: return .reclassify(knownPress().command.id, pick([.window, .next, .late, .held]))
    case 4: return .setWatermark(stream(), sequence: anyUnsigned())
    case 5, 6:
      let press = knownPress()
      // Bus time never runs backwards.
      judgedAt = judgedAt + BusDuration(nanoseconds: .random(in: 0..<1000, using: &random))
      return .judge(verdict(press), press, judgedAt: judgedAt)
    case 7:
      return .forgetVerdicts(judgedBefore: judgedAt - BusDuration(nanoseconds: .random(in: 0..<10_000, using: &random)))
    case 8: return .setAlias(runID(), of: runID())
    case 9: return .settle(window())
    case 10: return .setClock(real: time(), bus: time())
    default: return append()
    }
  }

  mutating func append() -> StoreOperation {
    position += .random(in: 1...3, using: &random)
    return .append(runID(), LedgerEntry(time: time(), position: position, event: event()))
  }

  mutating func press() -> Press {
    let command = Command(
      id: CommandID(using: &random), kind: pick(CommandKind.allCases), source: source(),
      runID: maybe { $0.runID() },
      base: maybe { generator in
        Base(revision: generator.anyUnsigned(), commandID: generator.maybe { CommandID(using: &$0.random) })
      },
      runOffset: maybe { BusDuration(nanoseconds: $0.anySigned()) })
    return Press(
      command: command, deviceID: device(), stream: stream(), sequence: anyUnsigned(), pressedAt: time(),
      arrivedAt: time(), isUncertain: .random(using: &random), stopFollows: .random(using: &random))
  }

  mutating func window() -> SettledWindow {
    let applied = (0..<Int.random(in: 0...3, using: &random)).map { _ in
      SettledWindow.Applied(
        kind: pick(CommandKind.allCases), commandID: CommandID(using: &random), runID: runID(),
        revision: anyUnsigned(), effectiveAt: time())
    }
    return SettledWindow(first: time(), deadline: time(), applied: applied)
  }

  mutating func event() -> LedgerEvent {
    let change = Change(source: source(), deviceID: device(), commandID: CommandID(using: &random))
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1:
      return .transition(Transition(kind: pick(CommandKind.allCases), revision: anyUnsigned(), change: change))
    case 2: return .lap(change)
    case 3: return .gap(BusDuration(nanoseconds: anySigned()))
    case 4:
      return .sample(
        .position(
          Position(latitude: real(), longitude: real(), horizontalAccuracyMeters: maybe { $0.real() })), device())
    case 5: return .sample(.altitude(meters: real(), pick([.gps, .barometer])), device())
    case 6: return .sample(.heartRate(bpm: real()), device())
    case 7: return .sample(.cadence(stepsPerMinute: real()), device())
    case 8: return .sample(.pedometer(meters: real()), device())
    default: return .sample(.motion(pick(Activity.allCases)), device())
    }
  }

  private mutating func verdict(_ press: Press) -> Verdict {
    let outcomes: [Outcome] = [
      .applied, .coalesced(into: CommandID(using: &random)), .superseded(by: CommandID(using: &random)),
      .rejected(
        pick([
          .illegal(pick(RunPhase.allCases)), .otherRun, .staleRevision, .tooOld, .busy, .unsupported, .cancelled,
          .expired, .quarantined,
        ])),
    ]
    return Verdict(
      commandID: press.command.id, kind: press.command.kind, source: press.command.source, outcome: pick(outcomes),
      runID: maybe { $0.runID() }, term: anyUnsigned(), revision: anyUnsigned(), effectiveAt: maybe { $0.time() })
  }

  /// One that was accepted before, at times one that never was.
  private mutating func knownPress() -> Press {
    presses.isEmpty || Int.random(in: 0..<8, using: &random) == 0 ? press() : pick(presses)
  }
  private mutating func runID() -> RunID {
    if runs.count < 4 { runs.append(RunID(using: &random)) }
    return pick(runs)
  }
  private mutating func stream() -> StreamID {
    StreamID(
      sender: StoreID(high: 0, low: .random(in: 0..<5, using: &random)), kind: pick(StreamID.Kind.allCases))
  }
  private mutating func device() -> DeviceID { pick(["phone", "watch", "x.y_z-1"].compactMap { DeviceID($0) }) }
  private mutating func source() -> ControlSource {
    pick([.phone, .watch, .liveActivity, .shell, ControlSource(rawValue: "ring\u{0}⌚️"), ControlSource(rawValue: "")])
  }
  private mutating func time() -> BusTime {
    let corner = Int.random(in: 0..<20, using: &random) == 0
    return BusTime(nanoseconds: corner ? anySigned() : .random(in: 0..<100_000, using: &random))
  }
  private mutating func real() -> Double {
    pick([0, -0.1, 1e300, 51.5, .infinity, .random(in: -180...180, using: &random)])
  }
  private mutating func anyUnsigned() -> UInt64 { pick([0, 1, 7, .max, UInt64(Int64.max) + 1, random.next()]) }
  private mutating func anySigned() -> Int64 { pick([0, -1, .min, .max, Int64(bitPattern: random.next())]) }
  private mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: 0..<values.count, using: &random)]
  }
  private mutating func maybe<Value>(_ draw: (inout Self) -> Value) -> Value? {
    Bool.random(using: &random) ? draw(&self) : nil
  }
}

/// A small generator whose every run is the same for a seed.
private struct SplitMix64: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value >> 31)
  }
}
