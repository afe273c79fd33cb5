import Testing

@testable import RunCore

/// A run that was started and stopped on an unreachable watch arrives as a queue of commands and is judged as a
/// whole.
@Suite("A run that arrives whole")
struct WholeRunTranscriptTests {
  /// The watch's run 7: start, pause, lap, resume and stop between `from` and four seconds later, all at 60 s.
  private func arrive(at bus: inout Transcript, from: Int64) -> [Admission] {
    [
      bus.press(.start, .watch, at: from, arriving: 60_000, run: 7, base: .saw(0, by: nil), stopFollows: true),
      bus.press(.pause, .watch, at: from + 1000, arriving: 60_000, run: 7, stopFollows: true),
      bus.press(.lap, .watch, at: from + 2000, arriving: 60_000, run: 7, stopFollows: true),
      bus.press(.resume, .watch, at: from + 3000, arriving: 60_000, run: 7, stopFollows: true),
      bus.press(.stop, .watch, at: from + 4000, arriving: 60_000, run: 7),
    ]
  }

  @Test("becomes a record and does not change the present state")
  func record() {
    var bus = Transcript()
    #expect(arrive(at: &bus, from: 10_000) == [.held, .held, .held, .held, .held])
    #expect(
      bus.said() == [
        "#1 applied, run 7, revision 0 at 10000", "#2 applied, run 7, revision 0 at 11000",
        "#3 applied, run 7, revision 0 at 12000", "#4 applied, run 7, revision 0 at 13000",
        "#5 applied, run 7, revision 0 at 14000",
      ])
    #expect(bus.driven.wholeRuns == [.number(7): false])
    #expect(bus.control.phase == .idle)
    #expect(bus.control.revision == 0)
  }

  // docs/protocol.md, "Rules for late commands", at its end: what is remembered as a settled window.
  @Test("is remembered with its laps as settled windows, and not with its transitions")
  func windows() throws {
    var bus = Transcript()
    _ = arrive(at: &bus, from: 10_000)
    _ = bus.said()
    #expect(bus.control.windows.map { $0.applied.map(\.kind) } == [[.lap]])
    #expect(bus.control.windows.map { $0.first.nanoseconds / 1_000_000 } == [12_000])
    // A start of another run beside the start of the whole run is no repeat of it; a lap beside its lap is one.
    bus.press(.start, .phone, at: 10_200, arriving: 61_000, run: 8, base: .saw(0, by: nil))
    bus.press(.lap, .phone, at: 12_200, arriving: 61_000, run: 7)
    let outcomes = bus.said().map { String($0.prefix { $0 != "," }) }
    #expect(outcomes == ["#6 rejected staleRevision", "#7 coalesced into #3"])
  }

  // A late start that comes before the open window settles is judged with the late presses that wait already.
  @Test("A stop without a run, late as the start of another device, means that start's run if both wait together")
  func stopWithoutRun() {
    func verdicts(startArrives start: Int64) -> [String] {
      var bus = Transcript()
      bus.press(.lap, .phone, at: 60_000)
      bus.press(.stop, .watch, at: 30_000, arriving: 60_100)
      if start > 60_500 { _ = bus.settle() }
      bus.press(.start, .widget, at: 20_000, arriving: start, run: 8, base: .saw(0, by: nil))
      return bus.settle().filter { $0.hasPrefix("#2") }
    }
    #expect(verdicts(startArrives: 60_200) == ["#2 applied, run 8, revision 2 at 30000"])
    #expect(verdicts(startArrives: 61_000) == [])
  }

  @Test("waits for its stop")
  func waits() {
    var bus = Transcript()
    bus.press(.start, .watch, at: 10_000, arriving: 60_000, run: 7, stopFollows: true)
    #expect(bus.said() == [])
    #expect(bus.driven.arbiter.unjudgedCount == 1)
    #expect(bus.press(.lap, .phone, at: 60_100) == .window)
    #expect(bus.settle() == ["#2 rejected illegal(idle), run none, revision 0"])
    bus.press(.stop, .watch, at: 20_000, arriving: 61_000, run: 7)
    #expect(bus.said() == ["#1 applied, run 7, revision 0 at 10000", "#3 applied, run 7, revision 0 at 20000"])
  }

  @Test("becomes a conflicted record when another run was on, and is never dropped")
  func conflicted() {
    var bus = Transcript.running
    _ = arrive(at: &bus, from: 10_000)
    #expect(bus.said().allSatisfy { $0.contains("applied, run 7, revision 1") })
    #expect(bus.driven.wholeRuns == [.number(7): true])
    #expect(bus.control.runID == .number(100))
    #expect(bus.control.phase == .running)
    #expect(bus.control.revision == 1)
  }

  @Test("conflicts with a run that is over only where they overlap", arguments: [(5_000, true), (20_000, false)])
  func overlap(from: Int64, isConflicted: Bool) {
    var bus = Transcript.running
    bus.press(.stop, .phone, at: 6_000)
    _ = bus.settle()
    _ = arrive(at: &bus, from: from)
    #expect(bus.driven.wholeRuns == [.number(7): isConflicted])
  }

  @Test("is not too old after a day")
  func old() {
    var bus = Transcript()
    bus.press(.start, .watch, at: 0, arriving: 200_000_000, run: 7, stopFollows: true)
    bus.press(.stop, .watch, at: 1000, arriving: 200_000_000, run: 7)
    #expect(bus.said() == ["#1 applied, run 7, revision 0 at 0", "#2 applied, run 7, revision 0 at 1000"])
  }

  @Test("is no run of its own when its start was coalesced into another device's start")
  func sharedStart() {
    var bus = Transcript.running
    bus.press(.start, .watch, at: 200, arriving: 60_000, run: 7, stopFollows: true)
    bus.press(.stop, .watch, at: 5_000, arriving: 60_000, run: 7)
    #expect(
      bus.said() == ["#1 coalesced into #100, run 100, revision 1 at 0", "#2 applied, run 100, revision 2 at 5000"])
    #expect(bus.driven.wholeRuns.isEmpty)
  }

  @Test("is not formed by a start without a stop: that start joins the run that is on")
  func startAlone() {
    var bus = Transcript.running
    bus.press(.start, .watch, at: 10_000, arriving: 60_000, run: 7)
    #expect(bus.said() == ["#1 coalesced into #100, run 100, revision 1 at 0"])
    #expect(bus.control.canonical(.number(7)) == .number(100))
  }

  @Test("survives a crash of the hub in its middle")
  func crash() {
    var bus = DrivenArbiter()
    bus.arrive(press(.start, .watch, at: 10_000, arriving: 60_000, id: 1, run: 7, stopFollows: true), crashing: true)
    bus.arrive(press(.pause, .watch, at: 11_000, arriving: 60_000, id: 2, run: 7, stopFollows: true), crashing: true)
    bus.arrive(press(.stop, .watch, at: 14_000, arriving: 60_000, id: 3, run: 7), crashing: true)
    #expect(bus.answers.map(\.verdict.outcome) == [.applied, .applied, .applied])
    #expect(bus.arbiter.control.revision == 0)
  }

  @Test("includes the commands of its stream that name no run")
  func withoutRunIDs() {
    var bus = Transcript.running
    bus.press(.start, .watch, at: 10_000, arriving: 60_000, run: 7, stopFollows: true)
    #expect(bus.press(.pause, .watch, at: 11_000, arriving: 60_000, stopFollows: true) == .held)
    #expect(bus.press(.stop, .watch, at: 12_000, arriving: 60_000) == .held)
    #expect(
      bus.said() == [
        "#1 applied, run 7, revision 1 at 10000", "#2 applied, run 7, revision 1 at 11000",
        "#3 applied, run 7, revision 1 at 12000",
      ])
  }

  @Test("may wait for an open window together with a second one")
  func twoRuns() {
    var bus = Transcript()
    bus.press(.start, .phone, at: 60_000, run: 5)
    for (run, time) in [(7, 10_000), (8, 20_000)] as [(UInt64, Int64)] {
      bus.press(.start, .watch, at: time, arriving: 60_100, run: run, stopFollows: true)
      bus.press(.lap, .watch, at: time + 1000, arriving: 60_100, stopFollows: true)
      bus.press(.stop, .watch, at: time + 2000, arriving: 60_100)
    }
    #expect(bus.said() == [])
    #expect(
      bus.settle() == [
        "#1 applied, run 5, revision 1 at 60000",
        "#2 applied, run 7, revision 1 at 10000", "#3 applied, run 7, revision 1 at 11000",
        "#4 applied, run 7, revision 1 at 12000", "#5 applied, run 8, revision 1 at 20000",
        "#6 applied, run 8, revision 1 at 21000", "#7 applied, run 8, revision 1 at 22000",
      ])
    #expect(bus.driven.wholeRuns == [.number(7): false, .number(8): false])
  }

  @Test("does not delay what its device sends by another stream")
  func otherStreams() {
    var bus = Transcript.running
    bus.press(.start, .watch, at: 10_000, arriving: 60_000, run: 7, stopFollows: true)
    #expect(bus.press(.pause, .watch, at: 61_000, by: 2) == .window)
    #expect(bus.settle() == ["#2 applied, run 100, revision 2 at 61000"])
  }

  @Test("falls apart when its stop was cancelled: the stream says that none follows, or continues with another run")
  func lostStop() {
    var bus = Transcript()
    bus.press(.start, .watch, at: 10_000, arriving: 60_000, run: 7, stopFollows: true)
    bus.press(.pause, .watch, at: 11_000, arriving: 60_000, run: 7)
    #expect(bus.said() == ["#1 applied, run 7, revision 1 at 10000", "#2 applied, run 7, revision 2 at 11000"])
    bus.press(.stop, .phone, at: 70_000)
    _ = bus.settle()
    bus.press(.start, .watch, at: 80_000, arriving: 90_000, run: 8, stopFollows: true)
    #expect(bus.press(.start, .watch, at: 90_000, run: 9) == .next)
    #expect(bus.said() == ["#4 applied, run 8, revision 4 at 80000"])
    #expect(bus.settle() == ["#5 coalesced into #4, run 8, revision 4 at 80000"])
  }

  @Test("leaves no press of its chain without a verdict, even one pressed before the start")
  func beforeItsStart() {
    var bus = Transcript()
    bus.press(.start, .watch, at: 10_000, arriving: 60_000, run: 7, stopFollows: true)
    bus.press(.pause, .watch, at: 9_000, arriving: 60_000, run: 7, stopFollows: true)
    bus.press(.stop, .watch, at: 20_000, arriving: 60_000, run: 7)
    #expect(bus.said().count == 3)
    #expect(bus.driven.arbiter.unjudgedCount == 0)
  }
}

