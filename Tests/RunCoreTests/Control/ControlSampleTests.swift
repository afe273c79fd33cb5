import Testing
import SystemC

@testable import RunCore

/// How many times more the random tests do than usual: `RUNBUS_SOAK_CONTROL`, 0 if it is not set.
let soakFactor = getenv("RUNBUS_SOAK_CONTROL").flatMap { Int(String(cString: $0)) } ?? 0

/// A random day on a bus: presses in order of arrival, some late, some far apart, with and without run ids and bases,
/// right ones and wrong ones.
func sampledPresses(seed: UInt64, chains: Bool = false) -> [AcceptedCommand] {
  var generator = SeededGenerator(seed: seed)
  let devices: [DeviceID] = [.phone, .watch, .widget]
  let sources: [ControlSource] = [.phone, .watch, .liveActivity, .shell]
  let count = Int.random(in: 2...14, using: &generator)
  // Some days are calm, others are chains of delays.
  let lateShare = [0, 20, 60].randomElement(using: &generator)!
  let spacings: [[Int64]] = [
    [0, 1, 100, 250, 499], [100, 499, 500, 501, 700], [0, 500, 700, 2000, 30_000], [250, 700, 5000, 40_000_000],
  ]
  let spacing = spacings.randomElement(using: &generator)!
  let delays: [Int64] = [500, 501, 600, 1500, 4000, 90_000, 50_000_000, 87_000_000]

  // Of the commands of some days many are conditional.
  var conditions = SeededGenerator(seed: ~seed)
  let conditionalShare = seed % 4 == 3 ? 50 : 0

  var time: Int64 = 100_000_000
  var drawn: [AcceptedCommand] = []
  for number in 1...count {
    time += spacing.randomElement(using: &generator)!
    let kind: CommandKind =
      number == 1 && Bool.random(using: &generator) ? .start : CommandKind.allCases.randomElement(using: &generator)!
    let delay =
      Int.random(in: 0..<100, using: &generator) < lateShare
      ? delays.randomElement(using: &generator)! : [0, 0, 30, 400].randomElement(using: &generator)!
    let starts = drawn.filter { $0.command.kind == .start }.map(\.command.id.low)
    let run: UInt64? =
      switch (kind, Int.random(in: 0..<10, using: &generator)) {
      case (.start, 0): nil
      case (.start, 1): starts.randomElement(using: &generator) ?? UInt64(number)
      case (.start, _): UInt64(number)
      case (_, 0): 999
      case (_, 1..<6): starts.randomElement(using: &generator)
      default: nil
      }
    let base: ObservedRevision? =
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: ObservedRevision(revision: 0, commandID: nil)
      case 1, 2:
        ObservedRevision(revision: UInt64.random(in: 0...4, using: &generator), commandID: .number(UInt64(number) / 2))
      default: nil
      }
    // A request has no stream, so it overtakes what its device sent before.
    let isRequest = Int.random(in: 0..<4, using: &generator) == 0
    drawn.append(
      press(
        kind, devices.randomElement(using: &generator)!, at: time, arriving: time + delay, id: UInt64(number),
        run: run, base: base, source: sources.randomElement(using: &generator)!,
        sequence: isRequest ? 1 : UInt64(number) + 1,
        stopFollows: chains && Bool.random(using: &generator),
        ifRevision: Int.random(in: 0..<100, using: &conditions) < conditionalShare
          ? UInt64.random(in: 0...5, using: &conditions) : nil))
  }
  return inOrderOfArrival(drawn)
}

/// A stream arrives in order: later presses of a sender wait behind a delayed one.
private func inOrderOfArrival(_ drawn: [AcceptedCommand]) -> [AcceptedCommand] {
  var latest: [DeviceID: BusTime] = [:]
  let held = drawn.map { press in
    guard press.sequence > 1 else { return press }
    let arrival = max(press.arrivedAt, latest[press.deviceID] ?? press.arrivedAt)
    latest[press.deviceID] = arrival
    return AcceptedCommand(
      command: press.command, deviceID: press.deviceID, origin: press.origin, sequence: press.sequence,
      pressedAt: press.pressedAt, arrivedAt: arrival, stopFollows: press.stopFollows)
  }
  return held.enumerated().sorted { ($0.element.arrivedAt, $0.offset) < ($1.element.arrivedAt, $1.offset) }
    .map(\.element)
}

/// Each chunk of seeds is one case, so that chunks run in parallel.
struct Seeds: CustomTestStringConvertible, Sendable {
  let range: Range<UInt64>
  var testDescription: String { "seeds \(range)" }

  static var all: [Seeds] {
    let chunk: UInt64 = soakFactor > 0 ? 10_000 * UInt64(soakFactor) : 400
    return (0..<10).map { Seeds(range: $0 * chunk..<($0 + 1) * chunk) }
  }
}

/// Large spaces are sampled; a failure names its seed and its presses.
@Suite("Sampled sequences of presses")
struct ControlSampleTests {
  @Test("are judged as the model judges them, including late ones", arguments: Seeds.all)
  func agreesWithTheModel(seeds: Seeds) {
    for seed in seeds.range {
      let windows: [BusDuration] = [.milliseconds(500), .milliseconds(500), .zero, .milliseconds(1500), .seconds(4)]
      var pair = ControlPair(window: windows[Int(seed % 5)])
      for press in sampledPresses(seed: seed) { pair.arrive(press) }
      if let wrong = pair.complaint() {
        Issue.record("seed \(seed), window \(pair.model.length.seconds) s: \(wrong)\n\(pair.transcript)")
        return
      }
    }
  }

