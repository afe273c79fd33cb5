import RunCore
import Testing

/// How a window opens, settles and assigns run ids: one press per line, then the verdicts.
@Suite("A window")
struct WindowTranscriptTests {
  // MARK: Its bounds

  @Test("settles one window length after the last press")
  func settlesAfterTheLast() {
    var bus = Transcript.running
    #expect(bus.press(.pause, .phone, at: 10_000) == .window)
    #expect(bus.deadline == 10_500)
    #expect(bus.press(.stop, .watch, at: 10_400) == .window)
    #expect(bus.deadline == 10_900)
  }

  @Test("settles at the latest two seconds after its first press")
  func capped() {
    var bus = Transcript.running
    for time in [10_000, 10_400, 10_800, 11_200] as [Int64] { bus.press(.pause, .watch, at: time) }
    #expect(bus.deadline == 11_700)
    #expect(bus.press(.pause, .watch, at: 11_600) == .window)
    #expect(bus.deadline == 12_000)
    #expect(bus.press(.pause, .watch, at: 11_999) == .window)
    #expect(bus.deadline == 12_000)
    #expect(bus.press(.resume, .watch, at: 12_000) == .next)
    bus.press(.lap, .phone, at: 12_001)
    #expect(bus.said().first == "#1 applied, run 100, revision 2 at 10000")
    #expect(bus.settle() == ["#7 applied, run 100, revision 3 at 12000", "#8 applied, run 100, revision 3 at 12001"])
  }

  @Test("of three seconds does not settle after two")
  func longWindow() {
    var bus = Transcript(window: .seconds(3))
    bus.press(.start, .phone, at: 0, run: 1)
    #expect(bus.deadline == 3000)
  }

