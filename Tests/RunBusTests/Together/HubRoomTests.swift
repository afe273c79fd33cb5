import RunCore
import TestSupport
import Testing

@testable import RunBus

/// Hubs with a log in memory, in one process. Time is real, and the runs are short.
@Suite("Hubs in a room", .timeLimit(.minutes(2)))
struct HubRoomTests {
  /// A runner with a phone.
  private struct Runner {
    let hub: Hub
    let key: MemberKey

    init(
      _ nickname: Nickname, _ log: any SharedLog, key: MemberKey = .random(), store: NodeStore = NodeStore(),
      listeners: [any HubListener] = []
    ) throws {
      self.key = key
      var configuration = HubConfiguration(deviceID: "phone", speed: BusSpeed(factor: 60)!)
      configuration.together = TogetherMember(
        log: log, key: key, fleet: .made(name: "club"), card: RoomCard(nickname: nickname))
      hub = Hub(configuration: configuration, listeners: listeners, store: store, loop: try Loop())
    }

    /// Asks, and waits for the verdict.
    func ask(_ wish: RoomAsk.Wish) async throws -> RoomAnswer {
      let ask = RoomAsk(id: .random(), wish: wish)
      return try await within("a verdict of \(wish)") {
        while true {
          let answer = try await hub.ask(.room(ask))
          guard case .pending = answer else { return answer }
          try await Task.sleep(for: .milliseconds(5))
        }
      }
    }
    func verdict(_ wish: RoomAsk.Wish) async throws -> RoomVerdict? {
      if case .judged(_, let verdict) = try await ask(wish) { verdict } else { nil }
    }
    /// Waits until a room looks like that.
    func sees(_ what: String, _ isSo: @Sendable @escaping (RoomReport) -> Bool) async throws -> RoomReport {
      try await within(what) {
        while true {
          if let report = try await hub.ask(.rooms).first, isSo(report) { return report }
          try await Task.sleep(for: .milliseconds(10))
        }
      }
    }
  }
  private let terms = RoomTerms(goal: .seconds(60), speed: BusSpeed(factor: 60)!, countdown: .seconds(3))

  private func open(_ runner: Runner) async throws -> RoomID {
    let answer = try await runner.ask(.open(terms))
    guard case .judged(let room, .opened) = answer else { throw DeadlineMissed(what: "an open room, not \(answer)") }
    return room
  }

  @Test("Two runners start at one moment by a press of the room, stop at the goal, and have one result")
  func run() async throws {
    let log = MemoryLog()
    let (anna, ben) = (try Runner(Nickname("Anna")!, log), try Runner(Nickname("Ben")!, log.another()))
    try await withRunning([anna.hub, ben.hub]) {
      let room = try await open(anna)
      #expect(try await anna.verdict(.begin) == .rejected(.tooFew))
      #expect(try await ben.verdict(.enter(room)) == .entered)
      #expect(try await anna.verdict(.begin) == .rejected(.notReady([anna.key.id, ben.key.id])))
      #expect(try await anna.verdict(.ready(true)) == .noted)
      #expect(try await ben.verdict(.ready(true)) == .noted)
      #expect(try await ben.verdict(.begin) == .rejected(.notOwner))
      #expect(try await anna.verdict(.begin) == .begun)
      for runner in [anna, ben] {
        let end = try await runner.hub.snapshots().first("the end of the run") { $0.phase == .completed }
        #expect(end.changedBy?.source == .room && end.goal?.time == terms.goal)
        #expect(end.runID == .made(room: room, member: runner.key.id))
        // Once broken: the press of a room was dated by bus time as if it were real time, and what was known of the log's
        // clock changed in the run, so that the clock stood at 0:59, one second before the goal.
        #expect(end.metrics.elapsed >= terms.goal && end.metrics.elapsed - terms.goal < .milliseconds(1))
        #expect(end.remaining == .zero)
      }
      let one = try await anna.sees("the result") { RoomResult($0.state)?.standing == .complete }
      let other = try await ben.sees("the same") { $0.count == one.count }
      #expect(one.digest == other.digest && RoomResult(one.state) == RoomResult(other.state))
      // Nobody had a sensor: unknown stays unknown.
      #expect(RoomResult(one.state)?.rows.allSatisfy { $0.decimetres == nil && $0.outcome == nil } == true)
      #expect(one.state.members.allSatisfy { $0.record?.isFinished == true })
    }
    await log.close()
  }

