import RunCore
import Testing

/// How late presses are judged, also after the stop of their run: one press per line, then the verdicts.
@Suite("A late press")
struct LateTranscriptTests {
  // MARK: What is late

  @Test("is one that is older than the window when no window is open")
  func lateness() {
    var bus = Transcript.running
    #expect(bus.press(.pause, .watch, at: 10_000, arriving: 10_500) == .window)
    _ = bus.settle()
    #expect(bus.press(.resume, .watch, at: 20_000, arriving: 20_501) == .late)
    #expect(bus.said() == ["#2 applied, run 100, revision 3 at 20000"])
  }

  @Test("is not one that was pressed within the open window")
  func withinTheWindow() {
    var bus = Transcript.running
    bus.press(.lap, .phone, at: 10_000)
    bus.press(.lap, .phone, at: 10_400)
    #expect(bus.press(.pause, .watch, at: 10_100, arriving: 10_700) == .window)
  }

  @Test("waits for the open window, and later presses of its sender wait behind it")
  func waits() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000)
    #expect(bus.press(.pause, .watch, at: 9_000, arriving: 10_100) == .late)
    #expect(bus.press(.lap, .watch, at: 10_200) == .next)
    #expect(bus.said() == [])
    #expect(
      bus.settle() == [
        "#1 applied, run 100, revision 2 at 10000", "#2 coalesced into #1, run 100, revision 2 at 10000",
        "#3 applied, run 100, revision 2 at 10200",
      ])
  }

  @Test("is judged in press order among those that waited")
  func pressOrder() {
    var bus = Transcript.running
    bus.press(.lap, .phone, at: 10_000)
    bus.press(.resume, .watch, at: 9_000, arriving: 10_100)
    bus.press(.pause, .widget, at: 8_000, arriving: 10_200)
    #expect(
      bus.settle() == [
        "#1 applied, run 100, revision 1 at 10000", "#3 applied, run 100, revision 2 at 8000",
        "#2 applied, run 100, revision 3 at 9000",
      ])
  }

  // MARK: 1. Coalesced

  @Test("joins a settled window that applied the same kind at its press time, however late")
  func joinsAWindow() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000)
    bus.press(.resume, .phone, at: 20_000)
    _ = bus.settle()
    bus.press(.pause, .watch, at: 10_499, arriving: 60_000)
    #expect(bus.said() == ["#3 coalesced into #1, run 100, revision 2 at 10000"])
  }

  @Test("does not join a window that had settled when it was pressed")
  func afterTheWindow() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000)
    bus.press(.resume, .phone, at: 20_000)
    _ = bus.settle()
    bus.press(.pause, .watch, at: 10_500, arriving: 60_000)
    #expect(bus.said() == ["#3 rejected staleRevision, run 100, revision 3"])
  }

  @Test("that repeats the present phase is coalesced")
  func repeats() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000)
    _ = bus.settle()
    bus.press(.pause, .watch, at: 5_000, arriving: 60_000)
    #expect(bus.said() == ["#2 coalesced into #1, run 100, revision 2 at 10000"])
  }

  @Test("is coalesced with another late press of the same moment")
  func windowOfItsOwn() {
    var bus = Transcript.running
    bus.press(.lap, .watch, at: 10_000, arriving: 60_000)
    bus.press(.lap, .widget, at: 10_300, arriving: 61_000)
    #expect(
      bus.said() == ["#1 applied, run 100, revision 1 at 10000", "#2 coalesced into #1, run 100, revision 1 at 10000"])
  }

  @Test("counts again after it was undone: pause, resume, pause within half a second end paused")
  func undoneInBetween() {
    var bus = Transcript.running
    bus.press(.pause, .watch, at: 10_000, arriving: 60_000)
    bus.press(.resume, .watch, at: 10_150, arriving: 60_000)
    bus.press(.pause, .watch, at: 10_300, arriving: 60_000)
    #expect(
      bus.said() == [
        "#1 applied, run 100, revision 2 at 10000", "#2 applied, run 100, revision 3 at 10150",
        "#3 applied, run 100, revision 4 at 10300",
      ])
  }

  @Test("start while a run is on joins the start of that run, and its id names that run")
  func startAlias() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000)
    _ = bus.settle()
    bus.press(.start, .watch, at: 3_000, arriving: 60_000, run: 7)
    bus.press(.resume, .watch, at: 60_000, run: 7)
    #expect(
      bus.settle() == [
        "#2 coalesced into #100, run 100, revision 1 at 0", "#3 applied, run 100, revision 3 at 60000",
      ])
  }

  @Test("start of a run that is over neither begins it again nor becomes an alias of the next one")
  func retriedStart() {
    var bus = Transcript.running
    bus.press(.stop, .phone, at: 10_000)
    bus.press(.start, .phone, at: 20_000, run: 5)
    _ = bus.settle()
    bus.press(.start, .watch, at: 2_000, arriving: 60_000, run: 100)
    #expect(bus.said() == ["#3 rejected illegal(completed), run 100, revision 3"])
    #expect(bus.control.aliases.isEmpty)
  }

  // MARK: 2. Too old

  @Test("is refused when it was pressed more than a day ago")
  func tooOld() {
    let day: Int64 = 86_400_000
    var bus = Transcript.running
    bus.press(.pause, .watch, at: 10_000, arriving: 10_001 + day)
    #expect(bus.said() == ["#1 rejected tooOld, run 100, revision 1"])
    bus.press(.pause, .watch, at: 10_001, arriving: 10_001 + day)
    #expect(bus.said() == ["#2 applied, run 100, revision 2 at 10001"])
  }

  @Test("is coalesced, not too old, when it repeats the phase")
  func oldRepeat() {
    var bus = Transcript.running
    bus.press(.resume, .watch, at: 10_000, arriving: 100_000_000)
    #expect(bus.said() == ["#1 coalesced into #100, run 100, revision 1 at 0"])
  }

  // MARK: 3. Base decides

  @Test("applies when its base is the present revision, although a transition is effective after its press")
  func baseLetsThrough() {
    var bus = Transcript.running
    bus.press(.pause, .watch, at: 10_000)
    _ = bus.settle()
    bus.press(.stop, .watch, at: 9_990, arriving: 60_000)
    bus.press(.stop, .watch, at: 9_990, arriving: 60_000, base: .saw(2, by: 1))
    #expect(
      bus.said() == ["#2 rejected staleRevision, run 100, revision 2", "#3 applied, run 100, revision 3 at 10000"])
  }

  @Test("is stale when another sender changed the run above its base")
  func baseStops() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000)
    _ = bus.settle()
    bus.press(.stop, .watch, at: 12_000, arriving: 60_000, base: .saw(1, by: 100))
    #expect(bus.said() == ["#2 rejected staleRevision, run 100, revision 2"])
  }

  @Test("without a base is stale only when a transition is effective after its press")
  func withoutABase() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000)
    _ = bus.settle()
    bus.press(.stop, .watch, at: 9_000, arriving: 60_000)
    bus.press(.stop, .watch, at: 12_000, arriving: 60_000)
    #expect(
      bus.said() == ["#2 rejected staleRevision, run 100, revision 2", "#3 applied, run 100, revision 3 at 12000"])
  }

  @Test("with a base from another history is judged as without a base")
  func foreignBase() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000)
    _ = bus.settle()
    bus.press(.stop, .watch, at: 12_000, arriving: 60_000, base: .saw(2, by: 999))
    #expect(bus.said() == ["#2 applied, run 100, revision 3 at 12000"])
  }

  @Test("is stale when another sender's later press arrived, even if that was undone or coalesced")
  func laterPressHeard() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000)
    bus.press(.resume, .phone, at: 10_200)
    _ = bus.settle()
    bus.press(.stop, .watch, at: 9_000, arriving: 60_000, base: .saw(1, by: 100))
    #expect(bus.said() == ["#3 rejected staleRevision, run 100, revision 1"])
  }

  @Test("is stale when another sender's later press arrived, even if its own device undid that")
  func laterPressUndone() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000)
    bus.press(.resume, .watch, at: 10_200)
    _ = bus.settle()
    bus.press(.stop, .watch, at: 9_000, arriving: 60_000, base: .saw(1, by: 100))
    #expect(bus.said() == ["#3 rejected staleRevision, run 100, revision 1"])
  }

  @Test("is not stale because of another sender's later lap or rejected press")
  func lapsAndRefusalsDoNotCount() {
    var bus = Transcript.running
    bus.press(.lap, .phone, at: 10_000)
    bus.press(.pause, .phone, at: 10_100, run: 7)
    _ = bus.settle()
    bus.press(.pause, .watch, at: 9_000, arriving: 60_000)
    #expect(bus.said() == ["#3 applied, run 100, revision 2 at 9000"])
  }

  @Test("lap is never stale")
  func lapNeverStale() {
    var bus = Transcript.running
    bus.press(.pause, .phone, at: 10_000)
    _ = bus.settle()
    bus.press(.lap, .watch, at: 9_000, arriving: 60_000, base: .saw(0, by: nil))
    #expect(bus.said() == ["#2 applied, run 100, revision 2 at 9000"])
  }

  @Test("belongs to its sender's chain: start, pause, resume and stop, all pressed offline")
  func chainOfOneSender() {
    var bus = Transcript()
    bus.press(.start, .watch, at: 0, arriving: 600_000, run: 1, base: .saw(0, by: nil))
    bus.press(.pause, .watch, at: 100_000, arriving: 600_000, run: 1, base: .saw(0, by: nil))
    bus.press(.resume, .watch, at: 200_000, arriving: 600_000, run: 1, base: .saw(0, by: nil))
    bus.press(.stop, .watch, at: 300_000, arriving: 600_000, run: 1, base: .saw(0, by: nil))
    #expect(
      bus.said() == [
        "#1 applied, run 1, revision 1 at 0", "#2 applied, run 1, revision 2 at 100000",
        "#3 applied, run 1, revision 3 at 200000", "#4 applied, run 1, revision 4 at 300000",
      ])
  }

  @Test("chain breaks where another sender stepped in")
  func brokenChain() {
    var bus = Transcript.running
    bus.press(.pause, .watch, at: 10_000, arriving: 60_000, base: .saw(1, by: 100))
    bus.press(.stop, .phone, at: 61_000)
    _ = bus.settle()
    bus.press(.resume, .watch, at: 20_000, arriving: 70_000, run: 100, base: .saw(1, by: 100))
    #expect(bus.said() == ["#3 rejected staleRevision, run 100, revision 3"])
  }

  // MARK: 4. It applies

  @Test("pause takes effect at its press time, minutes ago")
  func minutesAgo() {
    var bus = Transcript.running
    bus.press(.pause, .watch, at: 100_000, arriving: 280_000, base: .saw(1, by: 100))
    #expect(bus.said() == ["#1 applied, run 100, revision 2 at 100000"])
  }

  @Test("without a run id means the run that was on when it was pressed")
  func runAtThePress() {
    var bus = Transcript.running
    bus.press(.stop, .phone, at: 10_000)
    bus.press(.start, .phone, at: 20_000, run: 5)
    _ = bus.settle()
    bus.press(.lap, .watch, at: 5_000, arriving: 60_000)
    bus.press(.lap, .watch, at: 25_000, arriving: 60_000)
    #expect(bus.said() == ["#3 applied, run 100, revision 3 at 5000", "#4 applied, run 5, revision 3 at 25000"])
  }

  @Test("without a run id, pressed before any run, is refused")
  func beforeAnyRun() {
    var bus = Transcript()
    bus.press(.start, .phone, at: 10_000, run: 1)
    _ = bus.settle()
    bus.press(.lap, .watch, at: 5_000, arriving: 60_000)
    #expect(bus.said() == ["#2 rejected illegal(idle), run none, revision 1"])
  }

  @Test("for a run that nobody knows is refused")
  func unknownRun() {
    var bus = Transcript.running
    bus.press(.stop, .watch, at: 5_000, arriving: 60_000, run: 7)
    #expect(bus.said() == ["#1 rejected otherRun, run 7, revision 1"])
  }

  // MARK: After stop

  @Test("lap of any device amends a run that is over")
  func lapAfterStop() {
    var bus = Transcript.running
    bus.press(.stop, .phone, at: 10_000)
    _ = bus.settle()
    bus.press(.lap, .watch, at: 8_000, arriving: 60_000, run: 100)
    bus.press(.lap, .watch, at: 11_000, arriving: 60_000, run: 100)
    #expect(
      bus.said() == ["#2 applied, run 100, revision 2 at 8000", "#3 rejected illegal(completed), run 100, revision 2"])
  }

  @Test("of the device that stopped the run amends it, at the phase of its press time")
  func stopperAmends() {
    var bus = Transcript.running
    bus.press(.stop, .phone, at: 10_000)
    _ = bus.settle()
    bus.press(.pause, .phone, at: 5_000, arriving: 60_000, run: 100)
    bus.press(.pause, .phone, at: 6_000, arriving: 60_000, run: 100)
    bus.press(.resume, .phone, at: 7_000, arriving: 60_000, run: 100)
    #expect(
      bus.said() == [
        "#2 applied, run 100, revision 2 at 5000", "#3 coalesced into #2, run 100, revision 2 at 5000",
        "#4 applied, run 100, revision 2 at 7000",
      ])
    #expect(bus.control.revision == 2)
    #expect(bus.control.phase == .completed)
  }

  @Test("of another device does not amend a run that is over")
  func othersDoNotAmend() {
    var bus = Transcript.running
    bus.press(.stop, .phone, at: 10_000)
    _ = bus.settle()
    bus.press(.pause, .watch, at: 5_000, arriving: 60_000, run: 100)
    bus.press(.pause, .watch, at: 12_000, arriving: 60_000, run: 100)
    #expect(
      bus.said() == [
        "#2 rejected staleRevision, run 100, revision 2", "#3 rejected illegal(completed), run 100, revision 2",
      ])
  }

  @Test("never hits the next run")
  func neverTheNextRun() {
    var bus = Transcript.running
    bus.press(.stop, .phone, at: 10_000)
    bus.press(.start, .phone, at: 20_000, run: 5)
    _ = bus.settle()
    bus.press(.stop, .watch, at: 9_000, arriving: 60_000, run: 100)
    bus.press(.stop, .watch, at: 9_500, arriving: 60_000)
    #expect(bus.said().allSatisfy { $0.contains("rejected staleRevision, run 100") })
    #expect(bus.control.phase == .running)
  }
}
