import Foundation
import RunBus
import Synchronization

/// Writes the output of a node process: a line for every snapshot, verdict and change of its link. Output never stops
/// the node: lines that cannot be written are dropped, with one notice on standard error.
final class NodeView: Sendable {
  private struct State {
    var predicted: RunPhase?
    var isReachable: Bool?
    var refusal: String?
    var isStale = false
    var isHubOffDuty = false
    var order: SnapshotOrder?
  }
  private let asJSON: Bool
  /// Whether only what a lock screen shows is written as text.
  private let isLockScreen: Bool
  private let state = Mutex(State())
  private let lines = LineQueue(STDOUT_FILENO) { Output.complain("busnode: \($0)") }

  init(asJSON: Bool, isLockScreen: Bool = false) { (self.asJSON, self.isLockScreen) = (asJSON, isLockScreen) }

  /// Waits until all lines are written, for a second at most.
  func close() { lines.flush() }

  /// Shows an event of the bus, and the phase that the button shows if that has changed.
  func show(_ event: BusEvent, predicted: RunPhase) {
    switch event {
    case .snapshot(let message):
      // A hub publishes its snapshot again for each new subscriber; show it once.
      let isRepeat = state.withLock { state in
        defer { state.order = message.snapshot.order }
        return state.order == message.snapshot.order
      }
      if !isRepeat, asJSON || !isLockScreen, let line = EventJSON(event) { write(line) }
    case .presence, .message: if let line = EventJSON(event) { write(line) }
    // A node shows its own presses only. `busnode monitor` shows all of them, `busnode route` shows the route.
    case .command, .receipt, .route, .live: break
    }
    show(predicted)
  }

  /// Shows a stage of the node's own press.
  func show(_ receipt: Receipt, of device: DeviceID, predicted: RunPhase) {
    write(.bus(.receipt(receipt, device)))
    show(predicted)
  }

  /// Shows what the lock screen shows.
  func show(_ state: LiveActivityState) { write(.liveActivity(state)) }

  /// Shows whether the hub is in reach and lets the node in, when that has changed.
  func show(_ reachability: Reachability) {
    let isNew = state.withLock { state in
      defer { (state.isReachable, state.refusal) = (reachability.isReachable, reachability.refusal) }
      return (state.isReachable, state.refusal) != (reachability.isReachable, reachability.refusal)
    }
    guard isNew else { return }
    write(
      .link(
        EventJSON.Link(
          reachable: reachability.isReachable, roundTripSeconds: reachability.roundTrip?.seconds,
          refusal: reachability.refusal)))
  }

  /// Shows whether the node's state is stale or its hub has signed off, when that has changed.
  func show(_ view: ViewState) {
    let isNew = state.withLock { state in
      defer { (state.isStale, state.isHubOffDuty) = (view.isStale, view.isHubOffDuty) }
      return (state.isStale, state.isHubOffDuty) != (view.isStale, view.isHubOffDuty)
    }
    guard isNew else { return }
    write(
      .view(EventJSON.View(stale: view.isStale, ageSeconds: view.age?.seconds, hubOffDuty: view.isHubOffDuty)))
  }

  /// Shows that the hub has been silent for too long while a run is on.
  func show(_ lost: HubLost) {
    write(
      .hubLost(
        EventJSON.Lost(
          runId: lost.runID, deviceId: lost.deviceID, silentSeconds: lost.silence.seconds,
          term: lost.order.term, revision: lost.order.revision, tick: lost.order.tick)))
  }

  /// Shows which sensors the run needs.
  func show(_ demand: SensorDemand) { write(.sensors(EventJSON.Demand(demand: demand))) }

  /// Shows a message that the node has received.
  func show(_ received: ReceivedMessage, by device: DeviceID) {
    write(EventJSON(received.message, from: received.from, to: device))
  }

  /// Shows that a record was stored or removed.
  func show(_ news: RecordNews) {
    switch news {
    case .kept(let summary):
      write(.record(EventJSON.Record(act: .kept, runId: summary.runID, record: summary)))
    case .removed(let run): write(.record(EventJSON.Record(act: .removed, runId: run, record: nil)))
    }
  }

  /// Shows that the hub has all samples of a run that is over; `count` includes those that were skipped.
  func showSensorsDone(_ runID: RunID, _ count: Int) {
    write(.sensorsDone(EventJSON.Sensors(runId: runID, samples: count)))
  }

  /// Shows that the recording has ended while the run is still on.
  func showRecordingEnded(_ runID: RunID, at offset: BusDuration) {
    write(.recordingEnded(EventJSON.RecordingEnded(runId: runID, elapsedSeconds: offset.seconds)))
  }

  private func show(_ predicted: RunPhase) {
    let isNew = state.withLock { state in
      defer { state.predicted = predicted }
      return state.predicted != predicted
    }
    // In plain text every snapshot line names the phase.
    if isNew, asJSON { write(.predicted(EventJSON.Predicted(phase: predicted))) }
  }

  private func write(_ event: EventJSON) {
    lines.put(asJSON ? Output.json(EventLineJSON(event)) : ForeignText.shown(Sentence.event(event)))
  }
}
