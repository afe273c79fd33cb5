import Testing

@testable import RunCore

/// A pusher of a hub whose runner is in a room that a test moves on.
private struct RoomOnScreen {
  static let (own, other) = (RunID(high: 9, low: 1), RunID(high: 9, low: 2))
  var pusher = LivePusher()
  var now = BusTime.zero + .seconds(1000)
  var snapshot = Snapshot.none

  init(_ phase: RunPhase = .idle, _ run: RunID? = nil) {
    _ = pusher.follow(at: now, speed: .realTime)
    show(phase, run)
  }

  /// Publishes a snapshot.
  mutating func show(_ phase: RunPhase, _ run: RunID?, meters: Double? = nil) {
    snapshot = Snapshot(
      order: SnapshotOrder(
        term: 1, revision: snapshot.order.revision + 1, tick: snapshot.order.tick + 1), phase: phase, runID: run,
      changedBy: nil, startedAt: run.map { _ in now }, capturedAt: now, metrics: RunMetrics(distanceMeters: meters))
    pusher.observe(snapshot)
  }

  /// Publishes a view of the room.
  mutating func see(
    _ stage: RoomView.Stage, startsIn: BusDuration? = nil, standing: RoomView.Standing? = nil,
    finish: RoomView.Finish? = nil, settled: RoomView.Settled? = nil, run: RunID? = own
  ) {
    let members = [
      RoomView.Member(id: "0a", nickname: "Anna", isSelf: true, standing: standing, finish: finish),
      RoomView.Member(id: "0b", nickname: "Ben"), RoomView.Member(id: "0c", nickname: "mira"),
    ]
    let view = RoomView(
      order: RoomView.Order(term: 1, number: 1), room: "0f", goal: .seconds(600), places: 4, stage: stage,
      startsIn: startsIn, settled: settled, members: members)
    pusher.observe(view, run: run, at: now, speed: .realTime)
  }

  mutating func pass(_ seconds: Double) { now = now + BusDuration(seconds: seconds) }
  mutating func push() -> LivePush? { pusher.push(at: now) }
}

@Suite("A room on lock screens")
struct LiveRoomTests {
  @Test("A countdown is pushed when it begins, and the run takes its place without a gap")
  func countdown() throws {
    var screen = RoomOnScreen()
    #expect(screen.push() == nil, "there is no run, and no countdown")
    screen.see(.recruiting)
    #expect(screen.push() == nil)
    screen.see(.countdown, startsIn: .seconds(5))
    let countdown = screen.push()
    let push = try #require(countdown)
    let startsAt = screen.now + .seconds(5)
    #expect(push.kind == .phase && push.content.phase == .idle && push.content.runID == RoomOnScreen.own)
    #expect(push.content.startsAt == startsAt && push.relevance == 100 && !push.isFinal && push.activity == 1)
    #expect(push.staleAt == startsAt + LivePolicy().staleAfter)
    // The view of the run comes before its snapshot is durable.
    screen.pass(5)
    screen.see(.running, startsIn: .zero)
    #expect(screen.push() == nil)
    screen.show(.running, RoomOnScreen.own)
    let runPush = screen.push()
    let run = try #require(runPush)
    #expect(run.kind == .phase && run.content.phase == .running && run.content.startsAt == nil)
    #expect(run.content.runID == push.content.runID, "it is the same activity")
  }

  @Test("A countdown that each view estimates a little differently is one; a start that moves is pushed")
  func jitter() {
    var screen = RoomOnScreen()
    screen.see(.countdown, startsIn: .seconds(30))
    _ = screen.push()
    for millisecond in [Int64(29_300), 28_100, 27_000] {
      screen.pass(1)
      screen.see(.countdown, startsIn: .milliseconds(millisecond))
      #expect(screen.push() == nil)
    }
    screen.see(.countdown)
    #expect(screen.push() == nil, "the hub does not know the log's time for a moment")
    screen.see(.countdown, startsIn: .seconds(40))
    #expect(screen.push()?.content.startsAt == screen.now + .seconds(40))
  }

  @Test("A countdown that is held ends the activity, and another one begins it again")
  func held() throws {
    var screen = RoomOnScreen()
    screen.see(.countdown, startsIn: .seconds(5))
    _ = screen.push()
    screen.see(.recruiting)
    let heldPush = screen.push()
    let held = try #require(heldPush)
    #expect(held.kind == .phase && held.content.phase == .idle && held.content.startsAt == nil)
    #expect(held.isFinal && held.staleAt == nil && held.relevance == 0)
    screen.pass(600)
    #expect(screen.push() == nil && screen.pusher.deadline == nil)
    screen.see(.countdown, startsIn: .seconds(5))
    #expect(screen.push()?.content.startsAt == screen.now + .seconds(5))
    // No run followed: the room is gone.
    screen.pusher.observe(nil, run: nil, at: screen.now, speed: .realTime)
    #expect(screen.push()?.isFinal == true)
  }

  @Test("After an earlier run the countdown takes its place, and a hold gives it back")
  func laterRun() {
    var screen = RoomOnScreen(.completed, RoomOnScreen.other)
    #expect(screen.push()?.kind == .final)
    screen.see(.countdown, startsIn: .seconds(5))
    #expect(screen.push()?.content.runID == RoomOnScreen.own)
    screen.see(.recruiting)
    let held = screen.push()
    #expect(held?.content.runID == RoomOnScreen.other && held?.content.phase == .completed && held?.isFinal == true)
  }

