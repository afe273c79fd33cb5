@testable import RunCore
import Testing

@Suite("What a screen shows")
struct RunBoardTests {
  private static let (first, second) = (RunID(high: 0, low: 1), RunID(high: 0, low: 2))
  private var board = RunBoard(own: .watch)

  private static func snapshot(
    _ phase: RunPhase, _ run: RunID = first, term: UInt64 = 1, revision: UInt64 = 1, tick: UInt64 = 1
  ) -> Snapshot {
    Snapshot(
      order: SnapshotOrder(term: term, revision: revision, tick: tick), phase: phase, runID: run, changedBy: nil,
      startedAt: .zero, capturedAt: .zero, metrics: RunMetrics())
  }
  private static func receipt(_ id: UInt64, _ stage: ReceiptStage) -> Receipt {
    Receipt(commandID: CommandID(high: 0, low: id), kind: .pause, source: .phone, stage: stage)
  }
  private static func verdict(_ id: UInt64) -> ReceiptStage {
    .verdict(
      Verdict(
        commandID: CommandID(high: 0, low: id), kind: .pause, source: .phone, outcome: .applied, runID: first, term: 1,
        revision: 2, effectiveAt: .zero))
  }
  private static func moment(_ seconds: Int64) -> BusTime { .zero + .seconds(seconds) }

  private mutating func hear(_ news: NodeNews..., at seconds: Int64 = 0) {
    for one in news { board.receive(one, at: Self.moment(seconds)) }
  }

  private func unheard(at seconds: Int64 = 0) -> [Bool] {
    board.commands.map { board.isUnheard($0, at: Self.moment(seconds)) }
  }

  @Test("A verdict replaces the stage before it, and nothing replaces a verdict")
  mutating func stages() {
    hear(.receipt(Self.receipt(1, .pending), .phone), at: 1)
    hear(.receipt(Self.receipt(1, Self.verdict(1)), .phone), .receipt(Self.receipt(1, .pending), .phone), at: 2)
    #expect(board.commands.map(\.isOpen) == [false] && board.commands[0].heardAt == Self.moment(1))
    hear(.ownReceipt(Self.receipt(2, .queued)))
    #expect(board.commands.map(\.deviceID) == [.watch, .phone], "the newest first")
  }

  @Test("When the hub is out of reach or begins anew, the verdict of another device's press may have been missed")
  mutating func unheard() {
    hear(.link(Reachability(isReachable: true)), .snapshot(Self.snapshot(.running)))
    hear(.receipt(Self.receipt(1, .pending), .phone), .ownReceipt(Self.receipt(2, .pending)))
    hear(.link(Reachability(isReachable: false)))
    #expect(unheard() == [false, true], "the node's own verdict comes")
    hear(.receipt(Self.receipt(1, Self.verdict(1)), .phone))
    #expect(!unheard().contains(true))
    hear(.receipt(Self.receipt(3, .pending), .phone), .snapshot(Self.snapshot(.running, term: 2)))
    #expect(unheard()[0])
  }

  @Test("A verdict that is only published may be missed when it has not come for half a minute")
  mutating func lostPublication() {
    hear(.link(Reachability(isReachable: true)), .snapshot(Self.snapshot(.running)))
    hear(.receipt(Self.receipt(1, .pending), .phone), .ownReceipt(Self.receipt(2, .pending)), at: 10)
    #expect(unheard(at: 40) == [false, false])
    #expect(unheard(at: 41) == [false, true])
  }

  // Once broken: A press that a wrong member published under the name of this device waited for ever on its screen.
  @Test("What another publishes under the name of this device is no command of its own")
  mutating func borrowedName() {
    hear(.link(Reachability(isReachable: true)), .snapshot(Self.snapshot(.running)))
    hear(.receipt(Self.receipt(1, .pending), .watch), .ownReceipt(Self.receipt(2, .pending)))
    #expect(board.commands.map(\.isOwn) == [true, false] && board.commands.map(\.deviceID) == [.watch, .watch])
    hear(.link(Reachability(isReachable: false)))
    #expect(unheard() == [false, true])
  }

