import Foundation
import RunBus

/// Follows the page's node and gives each viewer the newest view. It computes and encodes a view only while somebody looks,
/// once for all of them.
actor ViewKeeper {
  /// The most event streams at a time.
  static let viewersMax = 8
  /// The shortest time between two views.
  private static let pause = Duration.milliseconds(100)
  /// A view is repeated when nothing has changed for so long: it keeps proxies from closing the stream.
  private static let repeatEvery = Duration.seconds(15)
  /// How often the devices are asked for while somebody looks.
  private static let askEvery = Duration.seconds(3)

  /// How old the hub's series may be when a viewer asks for it; a sample comes every ten seconds.
  private static let seriesAge = Duration.seconds(5)
  /// How long the hub may take to tell its series.
  private static let patience = Duration.seconds(2)

  private let node: Peer
  private var viewers: [Int: AsyncStream<Data>.Continuation] = [:]
  private var nextViewer = 0
  private var isDue = false
  private var live: LiveActivity?
  private var snapshot = Snapshot.none
  private var reachability = Reachability()
  private var viewState = ViewState(age: nil, isStale: false, isHubOffDuty: false)
  private var devices: [PeerReport] = []
  /// When the devices were asked for: their ages go on from there.
  private var askedAt = ContinuousClock.now
  private var lastReport: (run: RunID?, report: RunReport)?
  private var commands: RecentCommands
  private(set) var route: [RoutePoint] = []
  /// The series that the hub told last, at which of its revisions, and when.
  private var told: (series: RunSeries, revision: UInt64, at: ContinuousClock.Instant)?
  private var routeVersion = 0
  private var reportVersion = 0
  private var recordVersion = 0
  private let encoder = JSONEncoder()
  private let changes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  init(_ node: Peer, deviceID: DeviceID) {
    self.node = node
    commands = RecentCommands(own: deviceID)
  }

  /// Follows the node until the task is cancelled or the node ends.
  func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await self.follow(await self.node.liveActivities()) { $0.live = $1 } }
      group.addTask { await self.follow(await self.node.snapshots()) { $0.take($1) } }
      group.addTask { await self.follow(await self.node.reachabilities()) { $0.take($1) } }
      group.addTask { await self.follow(await self.node.views()) { $0.viewState = $1 } }
      group.addTask { await self.follow(await self.node.events()) { $0.hear($1) } }
      group.addTask { await self.follow(await self.node.ownReceipts()) { $0.commands.note($1, of: nil, at: Date()) } }
      group.addTask { await self.follow(await self.node.route()) { $0.take($1) } }
      group.addTask { await self.follow(await self.node.recordNews()) { $0.take($1) } }
      group.addTask { await self.askForDevices() }
      group.addTask { await self.tellViewers() }
    }
  }

  private func follow<Value: Sendable>(
    _ stream: AsyncStream<Value>, _ take: @Sendable (isolated ViewKeeper, Value) -> Void
  ) async {
    for await value in stream {
      take(self, value)
      change()
    }
  }

  // MARK: Viewers

  /// Adds a viewer: the present view first, then the newest after each change; `nil` when there are too many.
  func look() async -> AsyncStream<Data>? {
    guard viewers.count < Self.viewersMax else { return nil }
    let (stream, continuation) = AsyncStream.makeStream(of: Data.self, bufferingPolicy: .bufferingNewest(1))
    nextViewer += 1
    let number = nextViewer
    viewers[number] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.leave(number) } }
    continuation.yield(await event())
    // A hub that hangs is not waited for: its devices come with a later view.
    if viewers.count == 1 { Task { await ask() } }
    return stream
  }

  private func leave(_ number: Int) { viewers[number] = nil }

  private func change() { if !viewers.isEmpty { changes.continuation.yield(()) } }

  /// Tells viewers of changes, a few together.
  private func tellViewers() async {
    await withDiscardingTaskGroup { group in
      group.addTask {
        while (try? await Task.sleep(for: Self.repeatEvery)) != nil { await self.change() }
      }
      for await _ in changes.stream {
        guard !viewers.isEmpty else { continue }
        let data = await event()
        for viewer in viewers.values { viewer.yield(data) }
        guard (try? await Task.sleep(for: Self.pause)) != nil else { break }
      }
      group.cancelAll()
    }
  }

  private func askForDevices() async {
    while (try? await Task.sleep(for: Self.askEvery)) != nil {
      if !viewers.isEmpty, reachability.isReachable { await ask() }
    }
  }

  /// Asks the hub for the devices. A hub that is out of reach is not waited for.
  private func ask() async {
    guard reachability.isReachable, let reports = try? await node.peers() else { return }
    (devices, askedAt) = (reports, .now)
    change()
  }

  /// The newest view as an event of the stream.
  private func event() async -> Data {
    let view = await view()
    let json = (try? encoder.encode(view)) ?? Data("null".utf8)
    let order = view.state.snapshot.order
    return Data("id: \(order.term).\(order.revision).\(order.tick)\nevent: view\ndata: ".utf8) + json
      + Data("\n\n".utf8)
  }

  private func view() async -> ViewJSON {
    let clock = node.clock
    let lost = await node.lastHubLost
    let now = clock?.date ?? Date()
    let speed = clock?.speed.factor ?? 1
    // The hub is asked every few seconds: only when it does not answer the ages grow.
    let sinceAsked = reachability.isReachable ? 0 : Double((ContinuousClock.now - askedAt).components.seconds)
    return ViewJSON(
      live: clock.flatMap { clock in live.map { LockScreenJSON(LiveActivityState($0, clock: clock), at: now) } },
      state: StateJSON(
        snapshot: snapshot, ageSeconds: clock.map { max(0, ($0.busTime - snapshot.capturedAt).seconds) } ?? 0),
      speed: speed, predicted: await node.predicted,
      link: ViewJSON.Link(
        reachable: reachability.isReachable, roundTripSeconds: reachability.roundTrip?.seconds,
        refusal: reachability.refusal),
      stale: viewState.isStale, hubOffDuty: viewState.isHubOffDuty,
      hubLost: live?.isHubLost == true || viewState.isStale && lost?.runID == snapshot.runID && lost != nil,
      staleForSeconds: viewState.isStale ? await node.viewState.age?.seconds : nil,
      devices: devices.map {
        ViewJSON.Device(
          deviceId: $0.deviceID, role: $0.role.rawValue, reachable: $0.isReachable,
          heardAgeSeconds: $0.heardAge.map { $0.seconds + sinceAsked }, roundTripSeconds: $0.roundTrip?.seconds,
          waiting: Int(clamping: $0.waiting))
      },
      commands: commands.all, routeVersion: routeVersion, reportVersion: reportVersion,
      recordVersion: recordVersion)
  }

  // MARK: What the node tells

  private func take(_ snapshot: Snapshot) {
    if snapshot.runID != self.snapshot.runID { (route, routeVersion) = ([], routeVersion + 1) }
    if snapshot.order.term != self.snapshot.order.term { commands.loseTrack() }
    self.snapshot = snapshot
    reportVersion += 1
  }

  private func take(_ reachability: Reachability) {
    if !reachability.isReachable { commands.loseTrack() }
    self.reachability = reachability
  }

  private func take(_ update: RouteUpdate) {
    update.apply(to: &route)
    routeVersion += 1
  }

  private func take(_ news: RecordNews) {
    let run =
      switch news {
      case .kept(let summary): summary.runID
      case .removed(let run): run
      }
    if run == snapshot.runID { recordVersion += 1 }
  }

  /// The splits that the hub gives now; those that it gave last for the same run when it gives none.
  func newest(_ report: RunReport?) -> RunReport? {
    if let report { lastReport = (snapshot.runID, report) }
    return lastReport.flatMap { $0.run == snapshot.runID ? $0.report : nil }
  }

  /// The present run; `nil` before the first.
  var runID: RunID? { snapshot.runID }

  /// The numbers of the present run over time. The hub is asked for them, so that a viewer who comes late sees the whole
  /// run; one that is out of reach is not waited for, and what it told last stays.
  func series() async -> SeriesJSON {
    let revision = snapshot.order.revision
    let isFresh = told.map { $0.revision == revision && ContinuousClock.now - $0.at < Self.seriesAge } ?? false
    if !isFresh, reachability.isReachable {
      let answer = try? await within(Self.patience) { [node] in try? await node.series() }
      if let series = answer.flatMap({ $0 }).flatMap({ $0 }) { told = (series, revision, .now) }
    }
    return SeriesJSON(told?.series, snapshot, isOfPhase: told?.revision == snapshot.order.revision)
  }

  /// The latest stage of a press of this node; `nil` for one that the node has not kept.
  func receipt(of command: CommandID) -> Receipt? { commands.receipt(of: command) }

  private func hear(_ event: BusEvent) {
    switch event {
    case .command(let command, let device):
      commands.note(
        Receipt(commandID: command.id, kind: command.kind, source: command.source, stage: .pending), of: device,
        at: Date())
    case .receipt(let receipt, let device): commands.note(receipt, of: device, at: Date())
    case .presence(let presence):
      if let index = devices.firstIndex(where: { $0.deviceID == presence.deviceID }) {
        devices[index].isReachable = presence.isReachable
      }
    case .snapshot, .message, .route, .live: break
    }
  }
}