  @Test("A run that is on stays on the screen, with the countdown beside it until the start")
  func runByHand() {
    var screen = RoomOnScreen(.running, RoomOnScreen.other)
    _ = screen.push()
    screen.see(.countdown, startsIn: .seconds(5))
    let push = screen.push()
    #expect(push?.content.phase == .running && push?.content.runID == RoomOnScreen.other)
    #expect(push?.content.startsAt == screen.now + .seconds(5))
    screen.pass(5)
    screen.see(.running, startsIn: .zero, standing: RoomView.Standing(place: 1, meters: 0, isStale: false))
    let started = screen.push()
    #expect(started?.content.startsAt == nil && started?.content.runID == RoomOnScreen.other)
    #expect(started?.content.room == LiveRoom(place: 1, count: 3), "it counts for the room from there on")
  }

  @Test("A change of place is a number: it waits for its interval and is pushed when it looks different")
  func place() {
    func standing(_ place: Int, _ behind: Double?) -> RoomView.Standing {
      RoomView.Standing(place: place, meters: 100, metersBehind: behind, isStale: false)
    }
    var screen = RoomOnScreen()
    screen.see(.running, startsIn: .zero, standing: standing(1, nil))
    screen.show(.running, RoomOnScreen.own)
    #expect(screen.push()?.content.room == LiveRoom(place: 1, count: 3))
    screen.pass(3)
    screen.see(.running, standing: standing(2, 12))
    #expect(screen.push() == nil)
    screen.pass(12)
    let push = screen.push()
    #expect(push?.kind == .numbers && push?.content.room == LiveRoom(place: 2, count: 3, metersBehind: 12))
    screen.pass(20)
    screen.see(.running, standing: standing(2, 19))
    #expect(screen.push() == nil, "less than 10 m are not visible")
    screen.see(.running, standing: standing(2, 20))
    #expect(screen.push()?.kind == .numbers)
  }

  @Test("A run that is over gets its place once all records are in, and the next run by hand has none")
  func result() {
    var screen = RoomOnScreen()
    screen.see(.running, startsIn: .zero, standing: RoomView.Standing(place: 2, meters: 9, isStale: false))
    screen.show(.running, RoomOnScreen.own)
    _ = screen.push()
    screen.pass(600)
    func finish(_ place: Int) -> RoomView.Finish {
      RoomView.Finish(place: place, meters: 9, isConfirmed: true, outcome: .won)
    }
    screen.see(.settling, finish: finish(3), settled: .provisional)
    screen.show(.completed, RoomOnScreen.own)
    let last = screen.push()
    #expect(last?.kind == .final && last?.content.room == nil, "a place without all records may be wrong")
    screen.pass(60)
    screen.see(.settling, finish: finish(1), settled: .complete)
    #expect(screen.push()?.content.room == LiveRoom(place: 1, count: 3))
    screen.pass(60)
    screen.show(.running, RoomOnScreen.other)
    #expect(screen.push()?.content.room == nil)
  }

  @Test("A screen goes on with its room when a snapshot stands in for a lost push, and not with an earlier one's")
  func lostPush() {
    let origin = BusTime.zero + .seconds(1000)
    func snapshot(_ phase: RunPhase, _ run: RunID) -> Snapshot {
      Snapshot(
        order: SnapshotOrder(term: 1, revision: 2, tick: 9), phase: phase, runID: run, changedBy: nil,
        startedAt: origin, capturedAt: origin, metrics: RunMetrics())
    }
    func shown(_ content: LiveContent, _ snapshot: Snapshot) -> LiveContent? {
      var screen = LiveScreen()
      screen.receive(
        LivePush(
          order: SnapshotOrder(term: 1, revision: 1, tick: 1), content: content, number: 1, kind: .phase,
          pushedAt: origin, staleAt: origin + .seconds(60), budgetLeft: 9, activity: 1))
      screen.catchUp(with: snapshot)
      return screen.look(at: origin, isStale: false, isHubLost: false, pending: [])?.push.content
    }
    let clock = LiveClock(active: .zero, at: origin, isTicking: true)
    let run = LiveContent(
      runID: RoomOnScreen.own, phase: .running, clock: clock, startsAt: origin,
      room: LiveRoom(place: 2, count: 3, metersBehind: 5))
    let paused = shown(run, snapshot(.paused, RoomOnScreen.own))
    #expect(paused?.phase == .paused && paused?.room == run.room && paused?.startsAt == origin)
    let countdown = LiveContent(
      runID: RoomOnScreen.own, phase: .idle, clock: LiveClock(active: .zero, at: origin, isTicking: false),
      startsAt: origin)
    let started = shown(countdown, snapshot(.running, RoomOnScreen.own))
    #expect(started?.phase == .running && started?.startsAt == nil)
    #expect(shown(run, snapshot(.running, RoomOnScreen.other))?.room == nil)
  }

  @Test("A screen whose hub is silent in a countdown is stale, also by itself after the start")
  func stale() {
    let origin = BusTime.zero + .seconds(1000)
    var screen = LiveScreen()
    screen.receive(
      LivePush(
        order: SnapshotOrder(term: 1, revision: 1, tick: 1),
        content: LiveContent(
          runID: RoomOnScreen.own, phase: .idle, clock: LiveClock(active: .zero, at: origin, isTicking: false),
          startsAt: origin + .seconds(5)), number: 1, kind: .phase, pushedAt: origin, staleAt: origin + .seconds(65),
        budgetLeft: 9, activity: 1))
    func isStale(_ seconds: Int64, _ isSilent: Bool) -> Bool? {
      screen.look(at: origin + .seconds(seconds), isStale: isSilent, isHubLost: false, pending: [])?.isStale
    }
    #expect(isStale(1, false) == false)
    #expect(isStale(2, true) == true)
    #expect(isStale(3, false) == false)
    #expect(isStale(65, false) == true)
  }
}
