import Foundation
import RunBus

// What the page receives, beside the objects of docs/json.md.

/// The event `view` of `/events`: everything that the page shows of the present, routes and series excepted.
struct ViewJSON: Encodable {
  struct Link: Encodable {
    var reachable: Bool
    var roundTripSeconds: Double?
    var refusal: String?
  }
  struct Device: Encodable {
    var deviceId: DeviceID
    var role: String
    var reachable: Bool
    var heardAgeSeconds: Double?
    var roundTripSeconds: Double?
    var waiting: Int
  }

  /// A cue that is shown now.
  struct Cue: Encodable {
    private enum CodingKeys: String, CodingKey { case number }
    var cue: RoomCue
    /// Another cue has another number.
    var number: Int64

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(number, forKey: .number)
      try cue.encode(to: encoder)
    }
  }

  var live: LockScreenJSON?
  var state: StateJSON
  var speed: Double
  var predicted: RunPhase
  var link: Link
  var stale: Bool
  var hubOffDuty: Bool
  var hubLost: Bool
  var staleForSeconds: Double?
  /// The room of the runner, with its spans as of the moment of sending.
  var room: RoomView?
  var cue: Cue?
  var devices: [Device]
  var commands: [CommandJSON]
  var routeVersion: Int
  var reportVersion: Int
  /// Changes when the record of the run does.
  var recordVersion: Int
}

/// A snapshot with its age at the moment of sending, in seconds of the bus.
struct StateJSON: Encodable {
  private enum CodingKeys: String, CodingKey { case ageSeconds }
  var snapshot: Snapshot
  var ageSeconds: Double

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(ageSeconds, forKey: .ageSeconds)
    try snapshot.encode(to: encoder)
  }
}

/// A lock screen's state with ages instead of dates: the clocks of the page's machine and of this one may differ.
struct LockScreenJSON: Encodable {
  var term: UInt64
  var revision: UInt64
  var tick: UInt64
  var runId: RunID
  var phase: RunPhase
  var changedBy: String?
  var recovering: Bool
  var activeSeconds: Double
  var ageSeconds: Double
  var clockTicks: Bool
  var speed: Double
  var distanceMeters: Double?
  var paceSecondsPerKilometer: Double?
  var averagePaceSecondsPerKilometer: Double?
  var heartRateBpm: Int?
  var elevationGainMeters: Int?
  var lapCount: Int
  var pending: [CommandKind]
  var stale: Bool
  var hubLost: Bool
  var staleInSeconds: Double?
  /// Until the run of the room starts, in real seconds; only in its countdown.
  var startsInSeconds: Double?
  var room: LiveRoom?
  /// How long ago the hub pushed, in real seconds.
  var pushAgeSeconds: Double

  init(_ state: LiveActivityState, at now: Date) {
    (term, revision, tick) = (state.order.term, state.order.revision, state.order.tick)
    let (content, numbers) = (state.content, state.content.numbers)
    runId = content.runID
    phase = content.phase
    changedBy = content.changedBy?.rawValue
    recovering = content.isRecovering
    activeSeconds = state.activeSeconds(at: now)
    ageSeconds = 0
    clockTicks = content.clock.isTicking
    speed = state.clockRate
    distanceMeters = numbers.distanceMeters
    paceSecondsPerKilometer = numbers.paceSecondsPerKilometer
    averagePaceSecondsPerKilometer = numbers.averagePaceSecondsPerKilometer
    heartRateBpm = numbers.heartRateBpm
    elevationGainMeters = numbers.elevationGainMeters
    lapCount = numbers.lapCount
    pending = content.pending
    stale = state.isStale
    hubLost = state.isHubLost
    staleInSeconds = state.staleDate.map { $0.timeIntervalSince(now) }
    startsInSeconds = state.startDate.map { $0.timeIntervalSince(now) }
    room = content.room
    pushAgeSeconds = max(0, now.timeIntervalSince(state.pushedAt))
  }
}

/// The route of the present run: run time, latitude, longitude, metres covered, altitude, and whether the line begins anew.
struct RouteJSON: Encodable {
  var runId: RunID?
  var points: [[Double?]]

  init(_ runID: RunID?, _ route: [RoutePoint]) {
    runId = runID
    points = route.map {
      [
        $0.offset.seconds, $0.position.latitude, $0.position.longitude, $0.distanceMeters, $0.altitudeMeters,
        $0.verdict == .anchored ? 1 : 0,
      ]
    }
  }
}

/// The numbers of the present run over time, and its pauses: as the hub told them last, with the newest snapshot at the end.
struct SeriesJSON: Encodable {
  struct Sample: Encodable {
    var offsetSeconds: Double
    var distanceMeters: Double?
    var paceSecondsPerKilometer: Double?
    var altitudeMeters: Double?
    var heartRateBpm: Double?
    var cadenceStepsPerMinute: Double?
  }
  struct Pause: Encodable {
    var startedAtSeconds: Double
    var endedAtSeconds: Double
  }

  var runId: RunID?
  var samples: [Sample] = []
  var pauses: [Pause] = []

  /// - Parameters:
  ///   - told: What the hub told; of another run it counts for nothing.
  ///   - snapshot: The newest snapshot.
  ///   - isOfPhase: Whether the hub told it in the phase of the snapshot: a pause that lasted then still does.
  init(_ told: RunSeries?, _ snapshot: Snapshot, isOfPhase: Bool) {
    runId = snapshot.runID
    if let told, told.runID == snapshot.runID {
      samples = told.samples.map { Sample($0.offset, $0.values) }
      pauses = told.pauses.map { Pause(startedAtSeconds: $0.lowerBound.seconds, endedAtSeconds: $0.upperBound.seconds) }
    }
    if isOfPhase, snapshot.phase == .paused, let last = pauses.indices.last {
      pauses[last].endedAtSeconds = max(pauses[last].endedAtSeconds, snapshot.metrics.elapsed.seconds)
    }
    // A snapshot that the node has kept from before its start has no numbers.
    guard runId != nil, snapshot.phase != .idle, snapshot.order.tick > 0 else { return }
    let present = Sample(snapshot.metrics.elapsed, RecordSeries.Sample(snapshot.metrics))
    if samples.last.map({ $0.offsetSeconds < present.offsetSeconds }) ?? true { samples.append(present) }
  }
}

extension SeriesJSON.Sample {
  fileprivate init(_ offset: BusDuration, _ values: RecordSeries.Sample) {
    self.init(
      offsetSeconds: offset.seconds, distanceMeters: values.distanceMeters,
      paceSecondsPerKilometer: values.paceSecondsPerKilometer, altitudeMeters: values.altitudeMeters,
      heartRateBpm: values.heartRateBpm, cadenceStepsPerMinute: values.cadenceStepsPerMinute)
  }
}

/// A refusal, and the body of a press that was not taken.
struct ErrorJSON: Encodable {
  struct Body: Encodable {
    var code: String
    var message: String
  }
  var error: Body
}

/// The body of `POST /api/press`.
struct PressJSON: Decodable {
  var command: String
  var source: String
}