/// The text that people read.
@Suite("A verdict's message")
struct VerdictMessageTests {
  // Once broken: A pause pressed while the phone was away was told as "another device changed the run after it was
  // pressed", when `recover finish` had ended the run before it, because the sentence knew one of the causes of
  // `staleRevision`.
  @Test("says what happened and why")
  func messages() {
    var bus = Transcript()
    bus.press(.pause, .phone, at: 0)
    #expect(bus.messages() == ["pause was rejected: no run has been started"])
    bus.press(.start, .phone, at: 10_000, run: 1)
    bus.press(.start, .watch, at: 10_100, run: 2)
    bus.press(.lap, .phone, at: 10_200)
    #expect(
      bus.messages() == ["start was applied", "start was already asked for: it counts once", "lap was marked"])
    bus.press(.pause, .phone, at: 20_000)
    bus.press(.start, .watch, at: 20_100, run: 3)
    #expect(bus.messages() == ["pause was applied", "start was rejected: a run is already on, and paused"])
    bus.press(.resume, .phone, at: 30_000)
    bus.press(.pause, .watch, at: 30_100)
    #expect(
      bus.messages() == [
        "resume was undone by a later press before it took effect", "pause was already asked for: it counts once",
      ])
    bus.press(.stop, .phone, at: 40_000, run: 99)
    #expect(bus.messages() == ["stop was rejected: it was meant for another run"])
    bus.press(.stop, .phone, at: 50_000)
    bus.press(.pause, .watch, at: 50_100)
    #expect(bus.messages() == ["stop was applied", "pause was rejected: the run is already completed"])
    bus.press(.resume, .widget, at: 15_000, arriving: 60_000)
    #expect(
      bus.messages() == ["resume was rejected: the run was changed meanwhile, by another device or by its recovery"])
    bus.press(.resume, .widget, at: 15_000, arriving: 100_000_000)
    #expect(bus.messages() == ["resume was rejected: it was pressed more than a day ago"])
  }
}
