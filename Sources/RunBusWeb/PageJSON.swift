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

  var live: LockScreenJSON?
  var state: StateJSON
  var speed: Double
  var predicted: RunPhase
  var link: Link
  var stale: Bool
  var hubOffDuty: Bool
  var hubLost: Bool
  var staleForSeconds: Double?
  var devices: [Device]
  var commands: [CommandJSON]
  var routeVersion: Int
  var reportVersion: Int
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
  struct Push: Encodable {
    var number: UInt64
    var kind: String
    var budgetLeft: Int
    var activity: Int
  }

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
  /// How long ago the hub pushed, in real seconds.
  var pushAgeSeconds: Double
  var relevance: Double
  var final: Bool
  var push: Push

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
    pushAgeSeconds = max(0, now.timeIntervalSince(state.pushedAt))
    relevance = state.relevance
    final = state.isFinal
    push = Push(
      number: state.push, kind: state.pushKind.rawValue, budgetLeft: state.budgetLeft, activity: state.activity)
  }
}

/// A recent command: its latest stage, as a receipt, with the device and the time of day at which it was heard of.
struct CommandJSON: Encodable {
  private enum CodingKeys: String, CodingKey { case deviceId, at }
  var receipt: Receipt
  var deviceID: DeviceID
  var at: Date

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(deviceID, forKey: .deviceId)
    try container.encode(at.formatted(.iso8601), forKey: .at)
    try receipt.encode(to: encoder)
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

struct SeriesJSON: Encodable {
  var runId: RunID?
  var samples: [LiveSeries.Sample]
}

struct RecordsJSON: Encodable { var records: [RecordSummary] }

/// A refusal, and the body of a press that was not taken.
struct ErrorJSON: Encodable {
  struct Body: Encodable {
    var code: String
    var message: String
  }
  var error: Body
}

/// A press that waits for the hub.
struct QueuedJSON: Encodable {
  var commandId: CommandID
  var command: CommandKind
  var receipt = "queued"
}

/// The body of `POST /api/press`.
struct PressJSON: Decodable {
  var command: String
  var source: String
}
