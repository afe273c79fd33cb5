import Foundation
import RunBus
import RunScripts
import Synchronization

/// Writes the output of a node process: a line for every snapshot, verdict and change of its link, and for what a runner
/// cares for in a room. Output never stops the node: lines that cannot be written are dropped, with one notice on standard error.
final class NodeView: Sendable {
  private struct State {
    var isReachable: Bool?
    var refusal: String?
    var isStale = false
    var isHubOffDuty = false
    var order: SnapshotOrder?
    var diary = RoomDiary()
  }
  private let asJSON: Bool
  /// Whether only what a lock screen shows is written as text.
  private let isLockScreen: Bool
  private let units: Units
  private let state = Mutex(State())
  /// Where the lines go; `nil` for one whose events are taken by a closure.
  private let lines: LineQueue?
  private let take: @Sendable (EventJSON) -> Void

  init(asJSON: Bool, isLockScreen: Bool = false, units: Units = .metric) {
    let lines = LineQueue(STDOUT_FILENO) { Output.complain("busnode: \($0)") }
    (self.asJSON, self.isLockScreen, self.units, self.lines) = (asJSON, isLockScreen, units, lines)
    take = { event in
      lines.put(asJSON ? Output.json(EventLineJSON(event)) : Output.shown(Sentence.event(event, in: units)))
    }
  }

  /// A view of a node whose events are not written, but taken by a closure, as `--json` would write them.
  init(taking take: @Sendable @escaping (EventJSON) -> Void) {
    (asJSON, isLockScreen, units, lines, self.take) = (true, false, .metric, nil, take)
  }

  /// Waits until all lines are written, for a second at most.
  func close() { lines?.flush() }

  /// Shows an event of the bus.
  func show(_ event: BusEvent) {
    switch event {
    case .snapshot(let message):
      // A hub publishes its snapshot again for each new subscriber; show it once.
      let isRepeat = state.withLock { state in
        defer { state.order = message.snapshot.order }
        return state.order == message.snapshot.order
      }
      if !isRepeat, asJSON || !isLockScreen, let line = EventJSON(event) { write(line) }
    case .presence, .message, .cue: if let line = EventJSON(event) { write(line) }
    case .room(let view):
      if state.withLock({ $0.diary.take(view) }), let line = EventJSON(event) { write(line) }
    // A node shows its own presses only. `busnode monitor` shows all of them, `busnode route` the route.
    case .command, .receipt, .route, .live: break
    }
  }

  /// Shows what a node has learned beside the events of the bus.
  func show(_ news: NodeNews, of node: some Node) {
    switch news {
    case .ownReceipt(let receipt): write(.bus(.receipt(receipt, node.deviceID)))
    case .record(let news): show(news)
    // In plain text every snapshot line names the phase.
    case .predicted(let phase): if asJSON { write(.predicted(EventJSON.Predicted(phase: phase))) }
    // A hub is its own link.
    case .link(let link): if node is Peer { show(link) }
    case .view(let view): show(view)
    case .hubLost(let lost): show(lost)
    case .snapshot, .lockScreen, .command, .receipt, .presence, .devices, .route, .splits, .room, .cue, .missed: break
    }
  }

  /// Shows what the lock screen shows.
  func show(_ state: LiveActivityState) { write(.liveActivity(state)) }

  /// Shows whether the hub is in reach and lets the node in, when that has changed.
  private func show(_ reachability: Reachability) {
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
  private func show(_ view: ViewState) {
    let isNew = state.withLock { state in
      defer { (state.isStale, state.isHubOffDuty) = (view.isStale, view.isHubOffDuty) }
      return (state.isStale, state.isHubOffDuty) != (view.isStale, view.isHubOffDuty)
    }
    guard isNew else { return }
    write(
      .view(EventJSON.View(stale: view.isStale, ageSeconds: view.age?.seconds, hubOffDuty: view.isHubOffDuty)))
  }

  /// Shows that the hub has been silent for too long while a run is on.
  private func show(_ lost: HubLost) {
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
  private func show(_ news: RecordNews) {
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

  private func write(_ event: EventJSON) { take(event) }
}
