import Foundation
import RunBus
import Synchronization

/// Spawns the phones of some runners, plays a run together with them, and checks that they agree.
package final class UpRunners: Sendable {
  private enum Event: Sendable {
    /// The play is over: why it did not come to its end, if it did not.
    case played(RunnersResult.Failure?)
    /// A phone's process has ended.
    case ended(Int, NodeEnding, lastErrors: [String])
    /// A signal has come, or nobody reads what is shown.
    case end
    /// The phones had time enough to end.
    case patienceIsOver
  }
  private struct Seen {
    var reports: [RoomReport?]
    var told: [[RunnerView.Told]]
    var starts: [Start?]
    /// Which phones have kept the record of their run.
    var kept: Set<Int> = []
    var log: RunnersLog?
    var isEnding = false
  }

  /// What an answer of a phone says about the moment of its start.
  private struct Start {
    /// How long the phone took for the answer, at most: by half of it the moment may be wrong.
    let doubt: Duration
    /// Whether the answer came near the start. What a hub knows of the log's clock changes before and after.
    let isNear: Bool
    let at: ContinuousClock.Instant

    /// Within what real time of the start an answer is near.
    private static let near = 1.5

    init(_ startsIn: BusDuration, asked: ContinuousClock.Instant, answered: ContinuousClock.Instant) {
      doubt = answered - asked
      isNear = abs(startsIn.seconds) <= Self.near
      at = asked + doubt / 2 + .nanoseconds(startsIn.nanoseconds)
    }
    func isBetter(than other: Start?) -> Bool {
      guard let other else { return true }
      return isNear == other.isNear ? doubt < other.doubt : isNear
    }
  }

  /// How long the phones may take to end.
  private static let endPatience = Duration.seconds(5)
  /// How often the phones are asked how the room stands: many of them less often, because they share the machine.
  private var pollEvery: Duration { .milliseconds(max(75, 20 * plan.runners.count)) }
  private static let hub = DeviceID("phone")

  private let plan: RunnersPlan
  private let face: any RunnersFace
  private let locations: [BusLocation]
  private let log: SQLiteLog
  private let children: [NodeChild]
  private let events = AsyncStream.makeStream(of: Event.self)
  private let began = ContinuousClock.now
  private let deadline: ContinuousClock.Instant
  private let seen: Mutex<Seen>

  package init(_ plan: RunnersPlan, face: any RunnersFace) {
    (self.plan, self.face) = (plan, face)
    var environment = ProcessInfo.processInfo.environment
    for (name, value) in plan.environment { environment[name] = value }
    locations = plan.runners.map { BusLocation(bus: $0.bus, environment: environment) }
    log = SQLiteLog(LogPlace(plan.fleet, environment: environment))
    children = plan.runners.map { _ in NodeChild(.phone, life: 1) }
    deadline = .now + plan.patience
    seen = Mutex(
      Seen(
        reports: plan.runners.map { _ in nil }, told: plan.runners.map { _ in [] },
        starts: plan.runners.map { _ in nil }))
  }

  /// The directories of the sockets.
  package var runtimeDirectories: [String] { locations.map(\.runtimeDirectory) }

  /// Ends the phones in good order; at the second time they are killed.
  package func end() { events.continuation.yield(.end) }

  /// Plays the run to its end.
  package func run() async -> RunnersResult {
    var failure: RunnersResult.Failure?
    var (isPlayed, isInterrupted) = (false, false)
    var left = Set(children.indices)
    await withTaskGroup(of: Void.self) { group in
      for number in children.indices { group.addTask { await self.live(number) } }
      group.addTask { await self.playToItsEnd() }
      func endAll() {
        guard seen.withLock({ seen in !exchange(&seen.isEnding, true) }) else { return }
        for child in children { child.end() }
        group.addTask {
          try? await Task.sleep(for: Self.endPatience)
          self.events.continuation.yield(.patienceIsOver)
        }
      }
      loop: for await event in events.stream {
        let isEnding = seen.withLock { $0.isEnding }
        switch event {
        case .played(let flaw):
          if !isEnding { (failure, isPlayed) = (flaw, true) }
          endAll()
        case .ended(let number, let ending, let errors):
          left.remove(number)
          if !isEnding { failure = .died(plan.runners[number].nickname, ending, lastErrors: errors) }
          endAll()
          if left.isEmpty { break loop }
        case .end:
          if isEnding { break loop }
          isInterrupted = true
          endAll()
        case .patienceIsOver: break loop
        }
      }
      // Cancelling kills the phones that have not ended yet.
      group.cancelAll()
    }
    await log.close()
    let end = seen.withLock { $0 }
    let views = self.views(of: end)
    let differences = isPlayed && failure == nil ? RunnersAgreement.differences(of: views, log: end.log) : []
    return RunnersResult(views: views, differences: differences, failure: failure, isInterrupted: isInterrupted)
  }

  private func views(of seen: Seen) -> [RunnerView] {
    plan.runners.indices.map { number in
      RunnerView(
        nickname: plan.runners[number].nickname, report: seen.reports[number], told: seen.told[number],
        startedAt: seen.kept.contains(number) ? seen.starts[number].map { ($0.at - began) / .seconds(1) } : nil)
    }
  }

  /// Runs a phone to its end.
  private func live(_ number: Int) async {
    await children[number].run(
      executable: plan.executable, arguments: plan.arguments(of: plan.runners[number]), environment: plan.environment
    ) { event in
      switch event {
      case .heard(_, let line):
        guard case .record(let record) = line.event, record.act == .kept else { return }
        self.seen.withLock { _ = $0.kept.insert(number) }
      case .ended(_, _, let ending, let errors):
        self.events.continuation.yield(.ended(number, ending, lastErrors: errors))
      case .step, .fault, .scriptIsOver, .scriptFailed, .faultsAreOver, .recordingIsOver, .tick, .wish,
        .readerIsGone:
        break
      }
    }
  }

  private func playToItsEnd() async {
    do {
      try await play()
      events.continuation.yield(.played(nil))
    } catch let failure as RunnersResult.Failure {
      events.continuation.yield(.played(failure))
    } catch {
      // Cancelled, because the phones end.
    }
  }

  // MARK: The play

  private func play() async throws {
    try await until("the phones did not come up") { reports in reports.allSatisfy { $0 != nil } }
    face.show(.ready(plan))
    if plan.gathers { walk(0) }
    guard case .judged(let room, _) = try await ask(0, "open", .open(plan.terms)) else { return }
    for number in plan.runners.indices.dropFirst() { try await ask(number, "enter", .enter(room)) }
    try await until("not everybody came into the room") { reports in
      reports.allSatisfy { $0?.first?.state.members.count == self.plan.runners.count }
    }
    for number in plan.runners.indices { try await ask(number, "ready", .ready(true)) }
    try await until("not everybody was ready") { reports in
      reports[0]?.first.map { $0.state.notReady.isEmpty } ?? false
    }
    if let report = seen.withLock({ $0.reports[0] }) { face.show(.roster(report)) }
    try await ask(0, "begin", .begin)
    if plan.gathers { try await gather() }
    try await runTogether()
    try await readLog(room)
    for view in seen.withLock({ views(of: $0) }) {
      if let report = view.report { face.show(.result(nickname: view.nickname, report)) }
    }
  }

  /// Walks to the start with all runners, and goes on when all are there.
  private func gather() async throws {
    let began = ContinuousClock.now
    var (walked, shown) = (0, [MemberID]())
    try await until("not everybody came to the start") { reports in
      let steps = Int((ContinuousClock.now - began) / RunnersPlan.stepTime)
      if steps != walked { self.walk(steps) }
      guard let report = reports[0]?.first, case .gathering = report.state.stage else { return false }
      let missing = report.state.notHere
      // Once a second, and whenever somebody has come.
      if missing != shown || steps / 4 != walked / 4 {
        self.face.show(.gathering(missing: self.missing(report, steps)))
      }
      (walked, shown) = (steps, missing)
      return missing.isEmpty
    }
    try await ask(0, "proceed", .proceed)
  }

  private func missing(_ report: RoomReport, _ steps: Int) -> [(nickname: String, metres: Int)] {
    report.state.notHere.compactMap { id in
      guard let nickname = report.state.member(id)?.card.nickname.text,
        let runner = plan.runners.first(where: { $0.nickname == nickname })
      else { return nil }
      return (nickname, Int(plan.metres(of: runner, after: steps).rounded()))
    }
  }

  private func walk(_ steps: Int) {
    for (runner, child) in zip(plan.runners, children) { child.tell(plan.place(of: runner, after: steps)) }
  }

  /// Counts down, runs, and waits until all phones show a complete result.
  private func runTogether() async throws {
    var (second, standing) = (Int.max, 0)
    try? await until("the result did not come") { reports in
      if let report = reports[0]?.first, let startsIn = report.startsIn {
        switch report.state.stage {
        case .countdown where startsIn > .zero:
          let left = Int(startsIn.seconds.rounded(.up))
          if left < second { self.face.show(.countdown(startsIn)) }
          second = left
        case .running:
          let past = -Int(startsIn.seconds.rounded(.down))
          if past > standing { self.face.show(.running(self.plan.speed.bus(fromReal: .zero - startsIn), report)) }
          standing = past
        case .none, .recruiting, .gathering, .countdown, .settling, .over, .cancelled: break
        }
      }
      // A room that was cancelled has no result any more: it is compared as it is.
      let rooms = reports.compactMap { $0?.first }
      if rooms.contains(where: { $0.state.stage.isEnd }) { return true }
      let results = rooms.compactMap { RoomResult($0.state) }
      return results.count == self.plan.runners.count && results.allSatisfy { $0.standing != .provisional }
        && Set(rooms.map(\.count)).count == 1
    }
    // Late is no failure: what is there by then is compared.
    try Task.checkCancellation()
    if seen.withLock({ $0.isEnding }) { throw CancellationError() }
  }

  /// Reads the log, until it has no more than the phones have read: a late reading amends a record at the very end.
  private func readLog(_ room: RoomID) async throws {
    let fleet = FleetID.made(name: plan.fleet)
    try? await until("the phones have not read the whole log") { reports in
      guard let report = try? await RoomFolds.fold(room, of: self.log, fleet: fleet),
        let verdicts = try? await RoomFolds.verdicts(in: room, of: self.log, fleet: fleet)
      else { return true }
      self.seen.withLock { $0.log = RunnersLog(count: report.count, digest: report.digest, verdicts: verdicts) }
      return reports.allSatisfy { $0?.first?.count == report.count }
    }
    // Late is no failure: what is there by then is compared.
    try Task.checkCancellation()
  }

  // MARK: Asking the phones

  /// Looks how the rooms of all phones stand until something is so.
  private func until(_ lack: String, _ isSo: ([[RoomReport]?]) async -> Bool) async throws {
    while true {
      let reports = await reports()
      seen.withLock { seen in
        for (number, rooms) in reports.enumerated() { if let rooms { seen.reports[number] = rooms.first } }
      }
      if await isSo(reports) { return }
      guard ContinuousClock.now < deadline else { throw RunnersResult.Failure.late(lack) }
      try await pause(pollEvery)
    }
  }

  /// The rooms of each phone; `nil` for one that does not answer.
  private func reports() async -> [[RoomReport]?] {
    await withTaskGroup(of: (Int, [RoomReport]?).self) { group in
      for (number, location) in locations.enumerated() {
        group.addTask {
          let asked = ContinuousClock.now
          let rooms = try? await AdminClient.ask(.rooms, of: Self.hub, on: location, within: .seconds(2))
          if let startsIn = rooms?.first?.startsIn {
            self.note(Start(startsIn, asked: asked, answered: .now), of: number)
          }
          return (number, rooms)
        }
      }
      var reports = locations.map { _ in [RoomReport]?.none }
      for await (number, rooms) in group { reports[number] = rooms }
      return reports
    }
  }

  private func note(_ start: Start, of number: Int) {
    seen.withLock { seen in if start.isBetter(than: seen.starts[number]) { seen.starts[number] = start } }
  }

  /// Asks a phone, waits for the verdict, and shows it.
  @discardableResult
  private func ask(_ number: Int, _ name: String, _ wish: RoomAsk.Wish) async throws -> RoomAnswer {
    let nickname = plan.runners[number].nickname
    var ask = RoomAsk(id: .random(), wish: wish)
    while true {
      let answer: RoomAnswer?
      do throws(RunBusError) {
        answer = try await AdminClient.ask(.room(ask), of: Self.hub, on: locations[number])
      } catch {
        guard error.code == .unreachable else { throw RunnersResult.Failure.unasked(nickname, error.message) }
        answer = nil
      }
      switch answer {
      case .judged(_, let verdict)?:
        seen.withLock { $0.told[number].append(RunnerView.Told(ask: name, verdict: verdict)) }
        let names = seen.withLock { $0.reports[0]?.state.members ?? [] }.map { ($0.id, $0.card.nickname.text) }
        face.show(
          .asked(nickname: nickname, ask: name, answer!, names: Dictionary(names, uniquingKeysWith: { old, _ in old })))
        if case .rejected = verdict { throw RunnersResult.Failure.refused(nickname, ask: name, answer!) }
        return answer!
      case .refused(.tooFar(nil))?:
        // The phone has not read yet where the runner is.
        ask.id = .random()
      case .refused?, .seeking?, .matched?, .unmatched?:
        throw RunnersResult.Failure.refused(nickname, ask: name, answer!)
      case .pending?, nil: break
      }
      guard ContinuousClock.now < deadline else {
        throw RunnersResult.Failure.late("\(nickname) got no answer to \(name)")
      }
      try await pause(.milliseconds(30))
    }
  }

  private func pause(_ span: Duration) async throws {
    if seen.withLock({ $0.isEnding }) { throw CancellationError() }
    try await Task.sleep(for: span)
  }
}

/// Puts a value in the place of another and returns that.
private func exchange(_ place: inout Bool, _ value: Bool) -> Bool {
  defer { place = value }
  return place
}
