import RunBus
import Synchronization

/// What a node process writes: a line for every snapshot, verdict and change of its link.
final class NodeView: Sendable {
  private struct State {
    var predicted: RunPhase?
    var isReachable: Bool?
    var isStale = false
    var isHubOffDuty = false
    var order: SnapshotOrder?
  }
  private let asJSON: Bool
  private let state = Mutex(State())

  init(asJSON: Bool) { self.asJSON = asJSON }

  /// Shows what came over the bus, and the phase that the button shows if that has changed.
  func show(_ event: BusEvent, predicted: RunPhase) throws {
    switch event {
    case .snapshot(let message):
      // A hub publishes its state again for whoever subscribes later: to itself that is no news.
      let isRepeat = state.withLock { state in
        defer { state.order = message.snapshot.order }
        return state.order == message.snapshot.order
      }
      if !isRepeat, let line = EventJSON(event) { try write(line) }
    case .presence: if let line = EventJSON(event) { try write(line) }
    // A node tells of its own presses only; `monitor` tells of everybody's. The route is `busnode route`'s.
    case .command, .receipt, .route: break
    }
    try show(predicted)
  }

  /// Shows a stage of the node's own press.
  func show(_ receipt: Receipt, of device: DeviceID, predicted: RunPhase) throws {
    try write(EventJSON(receipt, of: device))
    try show(predicted)
  }

  /// Shows how the node stands to its hub, when that has changed.
  func show(_ reachability: Reachability) throws {
    let isNew = state.withLock { state in
      defer { state.isReachable = reachability.isReachable }
      return state.isReachable != reachability.isReachable
    }
    guard isNew else { return }
    try write(
      .link(
        EventJSON.Link(
          reachable: reachability.isReachable, roundTripSeconds: reachability.roundTrip?.seconds)))
  }

  /// Shows how far what is shown can be believed, when that has changed.
  func show(_ view: ViewState) throws {
    let isNew = state.withLock { state in
      defer { (state.isStale, state.isHubOffDuty) = (view.isStale, view.isHubOffDuty) }
      return (state.isStale, state.isHubOffDuty) != (view.isStale, view.isHubOffDuty)
    }
    guard isNew else { return }
    try write(
      .view(EventJSON.View(stale: view.isStale, ageSeconds: view.age?.seconds, hubOffDuty: view.isHubOffDuty)))
  }

  /// Tells that the run may have stopped.
  func show(_ lost: HubLost) throws {
    try write(
      .hubLost(
        EventJSON.Lost(
          runId: lost.runID?.description, deviceId: lost.deviceID?.rawValue, silentSeconds: lost.silence.seconds,
          term: lost.order.term, revision: lost.order.revision, tick: lost.order.tick)))
  }

  /// Tells which sensors the run asks for.
  func show(_ demand: SensorDemand) throws { try write(.sensors(EventJSON.Demand(demand: demand))) }

  /// Tells what has become of a record.
  func show(_ news: RecordNews) throws {
    switch news {
    case .kept(let summary):
      try write(
        .record(
          EventJSON.Record(act: .kept, runId: summary.runID.description, record: RecordSummaryJSON(summary))))
    case .removed(let run): try write(.record(EventJSON.Record(act: .removed, runId: run.description, record: nil)))
    }
  }

  /// Tells that the sensors have nothing more to say about a run.
  func showSensorsDone(_ runID: RunID, _ count: Int) throws {
    try write(.sensorsDone(EventJSON.Sensors(runId: runID.description, samples: count)))
  }

  private func show(_ predicted: RunPhase) throws {
    let isNew = state.withLock { state in
      defer { state.predicted = predicted }
      return state.predicted != predicted
    }
    // Plain lines say the phase with every snapshot already.
    if isNew, asJSON { try write(.predicted(EventJSON.Predicted(phase: predicted))) }
  }

  private func write(_ event: EventJSON) throws {
    if asJSON { try Output.jsonLine(event) } else { try Output.line(Sentence.event(event)) }
  }
}