  @Test("A run that was started by hand before the room's start counts from the room's start, as far as it went since")
  func runByHand() async throws {
    let log = MemoryLog()
    let (anna, ben) = (try Runner(Nickname("Anna")!, log), try Runner(Nickname("Ben")!, log.another()))
    try await withRunning([anna.hub, ben.hub]) {
      let room = try await open(anna)
      #expect(try await ben.verdict(.enter(room)) == .entered)
      #expect(try await anna.verdict(.ready(true)) == .noted)
      #expect(try await ben.verdict(.ready(true)) == .noted)
      #expect(try await anna.verdict(.begin) == .begun)
      _ = try await within("a start by hand") { try await anna.hub.send(Command(.start, .phone)) }
      // A pedometer that shows 3 m more for each second of the run, whenever the hub shows the run.
      let sensor = Task {
        for await snapshot in await anna.hub.snapshots() {
          let meters = snapshot.metrics.elapsed.seconds * 3
          try await anna.hub.add([Sample(moment: .at(Loop.now), value: .pedometer(meters: meters))])
        }
      }
      defer { sensor.cancel() }
      let report = try await anna.sees("the result") { RoomResult($0.state)?.standing == .complete }
      let row = try #require(RoomResult(report.state)?.rows.first { $0.member == anna.key.id })
      #expect(row.place == 1 && row.outcome == .won)
      // The room's minute has 180 m; the three seconds before it, at this speed, more than twice as much.
      #expect((900...2200).contains(row.decimetres ?? 0), "\(row.decimetres ?? -1)")
    }
    await log.close()
  }

  @Test("A runner who is at the start before the room gathers is there at once, and one who is far does not get in")
  func gathering() async throws {
    let log = MemoryLog()
    let (anna, ben) = (try Runner(Nickname("Anna")!, log), try Runner(Nickname("Ben")!, log.another()))
    let far = try Runner(Nickname("Cleo")!, log.another())
    try await withRunning([anna.hub, ben.hub, far.hub]) {
      for (runner, latitude) in [(anna, 37.5), (ben, 37.5005), (far, 37.52)] {
        _ = try await within("the hub") { try await runner.hub.ask(.rooms) }
        let position = Position(latitude: latitude, longitude: 127, horizontalAccuracyMeters: 5)
        try await runner.hub.add([Sample(moment: .at(Loop.now), value: .position(position))])
      }
      var terms = terms
      terms.start = RoomStart(label: "start", latitude: 37_500, longitude: 127_000)
      let answer = try await anna.ask(.open(terms))
      guard case .judged(let room, .opened) = answer else { throw DeadlineMissed(what: "an open room, not \(answer)") }
      #expect(try await ben.verdict(.enter(room)) == .entered)
      #expect(try await far.ask(.enter(room)) == .refused(.tooFar(metres: 2220)))
      #expect(try await anna.verdict(.ready(true)) == .noted)
      #expect(try await ben.verdict(.ready(true)) == .noted)
      #expect(try await anna.verdict(.begin) == .begun)
      _ = try await anna.sees("both at the start") { $0.state.stage == .gathering && $0.state.notHere.isEmpty }
      #expect(try await anna.verdict(.proceed) == .begun)
    }
    await log.close()
  }

  @Test("A hub that dies in the countdown starts late, at the same press time")
  func deathInCountdown() async throws {
    let log = MemoryLog()
    let scratch = try ScratchDirectory()
    let key = MemberKey.random()
    let anna = try Runner(Nickname("Anna")!, log)
    try await withRunning([anna.hub]) {
      let room = try await open(anna)
      do {
        let ben = try Runner(Nickname("Ben")!, log.another(), key: key, store: try NodeStore(directory: scratch.path))
        try await withRunning([ben.hub]) {
          #expect(try await ben.verdict(.enter(room)) == .entered)
          #expect(try await ben.verdict(.ready(true)) == .noted)
          #expect(try await anna.verdict(.ready(true)) == .noted)
          #expect(try await anna.verdict(.begin) == .begun)
          _ = try await ben.sees("the countdown") { if case .countdown = $0.state.stage { true } else { false } }
        }
      }
      _ = try await anna.hub.snapshots().first("Anna's run") { $0.phase == .running }
      let ben = try Runner(Nickname("Ben")!, log.another(), key: key, store: try NodeStore(directory: scratch.path))
      try await withRunning([ben.hub]) {
        let running = try await ben.hub.snapshots().first("Ben's run") {
          $0.phase == .running || $0.phase == .completed
        }
        #expect(running.runID == .made(room: room, member: key.id))
        let one = try await anna.sees("the result") { RoomResult($0.state)?.standing == .complete }
        let other = try await ben.sees("the same") { RoomResult($0.state)?.standing == .complete }
        #expect(one.digest == other.digest && RoomResult(one.state) == RoomResult(other.state))
      }
    }
    await log.close()
  }

