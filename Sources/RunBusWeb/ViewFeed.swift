import Foundation
import RunBus

/// Follows the page's node and gives each viewer the newest view. It computes and encodes a view only while somebody looks,
/// once for all of them.
actor ViewFeed {
  /// The most commands that a page shows.
  private static let commandsMax = 20
  /// The most event streams at a time.
  static let viewersMax = 8
  /// The shortest time between two views.
  private static let pause = Duration.milliseconds(100)
  /// A view is repeated when nothing has changed for so long: it keeps proxies from closing the stream.
  private static let repeatEvery = Duration.seconds(15)
  /// How old the hub's series may be when a viewer asks for it; a sample comes every ten seconds.
  private static let seriesAge = Duration.seconds(5)
  /// How long the hub may take to tell its series.
  private static let patience = Duration.seconds(2)

  private let node: Peer
  private var viewers: [Int: AsyncStream<Data>.Continuation] = [:]
  private var nextViewer = 0
  private var news: NewsStream?
  private var isDue = false
  private var board: RunBoard
  private var lastReport: (run: RunID?, report: RunReport)?
  /// The series that the hub told last, at which of its revisions, and when.
  private var told: (series: RunSeries, revision: UInt64, at: ContinuousClock.Instant)?
  private var reportVersion = 0
  private let encoder = JSONEncoder()
  private let changes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  init(_ node: Peer) {
    self.node = node
    board = RunBoard(own: node.deviceID)
  }

  /// Follows the node until the task is cancelled or the node ends.
  func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await self.follow(await self.node.news(asking: self.questions)) }
      group.addTask { await self.tellViewers() }
    }
  }

  /// The hub is asked for its devices while there is a viewer.
  private var questions: NewsQuestions { viewers.isEmpty ? .route : [.route, .devices] }

  private func follow(_ news: NewsStream) async {
    self.news = news
    // A viewer may have come meanwhile.
    await news.ask(questions)
    for await news in news {
      board.receive(news, at: node.moment)
      if case .snapshot = news { reportVersion += 1 }
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
    continuation.yield(event())
    await news?.ask(questions)
    return stream
  }

  private func leave(_ number: Int) async {
    viewers[number] = nil
    await news?.ask(questions)
  }

  private func change() { if !viewers.isEmpty { changes.continuation.yield(()) } }

  /// Tells viewers of changes, a few together.
  private func tellViewers() async {
    await withDiscardingTaskGroup { group in
      group.addTask {
        while (try? await Task.sleep(for: Self.repeatEvery)) != nil { await self.change() }
      }
      for await _ in changes.stream {
        guard !viewers.isEmpty else { continue }
        let data = event()
        for viewer in viewers.values { viewer.yield(data) }
        guard (try? await Task.sleep(for: Self.pause)) != nil else { break }
      }
      group.cancelAll()
    }
  }

  /// The newest view as an event of the stream.
  private func event() -> Data {
    let view = view()
    let json = (try? encoder.encode(view)) ?? Data("null".utf8)
    let order = view.state.snapshot.order
    return Data("id: \(order.term).\(order.revision).\(order.tick)\nevent: view\ndata: ".utf8) + json
      + Data("\n\n".utf8)
  }

  /// What a page shows now.
  func view() -> ViewJSON {
    let clock = node.clock
    let date = clock?.date ?? Date()
    let speed = clock?.speed.factor ?? 1
    let (board, now) = (board, node.moment)
    let snapshot = board.snapshot
    func time(_ moment: BusTime) -> Date { date.addingTimeInterval((moment - now).seconds) }
    return ViewJSON(
      live: clock.flatMap { clock in
        board.lockScreen.map { LockScreenJSON(LiveActivityState($0, clock: clock), at: date) }
      },
      state: StateJSON(
        snapshot: snapshot, ageSeconds: clock.map { max(0, ($0.busTime - snapshot.capturedAt).seconds) } ?? 0),
      speed: speed, predicted: board.predicted,
      link: ViewJSON.Link(
        reachable: board.link.isReachable, roundTripSeconds: board.link.roundTrip?.seconds,
        refusal: board.link.refusal),
      stale: board.view.isStale, hubOffDuty: board.view.isHubOffDuty, hubLost: board.isHubLost,
      staleForSeconds: board.view.isStale ? board.viewAge(at: now)?.seconds : nil,
      room: board.roomShown(at: now),
      cue: board.cueShown(at: now).map { cue in
        ViewJSON.Cue(cue: cue, number: (board.cue?.heardAt.nanoseconds ?? 0) / 1_000_000)
      },
      devices: (board.devices ?? []).map {
        ViewJSON.Device(
          deviceId: $0.report.deviceID, role: $0.report.role.rawValue, reachable: $0.report.isReachable,
          heardAgeSeconds: board.heardAge(of: $0, at: now)?.seconds, roundTripSeconds: $0.report.roundTrip?.seconds,
          waiting: Int(clamping: $0.report.waiting))
      },
      commands: board.commands.prefix(Self.commandsMax).map {
        CommandJSON($0, isUnheard: board.isUnheard($0, at: now), at: time($0.heardAt))
      },
      routeVersion: board.routeEdition, reportVersion: reportVersion, recordVersion: board.recordEdition)
  }

  // MARK: What is asked for

  /// The splits that the hub gives now; those that it gave last for the same run when it gives none.
  func newest(_ report: RunReport?) -> RunReport? {
    if let report { lastReport = (runID, report) }
    return lastReport.flatMap { $0.run == runID ? $0.report : nil }
  }

  /// The present run; `nil` before the first.
  var runID: RunID? { board.snapshot.runID }

  /// The route of the present run.
  var route: [RoutePoint] { board.route }

  /// The numbers of the present run over time. The hub is asked for them, so that a viewer who comes late sees the whole
  /// run; one that is out of reach is not waited for, and what it told last stays.
  func series() async -> SeriesJSON {
    let revision = board.snapshot.order.revision
    let isFresh = told.map { $0.revision == revision && ContinuousClock.now - $0.at < Self.seriesAge } ?? false
    if !isFresh, board.link.isReachable {
      let answer = try? await within(Self.patience) { [node] in try? await node.series() }
      if let series = answer.flatMap({ $0 }).flatMap({ $0 }) { told = (series, revision, .now) }
    }
    return SeriesJSON(told?.series, board.snapshot, isOfPhase: told?.revision == board.snapshot.order.revision)
  }

  /// The latest stage of a press of this node; `nil` for one that the node has not kept.
  func receipt(of command: CommandID) -> Receipt? { board.receipt(of: command) }
}
