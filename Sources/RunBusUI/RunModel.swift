public import Foundation
public import Observation
public import RunBus

/// What a screen of a run shows, and its buttons: an observable object over a ``RunBus/Hub`` or a ``RunBus/Peer``.
///
/// ```swift
/// struct RunView: View {
///   @State var model: RunModel  // RunModel(watch, source: .watch)
///
///   var body: some View {
///     VStack {
///       TimelineView(.periodic(from: .now, by: 0.1)) { context in
///         Text("\(model.active(at: context.date)?.seconds ?? 0, specifier: "%.1f") s")
///       }
///       Text("\(model.metrics.distanceMeters ?? 0, specifier: "%.0f") m")
///       if model.isStale { Text("The phone does not answer.") }
///       if model.predictedPhase == .running {
///         Button("Pause") { model.press(.pause) }
///       } else {
///         Button("Go") { model.press(model.predictedPhase == .paused ? .resume : .start) }
///       }
///       ForEach(model.presses.filter(\.isRefused)) { press in Text(press.message ?? "") }
///     }
///     .task { await model.run() }
///   }
/// }
/// ```
///
/// The model follows its node while ``run()`` runs; the node itself runs elsewhere (``RunBus/Node/run()``). A button
/// changes ``predictedPhase`` at once, and ``presses`` tells what has become of each press.
///
/// The dial (``active(at:)-(Date)``) follows the last snapshot and not the prediction. After a press it goes on until
/// the snapshot with the verdict arrives, and then shows the time as of the press.
///
/// A test of a model runs on the main actor with a `TestBus()` and passes `bus.date` as the date. It does not use
/// `TestBus.run`, which does not wait for the main actor.
@MainActor @Observable public final class RunModel {
  /// The node that the model follows.
  @ObservationIgnored public let node: any Node
  /// The last snapshot; ``RunCore/Snapshot/none`` before the first.
  public private(set) var snapshot = Snapshot.none
  /// The phase with the presses on top that have no verdict yet, as the buttons should show it.
  public private(set) var predictedPhase = RunPhase.idle
  /// The route of the present run; empty unless the model follows it.
  public private(set) var route: [RoutePoint] = []
  /// Whether ``route`` is complete as of the hub's last message.
  public private(set) var isRouteComplete = false
  /// Kilometres, miles and laps of the present run; empty unless the model follows them.
  public private(set) var splits = RunSplits()
  /// The connection of a peer to its hub. A hub always reaches itself.
  public private(set) var reachability: Reachability
  /// How current the state of a peer is. That of a hub always is.
  public private(set) var viewState = ViewState(age: nil, isStale: false, isHubOffDuty: false)
  /// All that the node has told: also the devices with their ages, the commands of all devices and the lock screen. A view
  /// that reads it is drawn again after each change of any part.
  public private(set) var board: RunBoard
  private var buttons = ButtonPresses()

  @ObservationIgnored private var routeEdition = 0
  @ObservationIgnored private let source: ControlSource
  @ObservationIgnored private let followsRoute: Bool
  @ObservationIgnored private let followsSplits: Bool
  /// Whether ``run()`` has been called and has not returned.
  @ObservationIgnored private var isRunning = false
  /// Whether the model hears what becomes of commands, so that the node may be given some.
  @ObservationIgnored private var isFollowing = false
  /// Who waits for the verdicts of the commands that the node has.
  @ObservationIgnored private var sending: [CommandID: Task<Void, Never>] = [:]

  /// Makes a model of a node.
  ///
  /// - Parameters:
  ///   - node: The node. It may run already or be run later.
  ///   - source: What the commands of the buttons state as their source.
  ///   - followsRoute: Whether ``route`` is filled: each point of it travels to a peer.
  ///   - followsSplits: Whether ``splits`` is filled: a peer asks for them with each snapshot.
  public init(_ node: any Node, source: ControlSource, followsRoute: Bool = true, followsSplits: Bool = true) {
    self.node = node
    self.source = source
    self.followsRoute = followsRoute
    self.followsSplits = followsSplits
    board = RunBoard(own: node.deviceID)
    reachability = Reachability(isReachable: node is Hub)
  }

  /// The phase of the run.
  public var phase: RunPhase { snapshot.phase }
  /// The metrics of the run as of the last snapshot.
  public var metrics: RunMetrics { snapshot.metrics }
  /// Whether the hub waits for a decision about a run that was on when it died.
  public var isRecovering: Bool { snapshot.isRecovering }
  /// Whether the hub has answered lately.
  public var isReachable: Bool { reachability.isReachable }
  /// Whether the hub has been silent, so that its run may have changed since.
  public var isStale: Bool { viewState.isStale }
  /// The presses of the buttons, oldest first: all that wait for their verdict, and the last 16 that have it.
  public var presses: [ButtonPress] { buttons.all }
  /// The presses that wait for their verdict, oldest first.
  public var pendingPresses: [ButtonPress] { buttons.pending }

  // MARK: The display clock

  /// Time from the start of the run to a date, pauses included; see ``RunCore/Snapshot/elapsed(at:)``.
  ///
  /// - Parameter date: A date near the present, such as that of the frame to draw.
  /// - Returns: The time; `nil` before the node knows bus time.
  public func elapsed(at date: Date) -> BusDuration? {
    node.clock.map { snapshot.elapsed(at: $0.busTime(of: date)) }
  }

