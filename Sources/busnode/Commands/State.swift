import ArgumentParser
import RunBus

struct State: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the run as it stands, once or as it goes on.",
    discussion: """
        busnode state
        busnode state --json | jq .metrics.distanceMeters
        busnode state --follow              a line per snapshot, until Ctrl-C (exit status 130)

      --json writes term, revision, tick, phase, runId, changedBy {source, deviceId, commandId} and metrics
      {elapsedSeconds, activeSeconds, distanceMeters, currentPaceSecondsPerKilometer, averagePaceSecondsPerKilometer,
      heartRateBpm, averageHeartRateBpm, maxHeartRateBpm, cadenceStepsPerMinute, elevationGainMeters,
      elevationLossMeters, positionAccuracyMeters, activity, lapCount}. What is not known is null.
      """)

  @OptionGroup var bus: BusOptions

  @Flag(help: "Go on with a line per snapshot, until Ctrl-C.")
  var follow = false

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  @Option(help: ArgumentHelp("How long to wait for the hub, in real time (default: 5).", valueName: "time"))
  var timeout: TimeArgument?

  func run() async throws {
    bus.startLog()
    let location = try bus.location()
    let visit = try Visit(
      location, device: follow ? DeviceID.visitor() : DeviceID.role(.shell), topics: follow ? [.snapshots] : [],
      isOneShot: !follow)
    let patience = timeout?.span ?? .seconds(5)
    if follow {
      try await Follower(visit: visit, patience: patience).follow(countMax: nil) { event in
        guard case .snapshot(let state) = event else { return false }
        try write(SnapshotJSON(state.snapshot))
        return true
      }
    } else {
      let snapshot = try await visit.run { peer in
        try await within(patience) { await peer.snapshots().first { _ in true } }
      }
      guard let snapshot = snapshot.flatMap({ $0 }) else { throw Failure.noAnswer(location, within: patience) }
      try write(SnapshotJSON(snapshot))
    }
  }

  private func write(_ snapshot: SnapshotJSON) throws {
    if json { return try Output.jsonLine(snapshot) }
    if follow { return try Output.line(Sentence.snapshot(snapshot)) }
    try Output.line(Sentence.standing(snapshot))
    guard snapshot.phase != .idle else { return }
    for line in Sentence.table(snapshot.metrics) { try Output.line(line) }
  }
}
