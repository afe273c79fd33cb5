import Foundation
import RunBus
import Synchronization

/// What a node process writes: a line for every snapshot, verdict and change of its link. The run matters more than its
/// display: lines that cannot be written are lost, which is said once on standard error, and the node goes on.
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
  private let lines = LineQueue(STDOUT_FILENO) { Output.complain("busnode: \($0)") }

  init(asJSON: Bool) { self.asJSON = asJSON }

  /// Waits for what is not written yet, for a second at most.
  func close() { lines.flush() }

  /// Shows what came over the bus, and the phase that the button shows if that has changed.
  func show(_ event: BusEvent, predicted: RunPhase) {
    switch event {
    case .snapshot(let message):
      // A hub publishes its state again for whoever subscribes later: to itself that is no news.
      let isRepeat = state.withLock { state in
        defer { state.order = message.snapshot.order }
        return state.order == message.snapshot.order
      }
      if !isRepeat, let line = EventJSON(event) { write(line) }
    case .presence, .message: if let line = EventJSON(event) { write(line) }
    // A node tells of its own presses only; `monitor` tells of everybody's. The route is `busnode route`'s.
    case .command, .receipt, .route: break
    }
    show(predicted)
  }

  /// Shows a stage of the node's own press.
  func show(_ receipt: Receipt, of device: DeviceID, predicted: RunPhase) {
    write(EventJSON(receipt, of: device))
    show(predicted)
  }

  /// Shows how the node stands to its hub, when that has changed.
  func show(_ reachability: Reachability) {
    let isNew = state.withLock { state in
      defer { state.isReachable = reachability.isReachable }
      return state.isReachable != reachability.isReachable
    }
    guard isNew else { return }
    write(
      .link(
        EventJSON.Link(
          reachable: reachability.isReachable, roundTripSeconds: reachability.roundTrip?.seconds)))
  }

  /// Shows how far what is shown can be believed, when that has changed.
  func show(_ view: ViewState) {
    let isNew = state.withLock { state in
      defer { (state.isStale, state.isHubOffDuty) = (view.isStale, view.isHubOffDuty) }
      return (state.isStale, state.isHubOffDuty) != (view.isStale, view.isHubOffDuty)
    }
    guard isNew else { return }
    write(
      .view(EventJSON.View(stale: view.isStale, ageSeconds: view.age?.seconds, hubOffDuty: view.isHubOffDuty)))
  }

  /// Tells that the run may have stopped.
  func show(_ lost: HubLost) {
    write(
      .hubLost(
        EventJSON.Lost(
          runId: lost.runID?.description, deviceId: lost.deviceID?.rawValue, silentSeconds: lost.silence.seconds,
          term: lost.order.term, revision: lost.order.revision, tick: lost.order.tick)))
  }

  /// Tells which sensors the run asks for.
  func show(_ demand: SensorDemand) { write(.sensors(EventJSON.Demand(demand: demand))) }

  /// Shows a message that the node has taken.
  func show(_ received: ReceivedMessage, by device: DeviceID) {
    let event = MessageEvent(received.message, from: received.from, to: device)
    write(.message(EventJSON.Message(event, body: received.message.body)))
  }

  /// Tells what has become of a record.
  func show(_ news: RecordNews) {
    switch news {
    case .kept(let summary):
      write(
        .record(
          EventJSON.Record(act: .kept, runId: summary.runID.description, record: RecordSummaryJSON(summary))))
    case .removed(let run): write(.record(EventJSON.Record(act: .removed, runId: run.description, record: nil)))
    }
  }

  /// Tells that the sensors have nothing more to say about a run.
  func showSensorsDone(_ runID: RunID, _ count: Int) {
    write(.sensorsDone(EventJSON.Sensors(runId: runID.description, samples: count)))
  }

  /// Tells that the recording has no more to say, with the run still on.
  func showRecordingEnded(_ runID: RunID, at offset: BusDuration) {
    write(.recordingEnded(EventJSON.RecordingEnded(runId: runID.description, elapsedSeconds: offset.seconds)))
  }

  private func show(_ predicted: RunPhase) {
    let isNew = state.withLock { state in
      defer { state.predicted = predicted }
      return state.predicted != predicted
    }
    // Plain lines say the phase with every snapshot already.
    if isNew, asJSON { write(.predicted(EventJSON.Predicted(phase: predicted))) }
  }

  private func write(_ event: EventJSON) {
    lines.put(asJSON ? Output.json(event) : ForeignText.shown(Sentence.event(event)))
  }
}