  @Test("What a hub has read of a room is in its store, and a log that has lost it is noticed")
  func lostLog() async throws {
    let log = MemoryLog()
    let scratch = try ScratchDirectory()
    let key = MemberKey.random()
    do {
      let anna = try Runner(Nickname("Anna")!, log, key: key, store: try NodeStore(directory: scratch.path))
      try await withRunning([anna.hub]) {
        _ = try await open(anna)
        #expect(try await anna.verdict(.ready(true)) == .noted)
      }
    }
    log.loseTail(after: 1)
    let again = try Runner(Nickname("Anna")!, log, key: key, store: try NodeStore(directory: scratch.path))
    try await withRunning([again.hub]) {
      let report = try await again.sees("the loss") { $0.isLost }
      // On a busy machine an entry may have been appended twice.
      #expect(report.count >= 2)
      // It can go on elsewhere.
      _ = try await open(again)
    }
    await log.close()
  }

  @Test("The runner's watch asks, is shown the room through its stages, and is told its cues once")
  func watch() async throws {
    let log = MemoryLog()
    let bus = InProcessBus()
    let anna = try Runner(Nickname("Anna")!, log, listeners: [bus.listener])
    let ben = try Runner(Nickname("Ben")!, log.another())
    let watch = Peer(
      configuration: PeerConfiguration(deviceID: "watch", role: .watch, topics: [.snapshots, .feed, .rooms]),
      connector: bus.connector, store: NodeStore(), loop: try Loop())
    let news = await watch.news()
    let told = Task {
      var (views, cues): ([RoomView], [RoomCue.Kind]) = ([], [])
      for await news in news {
        switch news {
        case .room(let view): views.append(view)
        case .cue(let cue): cues.append(cue.kind)
        default: break
        }
        if cues.contains(.won) { break }
      }
      return (views, cues)
    }
    try await withRunning([anna.hub, ben.hub, watch]) {
      try await watch.isConnected()
      let room = try await open(anna)
      #expect(try await ben.verdict(.enter(room)) == .entered)
      let ready = RoomAsk(id: .random(), wish: .ready(true))
      #expect(try await verdict(ready, of: watch) == .judged(room, .noted))
      // The same ask again has the same answer and is no second entry.
      #expect(try await verdict(ready, of: watch) == .judged(room, .noted))
      let late = RoomAsk(id: .random(), wish: .begin, age: .seconds(61))
      #expect(try await verdict(late, of: watch) == .refused(.expired))
      #expect(try await ben.verdict(.ready(true)) == .noted)
      #expect(try await verdict(RoomAsk(id: .random(), wish: .begin), of: watch) == .judged(room, .begun))
      let sensor = Task {
        for await snapshot in await anna.hub.snapshots() {
          let meters = snapshot.metrics.elapsed.seconds * 3
          try await anna.hub.add([Sample(moment: .at(Loop.now), value: .pedometer(meters: meters))])
        }
      }
      defer { sensor.cancel() }
      let (views, cues) = try await within("the cue of the winner") { await told.value }
      #expect(cues == [.started, .won])
      #expect(views.map(\.order) == views.map(\.order).sorted() && Set(views.map(\.order)).count == views.count)
      let stages = views.map(\.stage).reduce(into: [RoomView.Stage]()) { if $0.last != $1 { $0.append($1) } }
      #expect(stages == [.recruiting, .countdown, .running, .settling])
      #expect(views.allSatisfy { $0.own?.nickname == "Anna" && $0.check() == nil })
      let countdown = try #require(views.first { $0.stage == .countdown }?.startsIn)
      #expect(countdown > .zero && countdown <= .seconds(3))
      // The winner is told with the entry that decides it; the view of it may come right behind.
      let end = try await anna.sees("the result") { RoomResult($0.state)?.standing == .complete }
      #expect(RoomResult(end.state)?.rows.first?.outcome == .won)
    }
    await log.close()
  }

