import RunCore
import Testing

/// docs/protocol.md, "Judging": sentences of rules that a reader could take in two ways.
@Suite("A rule of judging means")
struct RuleReadingTests {
  @Test("settled windows: a lap counts up to the time at which the stop took effect, not its press time")
  func stopTakesEffect() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000)
    _ = bus.settle()
    bus.press(.lap, .watch, at: 9_990, arriving: 10_480, run: 100)
    // Takes effect at 10.0 s, because no transition is before the last one.
    bus.press(.stop, .phone, at: 9_999, arriving: 10_481, run: 100)
    _ = bus.settle()
    bus.press(.lap, .widget, at: 9_999, arriving: 60_000, run: 100)
    #expect(bus.said() == ["#4 coalesced into #2, run 100, revision 3 at 9990"])
    bus.press(.lap, .widget, at: 10_000, arriving: 61_000, run: 100)
    #expect(bus.said() == ["#5 rejected illegal(completed), run 100, revision 3"])
  }

  @Test("settled windows: a pause that a stop followed does not keep a resume from ending the search")
  func searchEnds() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000)
    bus.press(.resume, .phone, at: 10_050, arriving: 10_540)
    bus.press(.stop, .phone, at: 10_060, arriving: 10_541)
    bus.press(.start, .phone, at: 10_070, arriving: 10_542, run: 5)
    bus.press(.pause, .phone, at: 10_080, arriving: 10_543, run: 5)
    bus.press(.stop, .phone, at: 10_090, arriving: 10_544, run: 5)
    #expect(bus.settle().allSatisfy { $0.contains("applied") })
    // The window of #1 contains the press, too, but the resume of the later window ends the search.
    bus.press(.pause, .phone, at: 10_100, arriving: 60_000)
    #expect(bus.said() == ["#7 rejected illegal(completed), run 5, revision 7"])
  }

  @Test("late commands: a transition at exactly the press time counts")
  func exactTime() {
    var bus = Transcript.running
    bus.press(.stop, .phone, at: 10_000)
    bus.press(.start, .phone, at: 20_000, run: 5)
    _ = bus.settle()
    bus.press(.lap, .watch, at: 20_000, arriving: 60_000)
    #expect(bus.said() == ["#3 applied, run 5, revision 3 at 20000"])
  }

  @Test("laps of a window: a rejected one is not the lap into which a later one is coalesced")
  func rejectedLap() {
    var bus = Transcript()
    bus.press(.lap, .watch, at: 10_000, run: 5)
    bus.press(.start, .watch, at: 10_100, run: 5)
    bus.press(.lap, .watch, at: 10_200, run: 5)
    #expect(
      bus.settle() == [
        "#1 rejected illegal(idle), run none, revision 1", "#2 applied, run 5, revision 1 at 10100",
        "#3 applied, run 5, revision 1 at 10200",
      ])
  }

  @Test("whole runs: one that is no run of its own is judged before the late commands that wait, whatever their times")
  func ownBatch() {
    var bus = Transcript.running
    bus.press(.lap, .phone, at: 60_000)
    bus.press(.start, .watch, at: 10_000, arriving: 60_100, run: 100, stopFollows: true)
    bus.press(.stop, .watch, at: 12_000, arriving: 60_100, run: 100)
    #expect(bus.press(.lap, .widget, at: 5_000, arriving: 60_100) == .late)
    #expect(
      bus.settle() == [
        "#1 applied, run 100, revision 1 at 60000", "#2 coalesced into #100, run 100, revision 1 at 0",
        "#3 applied, run 100, revision 2 at 12000", "#4 applied, run 100, revision 2 at 5000",
      ])
  }

  @Test("whole runs: a start of the held run that is not old does not belong to it, and makes it fall apart")
  func startThatIsNotOld() {
    var bus = Transcript()
    bus.press(.start, .watch, at: 10_000, arriving: 60_000, run: 7, stopFollows: true)
    #expect(bus.press(.start, .watch, at: 60_050, arriving: 60_100, run: 7, stopFollows: true) == .next)
    #expect(bus.said() == ["#1 applied, run 7, revision 1 at 10000"])
    #expect(bus.settle() == ["#2 coalesced into #1, run 7, revision 1 at 10000"])
  }
}
