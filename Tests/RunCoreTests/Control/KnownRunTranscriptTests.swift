import RunCore
import Testing

/// docs/protocol.md, "Judging": presses that name a known run, or were made outside the run that they mean.
@Suite("A press for a run that the hub knows")
struct KnownRunTranscriptTests {
  /// A start and a stop of this run, pressed long ago, that arrive together as a whole run.
  @discardableResult
  private func arriveWhole(_ run: UInt64, at bus: inout Transcript, from: Int64, by device: DeviceID = .watch)
    -> [String]
  {
    bus.press(.start, device, at: from, arriving: from + 100_000, run: run, stopFollows: true)
    bus.press(.stop, device, at: from + 2000, arriving: from + 100_000, run: run)
    return bus.said()
  }

  // MARK: Whole runs

  // Once broken: A whole run whose start names the present run or a finished one rewrote that run or its record,
  // because the hub treated a whole run as a new run without checking its run id.
  @Test("a whole run does not rewrite the present run")
  func wholePresentRun() {
    var bus = Transcript.running
    #expect(
      arriveWhole(100, at: &bus, from: 10_000)
        == ["#1 coalesced into #100, run 100, revision 1 at 0", "#2 applied, run 100, revision 2 at 12000"])
    #expect(bus.driven.wholeRuns.isEmpty)
  }

  @Test("a whole run does not rewrite a finished run")
  func wholeFinishedRun() {
    var bus = Transcript.running
    bus.press(.stop, .phone, at: 20_000)
    _ = bus.settle()
    #expect(
      arriveWhole(100, at: &bus, from: 30_000)
        == [
          "#2 rejected illegal(completed), run 100, revision 2", "#3 coalesced into #1, run 100, revision 2 at 20000",
        ])
    #expect(bus.driven.wholeRuns.isEmpty)
  }

  @Test("a whole run is not kept twice, from another store or under an alias")
  func wholeRunTwice() {
    var bus = Transcript()
    arriveWhole(7, at: &bus, from: 10_000)
    #expect(
      arriveWhole(7, at: &bus, from: 40_000, by: .widget).contains { $0.contains("#3 rejected illegal(completed)") })
    #expect(bus.driven.wholeRuns == [.number(7): false])
    var other = Transcript.running
    other.press(.start, .watch, at: 30_000, run: 8)
    _ = other.settle()
    #expect(other.control.canonical(.number(8)) == .number(100))
    arriveWhole(8, at: &other, from: 50_000)
    #expect(other.driven.wholeRuns.isEmpty)
  }

  // Once broken: A member that named a held whole run in a start of its own began that run, or made its id an alias of
  // the present run: the honest run was lost, because only judged runs counted as known.
  @Test("a start of another device that names a held run neither begins it nor makes it an alias")
  func heldRun() {
    for isOn in [false, true] {
      var bus = isOn ? Transcript.running : Transcript()
      bus.press(.start, .watch, at: 10_000, arriving: 60_000, run: 7, stopFollows: true)
      bus.press(.start, .widget, at: 60_100, run: 7)
      #expect(bus.settle().allSatisfy { $0.contains("#2 rejected illegal(completed), run 7") })
      #expect(bus.control.aliases.isEmpty)
      bus.press(.stop, .watch, at: 14_000, arriving: 61_000, run: 7)
      #expect(bus.settle().allSatisfy { $0.contains("applied, run 7") })
      #expect(bus.driven.wholeRuns.keys.map(\.low) == [7])
    }
  }

  @Test("a start that names a held run belongs to it")
  func twoStartsOfOneRun() {
    var bus = Transcript()
    bus.press(.start, .watch, at: 10_000, arriving: 60_000, run: 7, stopFollows: true)
    bus.press(.start, .watch, at: 11_000, arriving: 60_000, run: 7, stopFollows: true)
    bus.press(.stop, .watch, at: 12_000, arriving: 60_000, run: 7)
    #expect(
      bus.said() == [
        "#1 applied, run 7, revision 0 at 10000", "#2 coalesced into #1, run 7, revision 0 at 10000",
        "#3 applied, run 7, revision 0 at 12000",
      ])
  }

  // Once broken: A whole run with a second start after its stop became one run with two starts and two stops, because
  // the table of phases allows a start after a stop, and every press with the run's id counted as part of the run.
  @Test("a second start of a held run after its stop begins nothing")
  func startBehindStop() {
    var bus = Transcript()
    bus.press(.lap, .phone, at: 60_000)
    bus.press(.start, .watch, at: 10_000, arriving: 60_100, run: 7, stopFollows: true)
    bus.press(.stop, .watch, at: 12_000, arriving: 60_100, run: 7)
    bus.press(.start, .watch, at: 13_000, arriving: 60_100, run: 7, stopFollows: true)
    #expect(bus.settle().last == "#4 rejected illegal(completed), run 7, revision 0")
  }

  @Test("a held run falls apart when its stream continues with a start that has no stop, even of the same run")
  func startWithoutStop() {
    var bus = Transcript()
    bus.press(.start, .watch, at: 10_000, arriving: 60_000, run: 7, stopFollows: true)
    bus.press(.start, .watch, at: 11_000, arriving: 60_000, run: 7)
    #expect(
      bus.said() == ["#1 applied, run 7, revision 1 at 10000", "#2 coalesced into #1, run 7, revision 1 at 10000"])
  }

  // MARK: Starts

  // Once broken: After 512 transitions a start that names an old run revived it and overwrote its record; while another
  // run was on, the old id became an alias of that run, because only the remembered transitions were checked.
  @Test("a start does not begin a run again of which only the record is left, nor make it an alias")
  func recordedRun() {
    var arbiter = Arbiter(window: .milliseconds(500), lateAfter: .milliseconds(500), term: 1)
    let isPast: (RunID) -> Bool = { $0 == .number(7) }
    func judged(_ press: AcceptedCommand) -> Verdict? {
      _ = arbiter.receive(press)
      let late = arbiter.judgeLate(at: press.arrivedAt, isPast: isPast)
      return (late.answers + arbiter.settle(at: press.arrivedAt + .seconds(5), isPast: isPast).answers).first?.verdict
    }
    #expect(judged(press(.start, at: 10_000, id: 1, run: 7))?.outcome == .rejected(.illegal(.completed)))
    #expect(
      judged(press(.start, at: 20_000, arriving: 60_000, id: 2, run: 7))?.outcome
        == .rejected(.illegal(.completed)))
    // While another run is on, the old one does not become its alias.
    #expect(judged(press(.start, at: 70_000, id: 3, run: 8))?.outcome == .applied)
    #expect(judged(press(.start, .watch, at: 80_000, id: 4, run: 7))?.outcome == .rejected(.illegal(.completed)))
    #expect(arbiter.control.canonical(.number(7)) == .number(7))
    // A whole run of that name is not kept.
    _ = arbiter.receive(press(.start, .watch, at: 90_000, arriving: 190_000, id: 5, run: 7, stopFollows: true))
    _ = arbiter.receive(press(.stop, .watch, at: 91_000, arriving: 190_000, id: 6, run: 7))
    let settlement = arbiter.judgeLate(at: .milliseconds(190_000), isPast: isPast)
    #expect(settlement.wholeRuns.isEmpty)
    #expect(settlement.answers.map(\.verdict.outcome).first == .rejected(.illegal(.completed)))
  }

  // Once broken: A start without a run id could begin a run that had been begun by its own command id, because only
  // stated run ids were compared.
  @Test("a start without a run id that is sent again after its run is over begins nothing")
  func unnamedStart() {
    var bus = DrivenArbiter()
    bus.arrive(press(.start, at: 0, id: 5))
    bus.arrive(press(.stop, at: 10_000, id: 6))
    bus.finish()
    // A run that command 5 began has the same id as the command.
    bus.arrive(press(.start, .watch, at: 20_000, id: 7, run: 5))
    bus.finish()
    #expect(bus.answers.last?.verdict.outcome == .rejected(.illegal(.completed)))
  }

  // Once broken: A late command for a finished run got `illegal(completed)` where protocol.md says `otherRun`, because
  // there were two reasons for one case.
  @Test(
    "a late press for another run is rejected as otherRun, whether that run is over or unknown", arguments: [7, 999])
  func otherRun(run: UInt64) {
    var bus = Transcript()
    arriveWhole(7, at: &bus, from: 10_000)
    bus.press(.start, .phone, at: 200_000, run: 8)
    _ = bus.settle()
    bus.press(.pause, .phone, at: 210_000, arriving: 260_000, run: run)
    #expect(bus.said() == ["#4 rejected otherRun, run \(run), revision 1"])
  }

  // MARK: Laps

  // Once broken: A lap pressed after the stop, in the stop's window, was applied without effect (58 false verdicts in
  // three campaigns), because the hub looked into the ledger as it was before the window.
  @Test("a lap pressed after the stop of its window is not part of the run")
  func lapBehindStop() {
    var bus = Transcript.running
    bus.press(.stop, .phone, at: 10_000)
    bus.press(.lap, .watch, at: 10_200, run: 100)
    bus.press(.lap, .widget, at: 9_900)
    #expect(
      bus.settle() == [
        "#3 applied, run 100, revision 2 at 9900", "#1 applied, run 100, revision 2 at 10000",
        "#2 rejected illegal(completed), run 100, revision 2",
      ])
  }

  // Once broken: A late lap that was pressed after the stop was coalesced into a lap before the stop, because a settled
  // window counted for every press in its span.
  @Test("a late lap, pressed within the stop's window but after the stop, does not join a lap before the stop")
  func lateLapBehindStop() {
    var bus = Transcript.running
    bus.press(.lap, .phone, at: 9_900)
    bus.press(.stop, .phone, at: 10_000)
    _ = bus.settle()
    bus.press(.lap, .watch, at: 10_200, arriving: 60_000, run: 100)
    bus.press(.lap, .watch, at: 9_950, arriving: 61_000, run: 100)
    #expect(
      bus.said() == [
        "#3 rejected illegal(completed), run 100, revision 2", "#4 coalesced into #1, run 100, revision 2 at 9900",
      ])
  }

  // Once broken: A lap pressed before its run's start was applied at 0.0 s, because every press before the start was
  // treated as a press at the start.
  @Test("a lap long before its run began is not part of it; one just before it counts at the start")
  func lapBeforeStart() {
    var bus = Transcript()
    bus.press(.start, .phone, at: 10_000, run: 7)
    _ = bus.settle()
    bus.press(.lap, .watch, at: 9_400, arriving: 20_000, run: 7)
    bus.press(.lap, .watch, at: 9_600, arriving: 30_000, run: 7)
    #expect(
      bus.said() == [
        "#2 rejected illegal(idle), run 7, revision 1", "#3 applied, run 7, revision 1 at 10000",
      ])
  }

  // MARK: Bounds

  // Once broken: Each start with an invented id left an alias for ever, and each invented device its latest press time.
  @Test("a device may give a run 16 aliases, and all devices together 1,024")
  func aliases() {
    var bus = Transcript.running
    for run in 200..<230 as Range<UInt64> {
      bus.press(.start, .watch, at: 10_000, arriving: 60_000, run: run)
    }
    #expect(bus.said().allSatisfy { $0.contains("coalesced into #100") })
    #expect(bus.control.aliases.count == 16)
    for device in 0..<80 {
      for run in 0..<16 {
        bus.press(
          .start, DeviceID("device-\(device)")!, at: 10_000, arriving: 60_000, run: UInt64(1000 + device * 16 + run))
      }
    }
    #expect(bus.control.aliases.count == 1024)
    // The aliases are deleted together with the run's journal.
    var arbiter = bus.driven.arbiter
    arbiter.forgetAliases(of: .number(100))
    #expect(arbiter.control.aliases.isEmpty)
  }

  @Test("the hub remembers what verdicts told 256 devices, and the last two devices that pressed")
  func devices() {
    var bus = Transcript.running
    for device in 0..<300 { bus.press(.start, DeviceID("device-\(device)")!, at: 10_000, arriving: 60_000) }
    #expect(bus.control.verdictRevision.count == 256)
    #expect(bus.control.lastSettled.count == 2)
  }

  @Test("the hub holds 256 presses of unfinished runs per device and 512 in all; then the oldest run falls apart")
  func heldPresses() {
    var arbiter = Arbiter(window: .milliseconds(500), lateAfter: .milliseconds(500), term: 1)
    var id: UInt64 = 0
    func hold(_ device: DeviceID, favoured: Set<DeviceID> = []) -> [CommandID] {
      id += 1
      let start = press(
        .start, device, at: 1000 + Int64(id), arriving: 100_000, id: id, run: id, stopFollows: true, stream: id)
      return arbiter.receive(start, hasSlots: { favoured.contains($0) }).fallen
    }
    for _ in 1...256 { #expect(hold(.watch) == []) }
    #expect(hold(.watch) == [.number(1)])
    for _ in 1...256 { #expect(hold(.widget, favoured: [.watch]) == []) }
    #expect(arbiter.unfinishedCount == 512)
    // Above the total bound, devices with reserved slots keep theirs.
    #expect(hold(.phone, favoured: [.watch]) == [.number(258)])
    #expect(arbiter.unfinishedCount == 512)
  }

  @Test("a run that has become whole no longer counts as unfinished")
  func completed() {
    var arbiter = Arbiter(window: .milliseconds(500), lateAfter: .milliseconds(500), term: 1)
    _ = arbiter.receive(press(.lap, at: 60_000, id: 9))
    _ = arbiter.receive(press(.start, .watch, at: 1_000, arriving: 60_000, id: 1, run: 1, stopFollows: true))
    #expect(arbiter.isUnfinished(.number(1)))
    let reception = arbiter.receive(press(.stop, .watch, at: 2_000, arriving: 60_000, id: 2, run: 1))
    #expect(reception.completed == [.number(1), .number(2)])
    #expect(!arbiter.isUnfinished(.number(1)))
  }
}
