import RunCore
import Testing

/// docs/protocol.md, "Conditional commands": one press per line, then the verdicts.
@Suite("A conditional press")
struct ConditionTranscriptTests {
  @Test("counts at its revision, and is told at any other which one stands")
  func atItsRevision() {
    var bus = Transcript.running
    bus.press(.pause, .watch, at: 10_000, ifRevision: 1)
    bus.press(.resume, .watch, at: 20_000, ifRevision: 1)
    bus.press(.stop, .watch, at: 30_000, ifRevision: 7)
    #expect(
      bus.settle() == [
        "#1 applied, run 100, revision 2 at 10000", "#2 rejected revisionChanged(1), run 100, revision 2",
        "#3 rejected revisionChanged(7), run 100, revision 2",
      ])
  }

  @Test("is refused with the revision that stands, in one sentence")
  func sentence() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000)
    bus.press(.stop, .watch, at: 20_000, ifRevision: 1)
    bus.press(.resume, .phone, at: 30_000)
    bus.press(.stop, .watch, at: 30_100, ifRevision: 3)
    #expect(
      bus.messages() == [
        "pause was applied", "stop was rejected: the run is at revision 2, not 1", "resume was applied",
        "stop was rejected: the run was not at revision 3 when its turn came",
      ])
  }

  @Test("is judged against the revision before its window, whatever was pressed before it in the window")
  func beforeItsWindow() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000)
    bus.press(.stop, .watch, at: 10_100, ifRevision: 1)
    #expect(
      bus.settle() == [
        "#1 applied, run 100, revision 2 at 10000", "#2 applied, run 100, revision 3 at 10100",
      ])
    bus.press(.start, .phone, at: 20_000, run: 5)
    bus.press(.pause, .watch, at: 20_100, ifRevision: 4)
    #expect(
      bus.settle() == [
        "#3 applied, run 5, revision 4 at 20000", "#4 rejected revisionChanged(4), run 5, revision 4",
      ])
  }

  @Test("that arrives in the window is judged when it settles, not when it arrives")
  func atSettling() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000)
    bus.press(.stop, .watch, at: 9_000, arriving: 10_100, ifRevision: 1)
    #expect(
      bus.settle() == [
        "#1 applied, run 100, revision 2 at 10000", "#2 rejected revisionChanged(1), run 100, revision 2",
      ])
  }

  @Test("of one kind wins in a window; the same kind is coalesced into it, and another is refused")
  func oneKindWins() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000, ifRevision: 1)
    bus.press(.stop, .watch, at: 10_100, ifRevision: 1)
    bus.press(.pause, .widget, at: 10_200, ifRevision: 1)
    bus.press(.lap, .widget, at: 10_300, ifRevision: 1)
    bus.press(.resume, .watch, at: 10_350, ifRevision: 1)
    bus.press(.pause, .watch, at: 10_400, ifRevision: 2)
    #expect(
      bus.settle() == [
        "#1 applied, run 100, revision 2 at 10000", "#2 rejected revisionChanged(1), run 100, revision 2",
        "#3 coalesced into #1, run 100, revision 2 at 10000", "#4 rejected revisionChanged(1), run 100, revision 2",
        "#5 rejected revisionChanged(1), run 100, revision 2", "#6 rejected revisionChanged(2), run 100, revision 2",
      ])
  }

  @Test("does not keep presses without a condition from counting")
  func besideOthers() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000, ifRevision: 1)
    bus.press(.pause, .watch, at: 10_100)
    bus.press(.stop, .watch, at: 10_200)
    #expect(
      bus.settle() == [
        "#1 applied, run 100, revision 2 at 10000", "#2 coalesced into #1, run 100, revision 2 at 10000",
        "#3 applied, run 100, revision 3 at 10200",
      ])
  }

  @Test("is not undone: a resume after it is a transition of its own")
  func notUndone() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000, ifRevision: 1)
    bus.press(.resume, .watch, at: 10_100)
    #expect(
      bus.settle() == ["#1 applied, run 100, revision 2 at 10000", "#2 applied, run 100, revision 3 at 10100"])
    // Nor is what it was coalesced into.
    bus.press(.pause, .watch, at: 20_000)
    bus.press(.pause, .phone, at: 20_100, ifRevision: 3)
    bus.press(.resume, .watch, at: 20_200)
    #expect(
      bus.settle() == [
        "#3 applied, run 100, revision 4 at 20000", "#4 coalesced into #3, run 100, revision 4 at 20000",
        "#5 applied, run 100, revision 5 at 20200",
      ])
  }

  @Test("undoes nothing: it is refused instead")
  func undoesNothing() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000)
    bus.press(.resume, .watch, at: 10_100, ifRevision: 1)
    #expect(
      bus.settle() == [
        "#1 applied, run 100, revision 2 at 10000", "#2 rejected revisionChanged(1), run 100, revision 2",
      ])
  }

  @Test("that repeats the phase at its revision is coalesced, and excludes nothing")
  func repeats() {
    var bus = Transcript.running
    bus.press(.resume, .watch, at: 10_000, ifRevision: 1)
    bus.press(.lap, .watch, at: 10_100, ifRevision: 1)
    bus.press(.pause, .watch, at: 10_200, ifRevision: 1)
    #expect(
      bus.settle() == [
        "#1 coalesced into #100, run 100, revision 1 at 0", "#2 applied, run 100, revision 2 at 10100",
        "#3 applied, run 100, revision 2 at 10200",
      ])
  }

  @Test("is coalesced into a settled window at the revision that stands only")
  func settledWindow() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000)
    _ = bus.settle()
    bus.press(.pause, .watch, at: 10_300, arriving: 60_000, ifRevision: 1)
    bus.press(.pause, .watch, at: 10_300, arriving: 60_001, ifRevision: 2)
    #expect(
      bus.said() == [
        "#2 rejected revisionChanged(1), run 100, revision 2", "#3 coalesced into #1, run 100, revision 2 at 10000",
      ])
  }

  @Test("that comes late is judged as of the revision at its turn")
  func late() {
    var bus = Transcript.running
    bus.press(.lap, .phone, at: 10_000)
    bus.press(.pause, .watch, at: 5_000, arriving: 10_100, ifRevision: 1)
    bus.press(.stop, .widget, at: 6_000, arriving: 10_200, ifRevision: 1)
    #expect(
      bus.settle() == [
        "#1 applied, run 100, revision 1 at 10000", "#2 applied, run 100, revision 2 at 5000",
        "#3 rejected revisionChanged(1), run 100, revision 2",
      ])
  }

  @Test("names one state of all runs: the next run goes on counting")
  func nextRun() {
    var bus = Transcript.running
    bus.press(.stop, .phone, at: 10_000)
    bus.press(.start, .phone, at: 20_000, run: 5)
    bus.press(.pause, .watch, at: 30_000, ifRevision: 1)
    bus.press(.pause, .watch, at: 31_000, ifRevision: 3)
    #expect(
      bus.settle() == [
        "#1 applied, run 100, revision 2 at 10000", "#2 applied, run 5, revision 3 at 20000",
        "#3 rejected revisionChanged(1), run 5, revision 3", "#4 applied, run 5, revision 4 at 31000",
      ])
  }

  @Test("belongs to no run that was made out of reach: that run falls apart")
  func wholeRun() {
    var bus = Transcript()
    #expect(bus.press(.start, .watch, at: 1_000, arriving: 60_000, run: 5, stopFollows: true) == .held)
    #expect(bus.press(.pause, .watch, at: 2_000, arriving: 60_001, run: 5, ifRevision: 1) == .late)
    bus.press(.stop, .watch, at: 3_000, arriving: 60_002, run: 5)
    _ = bus.settle()
    #expect(bus.control.revision == 3)
    #expect(bus.control.phase == .completed)
  }

  @Test("that starts a run is never held, whatever follows it")
  func neverHeld() {
    var bus = Transcript()
    #expect(
      bus.press(.start, .watch, at: 1_000, arriving: 60_000, run: 5, stopFollows: true, ifRevision: 0) == .late)
    #expect(bus.said() == ["#1 applied, run 5, revision 1 at 1000"])
  }
}