  // Once broken: that the run of the last room was won stood over the gate of the next one.
  @Test("A cue is shown for ten seconds, and not over another room")
  mutating func cues() {
    func view(_ room: String, _ number: UInt64) -> RoomView {
      RoomView(
        order: RoomView.Order(term: 1, number: number), room: room, goal: .seconds(300), places: 4, stage: .recruiting,
        members: [])
    }
    let cue = RoomCue(room: "one", kind: .won)
    hear(.cue(cue), at: 1)
    #expect(board.cueShown(at: Self.moment(2)) == cue, "also before the first view")
    hear(.room(view("one", 1)), at: 2)
    #expect(board.cueShown(at: Self.moment(10)) == cue && board.cueShown(at: Self.moment(11)) == nil)
    hear(.room(view("two", 2)), at: 3)
    #expect(board.cueShown(at: Self.moment(4)) == nil)
  }

  @Test("A new run begins with an empty route, and an older snapshot changes nothing")
  mutating func runs() {
    let point = RoutePoint(offset: .zero, position: Position(latitude: 50, longitude: 8), verdict: .counted)
    hear(.snapshot(Self.snapshot(.running, revision: 1)))
    hear(.route(RouteUpdate(runID: Self.first, from: 0, points: [point, point], isComplete: true)))
    hear(.route(RouteUpdate(runID: Self.first, from: 1, points: [point], isComplete: true)))
    #expect(board.route.count == 2 && board.isRouteComplete)
    let edition = board.routeEdition
    hear(.snapshot(Self.snapshot(.running, Self.second, revision: 3)), .snapshot(Self.snapshot(.paused, revision: 2)))
    #expect(board.route.isEmpty && board.routeEdition > edition && board.snapshot.phase == .running)
  }

  // Once broken: The route of a run stayed empty on a screen when its first part came before the run's snapshot.
  @Test("A route that comes before the first snapshot of its run stays")
  mutating func routeFirst() {
    let point = RoutePoint(offset: .zero, position: Position(latitude: 50, longitude: 8), verdict: .counted)
    hear(.snapshot(Self.snapshot(.completed)))
    hear(.route(RouteUpdate(runID: Self.second, from: 0, points: [point], isComplete: true)))
    hear(.snapshot(Self.snapshot(.completed, tick: 2)), .snapshot(Self.snapshot(.running, Self.second, revision: 2)))
    #expect(board.route.count == 1 && board.isRouteComplete)
  }

  @Test("Ages grow while nothing is heard, and those of devices in reach do not while the hub is")
  mutating func ages() {
    func report(_ name: DeviceID, isReachable: Bool) -> PeerReport {
      PeerReport(
        deviceID: name, role: .watch, isReachable: isReachable, heardAge: .seconds(2), roundTrip: nil, waiting: 0,
        commandWatermark: 0)
    }
    hear(.link(Reachability(isReachable: true)))
    hear(.devices([report(.watch, isReachable: true), report(.phone, isReachable: false)]), at: 10)
    func ages(at seconds: Int64) -> [BusDuration?] {
      board.devices!.map { board.heardAge(of: $0, at: Self.moment(seconds)) }
    }
    #expect(ages(at: 15) == [.seconds(2), .seconds(7)])
    hear(.link(Reachability(isReachable: false)), at: 16)
    #expect(ages(at: 20) == [.seconds(12), .seconds(12)])
    hear(.presence(Presence(deviceID: .phone, role: .watch, isReachable: true)))
    #expect(board.devices?.map(\.report.isReachable) == [true, true])
    hear(.view(ViewState(age: .seconds(6), isStale: true, isHubOffDuty: false)), at: 20)
    #expect(board.viewAge(at: Self.moment(25)) == .seconds(11) && board.isBlind)
  }