  /// Asks at a device until the answer is the last one.
  private func verdict(_ ask: RoomAsk, of watch: Peer) async throws -> RoomAnswer {
    try await within("a verdict of \(ask.wish)") {
      while true {
        let answer = try await watch.ask(.room(ask))
        guard case .pending = answer else { return answer }
        try await Task.sleep(for: .milliseconds(5))
      }
    }
  }

  @Test("Members hear how far the others' runs have come")
  func standings() async throws {
    let log = MemoryLog()
    let bus = InProcessBus()
    // A run of a real minute at the most: standings come every three real seconds.
    let (anna, ben) = (
      try Runner(Nickname("Anna")!, log, listeners: [bus.listener]), try Runner(Nickname("Ben")!, log.another())
    )
    let page = Peer(
      configuration: PeerConfiguration(deviceID: "page", role: .shell, topics: [.rooms]), connector: bus.connector,
      store: NodeStore(), loop: try Loop())
    let news = await page.news()
    try await withRunning([anna.hub, ben.hub, page]) {
      try await page.isConnected()
      var terms = terms
      terms.goal = .seconds(1200)
      let answer = try await anna.ask(.open(terms))
      guard case .judged(let room, .opened) = answer else { throw DeadlineMissed(what: "an open room, not \(answer)") }
      #expect(try await ben.verdict(.enter(room)) == .entered)
      for runner in [anna, ben] { #expect(try await runner.verdict(.ready(true)) == .noted) }
      #expect(try await anna.verdict(.begin) == .begun)
      let sensor = Task {
        for await snapshot in await ben.hub.snapshots() {
          let meters = snapshot.metrics.elapsed.seconds * 3
          try await ben.hub.add([Sample(moment: .at(Loop.now), value: .pedometer(meters: meters))])
        }
      }
      defer { sensor.cancel() }
      let view = try await within("Ben's standing") { () -> RoomView? in
        for await case .room(let view) in news where view.members.last?.standing?.meters ?? 0 > 0 { return view }
        return nil
      }
      let standing = try #require(view?.members.last?.standing)
      #expect(standing.place == 1 && !standing.isStale && standing.phase == .running)
      #expect(view?.ranked.map(\.nickname) == ["Ben", "Anna"])
    }
    await log.close()
  }

  @Test("A lock screen shows the countdown, its hold, and the run that it leads to as the same one")
  func lockScreen() async throws {
    let log = MemoryLog()
    let bus = InProcessBus()
    let (anna, ben) = (
      try Runner(Nickname("Anna")!, log, listeners: [bus.listener]), try Runner(Nickname("Ben")!, log.another())
    )
    let widget = Peer(
      configuration: PeerConfiguration(deviceID: "widget", role: .widget, topics: [.live]), connector: bus.connector,
      store: NodeStore(), loop: try Loop())
    let shown = await widget.liveActivities()
    try await withRunning([anna.hub, ben.hub, widget]) {
      try await widget.isConnected()
      let room = try await open(anna)
      #expect(try await ben.verdict(.enter(room)) == .entered)
      func begin() async throws {
        for runner in [anna, ben] { #expect(try await runner.verdict(.ready(true)) == .noted) }
        #expect(try await anna.verdict(.begin) == .begun)
      }
      func next(_ what: String, _ isSo: @Sendable @escaping (LiveContent) -> Bool) async throws -> LivePush {
        try await within(what) {
          for await activity in shown where isSo(activity.push.content) { return activity.push }
          throw DeadlineMissed(what: what)
        }
      }
      try await begin()
      let countdown = try await next("the countdown") { $0.startsAt != nil }
      #expect(countdown.content.phase == .idle)
      #expect(countdown.content.runID == .made(room: room, member: anna.key.id))
      let startsAt = try #require(countdown.content.startsAt)
      #expect(startsAt > countdown.pushedAt && startsAt - countdown.pushedAt <= .seconds(3 * 60))
      #expect(try await ben.verdict(.hold) == .held)
      #expect(try await next("the hold") { $0.startsAt == nil }.isFinal)
      try await begin()
      let run = try await next("the run") { $0.phase == .running }
      #expect(run.content.runID == countdown.content.runID && run.content.startsAt == nil)
    }
    await log.close()
  }

  /// Two runners who run; the room, and how many entries its log has.
  private func running(_ anna: Runner, _ ben: Runner, _ log: MemoryLog) async throws -> (room: RoomID, count: Int) {
    let room = try await open(anna)
    #expect(try await ben.verdict(.enter(room)) == .entered)
    #expect(try await anna.verdict(.ready(true)) == .noted)
    #expect(try await ben.verdict(.ready(true)) == .noted)
    #expect(try await anna.verdict(.begin) == .begun)
    for runner in [anna, ben] { _ = try await runner.hub.snapshots().first("a run") { $0.phase == .running } }
    return (room, try await log.rows(of: room, from: 0, count: 256).count)
  }

  @Test("A log that loses entries of a run is mended: one result for all, and for who has never read the room")
  func mended() async throws {
    let log = MemoryLog()
    let (anna, ben) = (try Runner(Nickname("Anna")!, log), try Runner(Nickname("Ben")!, log.another()))
    try await withRunning([anna.hub, ben.hub]) {
      let (room, count) = try await running(anna, ben, log)
      #expect(count >= 5)
      log.loseTail(after: 1)
      let one = try await anna.sees("the result") { RoomResult($0.state)?.standing == .complete }
      let other = try await ben.sees("the same") { RoomResult($0.state)?.standing == .complete }
      #expect(!one.isLost && !other.isLost && RoomResult(one.state) == RoomResult(other.state))
      #expect(one.state.stage.startsAt == other.state.stage.startsAt)
      let stranger = try await within("a stranger's fold") {
        while true {
          if let fold = try await RoomFolds.fold(room, of: log.another(), fleet: .made(name: "club")),
            fold.state.members.allSatisfy({ $0.record != nil })
          {
            return fold
          }
          try await Task.sleep(for: .milliseconds(20))
        }
      }
      #expect(stranger.state.members.map(\.id) == one.state.members.map(\.id))
      #expect(stranger.state.members.map(\.record) == one.state.members.map(\.record))
    }
    await log.close()
  }

  @Test("An entry that somebody takes out of the log is noticed with the next stage, and the room of a run stands")
  func altered() async throws {
    let log = MemoryLog()
    let (anna, ben) = (try Runner(Nickname("Anna")!, log), try Runner(Nickname("Ben")!, log.another()))
    try await withRunning([anna.hub, ben.hub]) {
      let room = try await open(anna)
      #expect(try await ben.verdict(.enter(room)) == .entered)
      for runner in [anna, ben] { #expect(try await runner.verdict(.ready(true)) == .noted) }
      _ = try await ben.sees("all") { $0.state.notReady.isEmpty && $0.state.members.count == 2 }
      log.tamper(with: room) { $0.remove(at: 1) }
      #expect(try await anna.verdict(.begin) == .begun)
      for runner in [anna, ben] {
        let report = try await runner.sees("the change") { $0.warnings == [.altered] }
        #expect(!report.isLost && report.state.members.count == 2)
      }
      let one = try await anna.sees("the result") { RoomResult($0.state)?.standing == .complete }
      let other = try await ben.sees("the same") { RoomResult($0.state)?.standing == .complete }
      #expect(RoomResult(one.state) == RoomResult(other.state))
      #expect(one.state.stage.startsAt == other.state.stage.startsAt)
    }
    await log.close()
  }

  @Test("An entry that somebody dates ten days ahead is noticed and moves no time, also for who reads it later")
  func misdated() async throws {
    let log = MemoryLog()
    let (anna, ben) = (try Runner(Nickname("Anna")!, log), try Runner(Nickname("Ben")!, log.another()))
    try await withRunning([anna.hub, ben.hub]) {
      let room = try await open(anna)
      #expect(try await ben.verdict(.enter(room)) == .entered)
      log.tamper(with: room) { rows in
        guard let last = rows.last else { return }
        // A later entry of Ben's, signed by him.
        let content = RoomContent(
          fleet: .made(name: "club"), room: room, author: ben.key.id, number: 2, ask: .tick)
        rows.append(
          LogRow(
            position: last.position + 1, time: last.time + .seconds(864_000), author: ben.key.id,
            body: EntrySigning(ben.key).signed(content)))
      }
      #expect(try await anna.verdict(.ready(true)) == .noted)
      let report = try await anna.sees("the time") { $0.warnings == [.misdated] }
      #expect(report.state.stage == .recruiting && report.state.members.count == 2)
      let now = try await log.now()
      #expect(report.state.time <= now)
      let stranger = try #require(try await RoomFolds.fold(room, of: log.another(), fleet: .made(name: "club")))
      #expect(stranger.warnings == [.misdated])
      #expect(stranger.state.stage == .recruiting && stranger.state.members.map(\.id) == report.state.members.map(\.id))
    }
    await log.close()
  }

  @Test("A log that begins anew in a run gets the whole room again")
  func mendedAnew() async throws {
    let log = MemoryLog()
    let (anna, ben) = (try Runner(Nickname("Anna")!, log), try Runner(Nickname("Ben")!, log.another()))
    try await withRunning([anna.hub, ben.hub]) {
      let (room, _) = try await running(anna, ben, log)
      log.beginAnew()
      let one = try await anna.sees("the result") { RoomResult($0.state)?.standing == .complete }
      let other = try await ben.sees("the same") { RoomResult($0.state)?.standing == .complete }
      #expect(one.room == room && RoomResult(one.state) == RoomResult(other.state))
    }
    await log.close()
  }

  @Test("A record that its runner removes has no distance in the room")
  func removedRecord() async throws {
    let log = MemoryLog()
    let (anna, ben) = (try Runner(Nickname("Anna")!, log), try Runner(Nickname("Ben")!, log.another()))
    try await withRunning([anna.hub, ben.hub]) {
      let (room, _) = try await running(anna, ben, log)
      // A pedometer, so that there is a distance.
      let sensor = Task {
        for await snapshot in await anna.hub.snapshots() where snapshot.phase == .running {
          let meters = snapshot.metrics.elapsed.seconds * 3
          try await anna.hub.add([Sample(moment: .at(Loop.now), value: .pedometer(meters: meters))])
        }
      }
      defer { sensor.cancel() }
      let one = try await anna.sees("the result") { RoomResult($0.state)?.standing == .complete }
      let run = RunID.made(room: room, member: anna.key.id)
      #expect(one.state.member(anna.key.id)?.record?.decimetres != nil)
      try await within("the removal") { _ = try await anna.hub.ask(.removeRecord(run)) }
      let other = try await ben.sees("no distance") {
        let record = $0.state.member(anna.key.id)?.record
        return record.map { $0.version > 1 && $0.decimetres == nil } ?? false
      }
      #expect(RoomResult(other.state)?.rows.first { $0.member == anna.key.id }?.isConfirmed == false)
    }
    await log.close()
  }

  @Test("Of the rooms that a hub follows the one with the newest entry is told first, and before it the runner's own")
  func order() async throws {
    let log = MemoryLog()
    let anna = try Runner(Nickname("Anna")!, log)
    try await withRunning([anna.hub]) {
      var rooms: [RoomID] = []
      for _ in 0..<4 {
        rooms.append(try await open(anna))
        #expect(try await anna.hub.rooms().map(\.room) == rooms.reversed())
        #expect(try await anna.verdict(.cancel) == .cancelled)
        #expect(try await anna.hub.rooms().map(\.room) == rooms.reversed())
      }
    }
    await log.close()
  }

  @Test("A hub without a fleet says so")
  func alone() async throws {
    let hub = Hub(
      configuration: HubConfiguration(deviceID: "phone"), listeners: [], store: NodeStore(), loop: try Loop())
    try await withRunning([hub]) {
      let ask = RoomAsk(id: .random(), wish: .leave)
      let answer = try await within("an answer") { try await hub.ask(.room(ask)) }
      #expect(answer == .refused(.alone))
      let rooms = try await within("an answer") { try await hub.ask(.rooms) }
      #expect(rooms.isEmpty)
    }
  }
}