  /// What remains of the run's goal at a date; see ``RunCore/Snapshot/remaining(at:)``.
  ///
  /// - Parameter date: A date near the present, such as that of the frame to draw.
  /// - Returns: The time; zero once the goal is reached, `nil` in a run without one and before the node knows bus time.
  public func remaining(at date: Date) -> BusDuration? {
    node.clock.flatMap { snapshot.remaining(at: $0.busTime(of: date)) }
  }

  /// Time in which the run was running up to a date; see ``RunCore/Snapshot/active(at:)``.
  ///
  /// - Parameter date: A date near the present, such as that of the frame to draw.
  /// - Returns: The time; `nil` before the node knows bus time.
  public func active(at date: Date) -> BusDuration? {
    node.clock.map { snapshot.active(at: $0.busTime(of: date)) }
  }

  /// Time from the start of the run to an instant, pauses included; see ``elapsed(at:)-(Date)``.
  ///
  /// - Parameter instant: The instant, by default now.
  public func elapsed(at instant: ContinuousClock.Instant = .now) -> BusDuration? {
    node.clock.map { snapshot.elapsed(at: $0.busTime(of: instant)) }
  }

  /// What remains of the run's goal at an instant; see ``remaining(at:)-(Date)``.
  ///
  /// - Parameter instant: The instant, by default now.
  public func remaining(at instant: ContinuousClock.Instant = .now) -> BusDuration? {
    node.clock.flatMap { snapshot.remaining(at: $0.busTime(of: instant)) }
  }

  /// Time in which the run was running up to an instant; see ``active(at:)-(Date)``.
  ///
  /// - Parameter instant: The instant, by default now.
  public func active(at instant: ContinuousClock.Instant = .now) -> BusDuration? {
    node.clock.map { snapshot.active(at: $0.busTime(of: instant)) }
  }

  // MARK: Buttons

  /// Whether a command makes sense in the phase that the buttons show.
  public func allows(_ kind: CommandKind) -> Bool { RunMachine(phase: predictedPhase).allows(kind) }

  /// Presses a button. ``predictedPhase`` changes at once, and ``presses`` gets an entry. The node has the command when
  /// this returns, or when ``run()`` is called next; the command then counts as pressed at that moment.
  public func press(_ kind: CommandKind) { press(Command(kind, source: source)) }

  /// Presses start for a run with a goal; see ``press(_:)``.
  ///
  /// - Parameter goal: The goal of the run; `nil` for none.
  public func start(goal: RunGoal?) { press(.start(goal: goal, source: source)) }

  private func press(_ command: Command) {
    guard buttons.add(command, at: node.clock?.date ?? Date()) else { return }
    var machine = RunMachine(phase: predictedPhase)
    _ = machine.apply(command.kind)
    predictedPhase = machine.phase
    if isFollowing { give(command) }
  }

  // MARK: Following the node

  /// Follows the node until the task is cancelled or the node ends. It can be called again, for example whenever a view
  /// appears; a second call during the first returns at once.
  public func run() async {
    guard !isRunning else { return }
    isRunning = true
    defer {
      (isRunning, isFollowing) = (false, false)
      for task in sending.values { task.cancel() }
      sending = [:]
    }
    var questions: NewsQuestions = .devices
    if followsRoute { questions.insert(.route) }
    if followsSplits { questions.insert(.splits) }
    let news = await node.news(asking: questions)
    isFollowing = true
    // Commands that have no verdict since an earlier call are given again: a node takes a command once.
    for press in buttons.pending { give(press.command) }
    // In a test with steered time the loop of the node reads the news, because the test waits for the work of that loop.
    await withTaskExecutorPreference(node.steeredExecutor) { await self.follow(news) }
  }

  /// Follows the node until the task is cancelled or the node ends.
  @concurrent private nonisolated func follow(_ stream: NewsStream) async {
    for await news in stream { await take(news) }
  }

  private func take(_ news: NodeNews) {
    board.receive(news, at: node.moment)
    if case .ownReceipt(let receipt) = news { buttons.note(receipt) }
    show()
  }

  /// Takes over from the board what has changed, so that a view is drawn again only for what it shows.
  private func show() {
    func update<Value: Equatable>(_ path: ReferenceWritableKeyPath<RunModel, Value>, _ value: Value) {
      if self[keyPath: path] != value { self[keyPath: path] = value }
    }
    update(\.snapshot, board.snapshot)
    update(\.predictedPhase, buttons.predicted(from: board.predicted))
    if routeEdition != board.routeEdition { (route, routeEdition) = (board.route, board.routeEdition) }
    update(\.isRouteComplete, board.isRouteComplete)
    update(\.splits, board.splits)
    update(\.reachability, board.link)
    update(\.viewState, board.view)
  }

  /// Gives a command to the node, in the order of the calls. Where the system offers immediate tasks, the node has it
  /// before this returns, so that a press counts from its own moment in a test with steered time, too.
  private func give(_ command: Command) {
    let work: @MainActor @Sendable () async -> Void = { await self.settle(command) }
    if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, visionOS 26, *) {
      sending[command.id] = Task.immediate(operation: work)
    } else {
      sending[command.id] = Task(operation: work)
    }
  }

  private func settle(_ command: Command) async {
    defer { if !Task.isCancelled { sending[command.id] = nil } }
    do {
      buttons.note(try await node.sendForReceipt(command))
    } catch {
      // A command whose sender was cancelled stays valid. The next call of `run()` asks for its verdict.
      guard !Task.isCancelled else { return }
      buttons.fail(command.id, "\(command.kind.rawValue) was not taken: \(error)")
    }
    show()
  }
}