  @Test("reach every rule, so that agreeing with the model means something")
  func reachEveryRule() {
    var seen: [String: Int] = [:]
    for seed in 0..<5000 as Range<UInt64> {
      var driven = DrivenArbiter()
      for press in sampledPresses(seed: seed) { driven.arrive(press) }
      driven.finish()
      for answer in driven.answers {
        let isLate = answer.press.arrivedAt - answer.press.pressedAt > .milliseconds(500) ? "late " : ""
        let isIf = answer.press.command.ifRevision == nil ? "" : "conditional "
        switch answer.verdict.outcome {
        case .applied: seen["\(isLate)\(isIf)applied", default: 0] += 1
        case .coalesced: seen["\(isLate)\(isIf)coalesced", default: 0] += 1
        case .superseded: seen["superseded", default: 0] += 1
        case .rejected(.illegal(let phase)): seen["\(isLate)illegal \(phase)", default: 0] += 1
        case .rejected(let reason): seen["\(isLate)\(reason.code)", default: 0] += 1
        case .unknown: Issue.record("an arbiter judges in a known way")
        }
      }
      for (admission, count) in driven.classes { seen["class \(admission)", default: 0] += count }
      seen["aliases", default: 0] += driven.arbiter.control.aliases.count
      seen["amendments", default: 0] += driven.arbiter.control.amendments.count
    }
    let rules = [
      "aliases", "amendments", "applied", "coalesced", "superseded", "otherRun", "illegal idle", "illegal paused",
      "illegal completed", "late applied", "late coalesced", "late otherRun", "late illegal idle",
      "late illegal completed", "late staleRevision", "late tooOld", "conditional applied", "conditional coalesced",
      "late conditional applied", "late conditional coalesced", "revisionChanged", "late revisionChanged",
      "class window", "class next", "class late",
    ]
    for rule in rules { #expect(seen[rule, default: 0] >= 5, "\(rule)") }
  }

  @Test("are judged the same when the hub dies at any moment", arguments: Seeds.all)
  func crashesChangeNothing(seeds: Seeds) {
    for seed in seeds.range.prefix(seeds.range.count / 2) {
      var calm = DrivenArbiter()
      var crashing = DrivenArbiter()
      // Every other seed contains chains that wait for their stop.
      let presses = sampledPresses(seed: seed, chains: seed % 2 == 0)
      for press in presses {
        calm.arrive(press)
        crashing.arrive(press, crashing: true)
      }
      calm.finish()
      crashing.finish()
      if calm.answers != crashing.answers || calm.lines != crashing.lines {
        let wrong = zip(calm.answers, crashing.answers).first { $0 != $1 }
        Issue.record(
          """
          seed \(seed): #\(wrong?.0.verdict.commandID.low ?? 0) is \(wrong?.0.verdict.shown ?? "there"), \
          after crashes #\(wrong?.1.verdict.commandID.low ?? 0) is \(wrong?.1.verdict.shown ?? "missing")
          \(presses.map(\.shown).joined(separator: "\n"))
          """)
        return
      }
      #expect(calm.arbiter.control == crashing.arbiter.control, "seed \(seed)")
    }
  }

  @Test("are judged the same whatever their sources are called", arguments: Seeds.all)
  func sourcesOnlyLabel(seeds: Seeds) {
    let renamed: [ControlSource: ControlSource] = [
      .phone: .watch, .watch: .shell, .shell: .liveActivity, .liveActivity: ControlSource(rawValue: "treadmill"),
    ]
    for seed in seeds.range.prefix(seeds.range.count / 2) {
      var before = DrivenArbiter()
      var after = DrivenArbiter()
      for press in sampledPresses(seed: seed) {
        before.arrive(press)
        after.arrive(press.relabelled(renamed[press.command.source] ?? .shell))
      }
      before.finish()
      after.finish()
      // With the old sources put back, nothing may differ.
      let labels = Dictionary(
        uniqueKeysWithValues: before.answers.map { ($0.press.command.id, $0.press.command.source) })
      let restored = after.answers.map { $0.verdict.relabelled(labels[$0.verdict.commandID] ?? .shell) }
      #expect(restored == before.answers.map(\.verdict), "seed \(seed)")
      #expect(before.lines.map(\.time) == after.lines.map(\.time), "seed \(seed)")
      #expect(before.arbiter.control.phase == after.arbiter.control.phase, "seed \(seed)")
      #expect(after.answers.allSatisfy { $0.verdict.source == $0.press.command.source }, "seed \(seed)")
    }
  }
}

extension AcceptedCommand {
  fileprivate func relabelled(_ source: ControlSource) -> AcceptedCommand {
    var relabelled = Command(
      id: command.id, kind: command.kind, source: source, runID: command.runID, base: command.base,
      runOffset: command.runOffset)
    relabelled.ifRevision = command.ifRevision
    return AcceptedCommand(
      command: relabelled, deviceID: deviceID, origin: origin, sequence: sequence, pressedAt: pressedAt,
      arrivedAt: arrivedAt, isUncertain: isUncertain, stopFollows: stopFollows)
  }
}

extension Verdict {
  fileprivate func relabelled(_ source: ControlSource) -> Verdict {
    Verdict(
      commandID: commandID, kind: kind, source: source, outcome: outcome, runID: runID, term: term, revision: revision,
      effectiveAt: effectiveAt)
  }
}