  @Test("An alarm stands until the hub is heard again")
  mutating func alarm() {
    let lost = HubLost(
      runID: Self.first, deviceID: .phone, order: SnapshotOrder(term: 1, revision: 1, tick: 0), silence: .seconds(600))
    hear(.snapshot(Self.snapshot(.running)), .hubLost(lost))
    #expect(board.isHubLost)
    hear(.snapshot(Self.snapshot(.running, tick: 2)))
    #expect(!board.isHubLost)
    // The alarm was made durable so late that the hub was heard before it was told.
    hear(.link(Reachability(isReachable: true)), .hubLost(lost))
    #expect(!board.isHubLost)
    hear(.link(Reachability(isReachable: false)), .hubLost(lost))
    #expect(board.isHubLost)
  }

  @Test("The board keeps so many commands and no more")
  mutating func bound() {
    for id in 1...UInt64(RunBoard.commandsMax + 10) { hear(.receipt(Self.receipt(id, .pending), .phone)) }
    #expect(board.commands.count == RunBoard.commandsMax)
    #expect(board.commands.first?.receipt.commandID.low == UInt64(RunBoard.commandsMax + 10))
  }

  // MARK: The room

  private static func view(
    _ stage: RoomView.Stage, number: UInt64 = 1, startsIn: BusDuration? = nil, isIn: Bool = true, isLost: Bool = false
  ) -> RoomView {
    RoomView(
      order: RoomView.Order(term: 1, number: number), room: "0a", goal: .seconds(600), places: 2, stage: stage,
      startsIn: startsIn,
      members: [
        RoomView.Member(
          id: "0b", nickname: "Anna", isSelf: isIn,
          standing: RoomView.Standing(place: 1, meters: 5, age: .seconds(1), isStale: false)),
        RoomView.Member(id: "0c", nickname: "Ben", standing: RoomView.Standing()),
      ], isLost: isLost)
  }

  @Test("A room counts and ages by itself, and an older view does not replace it")
  mutating func room() {
    #expect(board.roomShown(at: Self.moment(0)) == nil)
    hear(.room(Self.view(.countdown, number: 2, startsIn: .seconds(5))), at: 10)
    hear(.room(Self.view(.recruiting)), at: 11)
    let shown = board.roomShown(at: Self.moment(12))
    #expect(shown?.stage == .countdown && shown?.startsIn == .seconds(3))
    #expect(shown?.members.map(\.standing?.age) == [.seconds(3), nil])
    #expect(shown?.members.map(\.standing?.isStale) == [false, true])
    #expect(board.roomShown(at: Self.moment(18))?.members[0].standing?.isStale == true, "nothing was heard for 9 s")
  }

  @Test(
    "A room that is over for the runner stays for ten minutes, one that goes on stays",
    arguments: [
      (view(.over), true), (view(.cancelled), true), (view(.recruiting, isIn: false), true),
      (view(.gathering, isLost: true), true), (view(.recruiting), false), (view(.running, isLost: true), false),
      (view(.settling), false),
    ])
  mutating func pastRoom(view: RoomView, isPast: Bool) {
    hear(.room(view), at: 10)
    #expect(board.roomShown(at: Self.moment(609)) != nil)
    #expect((board.roomShown(at: Self.moment(610)) == nil) == isPast)
    // A run that is started by hand hides nothing.
    hear(.snapshot(Self.snapshot(.running)), at: 11)
    #expect(board.roomShown(at: Self.moment(20)) != nil)
  }

  @Test("A cue is shown for ten seconds")
  mutating func cue() {
    #expect(board.cueShown(at: Self.moment(0)) == nil)
    let cue = RoomCue(room: "0a", kind: .overtaken, nickname: "Ben")
    hear(.cue(cue), at: 10)
    #expect(board.cueShown(at: Self.moment(19)) == cue && board.cueShown(at: Self.moment(20)) == nil)
  }
}