  @Test("leaves a press at its deadline to the next")
  func atTheDeadline() {
    var bus = Transcript.running
    #expect(bus.press(.pause, .phone, at: 10_000) == .window)
    #expect(bus.press(.resume, .watch, at: 10_500) == .next)
    #expect(
      bus.settle() == ["#1 applied, run 100, revision 2 at 10000", "#2 applied, run 100, revision 3 at 10500"])
  }

  @Test("includes a press a nanosecond before its deadline")
  func beforeTheDeadline() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000)
    #expect(bus.press(.resume, .watch, at: 10_499) == .window)
    #expect(
      bus.settle() == [
        "#1 superseded by #2, run 100, revision 1", "#2 coalesced into #100, run 100, revision 1 at 0",
      ])
  }

  @Test("judges a backlog that arrives in one millisecond by its press times")
  func backlog() {
    var bus = Transcript()
    bus.press(.start, .watch, at: 0, arriving: 400, run: 1)
    bus.press(.pause, .watch, at: 200, arriving: 400)
    bus.press(.stop, .watch, at: 350, arriving: 400)
    #expect(
      bus.settle() == [
        "#1 applied, run 1, revision 1 at 0", "#2 applied, run 1, revision 2 at 200",
        "#3 applied, run 1, revision 3 at 350",
      ])
  }

  @Test("begins earlier when an earlier press arrives that is not late")
  func earlierPress() {
    var bus = Transcript.running
    bus.press(.stop, .phone, at: 10_000)
    #expect(bus.press(.pause, .watch, at: 9_700, arriving: 10_100) == .window)
    #expect(
      bus.settle() == ["#2 applied, run 100, revision 2 at 9700", "#1 applied, run 100, revision 3 at 10000"])
  }

  @Test("of no length judges each press alone")
  func windowsOff() {
    var bus = Transcript(window: .zero)
    bus.press(.start, .phone, at: 0, run: 1)
    bus.press(.pause, .phone, at: 10)
    bus.press(.resume, .watch, at: 20)
    #expect(
      bus.said() == [
        "#1 applied, run 1, revision 1 at 0", "#2 applied, run 1, revision 2 at 10",
        "#3 applied, run 1, revision 3 at 20",
      ])
  }

  // MARK: Repeats and undo

  @Test("makes one transition of a pause pressed on three devices")
  func threePauses() {
    var bus = Transcript.running
    bus.press(.pause, .watch, at: 10_000)
    bus.press(.pause, .widget, at: 10_200)
    bus.press(.pause, .phone, at: 10_400)
    #expect(
      bus.settle() == [
        "#1 applied, run 100, revision 2 at 10000", "#2 coalesced into #1, run 100, revision 2 at 10000",
        "#3 coalesced into #1, run 100, revision 2 at 10000",
      ])
  }

  @Test("coalesces a repeat into the transition that made the phase long ago")
  func repeatOfThePast() {
    var bus = Transcript.running
    bus.press(.resume, .watch, at: 10_000)
    #expect(bus.settle() == ["#1 coalesced into #100, run 100, revision 1 at 0"])
  }

  @Test("removes an undone pause and what was coalesced into it")
  func undo() {
    var bus = Transcript.running
    bus.press(.pause, .watch, at: 10_000)
    bus.press(.pause, .widget, at: 10_100)
    bus.press(.resume, .phone, at: 10_300)
    #expect(
      bus.settle() == [
        "#1 superseded by #3, run 100, revision 1", "#2 superseded by #3, run 100, revision 1",
        "#3 coalesced into #100, run 100, revision 1 at 0",
      ])
    #expect(bus.control.phase == .running)
  }

  @Test("keeps a pause that was pressed again after it was undone")
  func undoneAndAgain() {
    var bus = Transcript.running
    bus.press(.pause, .watch, at: 10_000)
    bus.press(.resume, .watch, at: 10_100)
    bus.press(.pause, .watch, at: 10_200)
    #expect(
      bus.settle() == [
        "#1 superseded by #2, run 100, revision 2", "#2 coalesced into #100, run 100, revision 1 at 0",
        "#3 applied, run 100, revision 2 at 10200",
      ])
  }

  @Test("coalesces a press that undoes a pause into the start of its window")
  func undoAfterStart() {
    var bus = Transcript()
    bus.press(.start, .phone, at: 0, run: 1)
    bus.press(.pause, .watch, at: 100)
    bus.press(.resume, .watch, at: 200)
    #expect(
      bus.settle() == [
        "#1 applied, run 1, revision 1 at 0", "#2 superseded by #3, run 1, revision 1",
        "#3 coalesced into #1, run 1, revision 1 at 0",
      ])
  }

  @Test("names the run of an undone pause even when it starts another")
  func undoThenAnotherRun() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000)
    bus.press(.resume, .phone, at: 10_100)
    bus.press(.stop, .phone, at: 10_200)
    bus.press(.start, .phone, at: 10_300, run: 5)
    #expect(
      bus.settle() == [
        "#1 superseded by #2, run 100, revision 3", "#2 coalesced into #100, run 100, revision 1 at 0",
        "#3 applied, run 100, revision 2 at 10200", "#4 applied, run 5, revision 3 at 10300",
      ])
  }

  @Test("keeps start and pause, in order")
  func startThenPause() {
    var bus = Transcript()
    bus.press(.start, .phone, at: 0, run: 1)
    bus.press(.pause, .watch, at: 300)
    #expect(bus.settle() == ["#1 applied, run 1, revision 1 at 0", "#2 applied, run 1, revision 2 at 300"])
  }

  // MARK: Laps

  @Test("marks one lap however often it was pressed, and makes no revision")
  func lapOnce() {
    var bus = Transcript.running
    bus.press(.lap, .watch, at: 10_000)
    bus.press(.lap, .phone, at: 10_200)
    #expect(
      bus.settle() == [
        "#1 applied, run 100, revision 1 at 10000", "#2 coalesced into #1, run 100, revision 1 at 10000",
      ])
  }

  @Test("ignores a lap between a press and the one that undoes it")
  func lapBetween() {
    var bus = Transcript.running
    bus.press(.pause, .watch, at: 10_000)
    bus.press(.lap, .watch, at: 10_100)
    bus.press(.resume, .watch, at: 10_200)
    #expect(
      bus.settle() == [
        "#1 superseded by #3, run 100, revision 1", "#2 applied, run 100, revision 1 at 10100",
        "#3 coalesced into #100, run 100, revision 1 at 0",
      ])
  }

  @Test("accepts a lap of a run that was on when it was pressed")
  func lapBeforeTheStop() {
    var bus = Transcript.running
    bus.press(.stop, .phone, at: 10_000)
    _ = bus.settle()
    #expect(bus.press(.lap, .watch, at: 9_900, arriving: 10_390) == .window)
    #expect(bus.settle() == ["#2 applied, run 100, revision 2 at 9900"])
  }

  @Test("rejects a lap before any run", arguments: [nil, 7] as [UInt64?])
  func lapWithoutARun(named: UInt64?) {
    var bus = Transcript()
    bus.press(.lap, .watch, at: 0, run: named)
    #expect(bus.settle() == ["#1 rejected illegal(idle), run none, revision 0"])
  }

  // MARK: Run ids

  @Test("makes one run of two starts, and the second id an alias")
  func twoStarts() {
    var bus = Transcript()
    bus.press(.start, .phone, at: 0, run: 1)
    bus.press(.start, .watch, at: 100, run: 2)
    bus.press(.pause, .watch, at: 300, run: 2)
    #expect(
      bus.settle() == [
        "#1 applied, run 1, revision 1 at 0", "#2 coalesced into #1, run 1, revision 1 at 0",
        "#3 applied, run 1, revision 2 at 300",
      ])
    bus.press(.resume, .watch, at: 5000, run: 2)
    #expect(bus.settle() == ["#4 applied, run 1, revision 3 at 5000"])
  }

  @Test("mints a run of the command's own id when a start names none")
  func startWithoutARunID() {
    var bus = Transcript()
    bus.press(.start, .phone, at: 0)
    #expect(bus.settle() == ["#1 applied, run 1, revision 1 at 0"])
  }

  @Test("refuses a command for another run, even one that repeats or would be illegal")
  func otherRun() {
    var bus = Transcript.running
    bus.press(.pause, .watch, at: 10_000, run: 7)
    bus.press(.resume, .watch, at: 10_100, run: 7)
    bus.press(.lap, .watch, at: 10_200, run: 7)
    #expect(
      bus.settle() == [
        "#1 rejected otherRun, run 7, revision 1", "#2 rejected otherRun, run 7, revision 1",
        "#3 rejected otherRun, run 7, revision 1",
      ])
  }

  @Test("begins another run after the stop of one, within the window too")
  func stopThenStart() {
    var bus = Transcript.running
    bus.press(.stop, .phone, at: 10_000)
    bus.press(.start, .watch, at: 10_200, run: 5)
    bus.press(.pause, .phone, at: 10_300, run: 100)
    bus.press(.pause, .watch, at: 10_400)
    #expect(
      bus.settle() == [
        "#1 applied, run 100, revision 2 at 10000", "#2 applied, run 5, revision 3 at 10200",
        "#3 rejected otherRun, run 100, revision 4", "#4 applied, run 5, revision 4 at 10400",
      ])
  }

  @Test("never begins the same run twice")
  func retriedStart() {
    var bus = Transcript.running
    bus.press(.stop, .phone, at: 10_000)
    bus.press(.start, .phone, at: 10_200, run: 100)
    #expect(
      bus.settle() == [
        "#1 applied, run 100, revision 2 at 10000", "#2 rejected illegal(completed), run 100, revision 2",
      ])
    bus.press(.start, .watch, at: 20_000, run: 5)
    bus.press(.start, .phone, at: 20_200, run: 100)
    #expect(
      bus.settle() == ["#3 applied, run 5, revision 3 at 20000", "#4 rejected illegal(completed), run 100, revision 3"])
    #expect(bus.control.aliases.isEmpty)
  }

  // MARK: Time

  @Test("makes no transition before the last one")
  func clamped() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000)
    _ = bus.settle()
    // Not late: pressed before the pause, arrives after the pause's window has settled.
    #expect(bus.press(.stop, .watch, at: 9_999, arriving: 10_499) == .window)
    #expect(bus.settle() == ["#2 applied, run 100, revision 3 at 10000"])
  }

  @Test("orders presses of one instant by device, then by sequence")
  func oneInstant() {
    var bus = Transcript.running
    bus.press(.stop, .watch, at: 10_000)
    bus.press(.pause, .phone, at: 10_000)
    #expect(
      bus.settle() == ["#2 applied, run 100, revision 2 at 10000", "#1 applied, run 100, revision 3 at 10000"])
  }
}
