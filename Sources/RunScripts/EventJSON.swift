import Foundation
package import RunBus

/// What a line of `monitor --json` or of a node's own `--json` tells: `{"event": …}` with the event's fields beside it.
package enum EventJSON: Hashable, Sendable {
  package struct Link: Codable, Hashable, Sendable {
    package var reachable: Bool
    @Explicit package var roundTripSeconds: Double?
    /// Why the hub does not let the node in; missing in lines of earlier versions.
    @Explicit package var refusal: String?

    package init(reachable: Bool, roundTripSeconds: Double?, refusal: String? = nil) {
      self.reachable = reachable
      _roundTripSeconds = Explicit(wrappedValue: roundTripSeconds)
      _refusal = Explicit(wrappedValue: refusal)
    }
  }
  package struct View: Codable, Hashable, Sendable {
    package var stale: Bool
    @Explicit package var ageSeconds: Double?
    package var hubOffDuty: Bool

    package init(stale: Bool, ageSeconds: Double?, hubOffDuty: Bool) {
      self.stale = stale
      _ageSeconds = Explicit(wrappedValue: ageSeconds)
      self.hubOffDuty = hubOffDuty
    }
  }
  package struct Lost: Codable, Hashable, Sendable {
    @Explicit package var runId: RunID?
    @Explicit package var deviceId: DeviceID?
    package var silentSeconds: Double
    package var term: UInt64
    package var revision: UInt64
    package var tick: UInt64

    package init(
      runId: RunID?, deviceId: DeviceID?, silentSeconds: Double, term: UInt64, revision: UInt64, tick: UInt64
    ) {
      _runId = Explicit(wrappedValue: runId)
      _deviceId = Explicit(wrappedValue: deviceId)
      (self.silentSeconds, self.term, self.revision, self.tick) = (silentSeconds, term, revision, tick)
    }
  }
  package struct Predicted: Codable, Hashable, Sendable {
    package var phase: RunPhase

    package init(phase: RunPhase) { self.phase = phase }
  }
  package struct Sensors: Codable, Hashable, Sendable {
    package var runId: RunID
    package var samples: Int

    package init(runId: RunID, samples: Int) { (self.runId, self.samples) = (runId, samples) }
  }
  package struct RecordingEnded: Codable, Hashable, Sendable {
    package var runId: RunID
    package var elapsedSeconds: Double

    package init(runId: RunID, elapsedSeconds: Double) {
      (self.runId, self.elapsedSeconds) = (runId, elapsedSeconds)
    }
  }
  package struct Demand: Codable, Hashable, Sendable {
    package var demand: SensorDemand

    package init(demand: SensorDemand) { self.demand = demand }
  }
  package struct Record: Codable, Hashable, Sendable {
    package enum Act: String, Codable, Hashable, Sendable { case kept, removed }

    package var act: Act
    package var runId: RunID
    /// As `records ls --json` writes it; `null` for a removed one.
    @Explicit package var record: RecordSummary?

    package init(act: Act, runId: RunID, record: RecordSummary?) {
      (self.act, self.runId) = (act, runId)
      _record = Explicit(wrappedValue: record)
    }
  }

  /// What the lock screen shows: written by a widget only.
  case liveActivity(LiveActivityState)
  /// An event of the bus other than a message.
  case bus(BusEvent)
  /// The receiver's handler has processed a message of an app. The text is known to the receiving node only, and `nil`
  /// when the body is not UTF-8 or longer than 1,024 bytes.
  case message(MessageEvent, text: String?)
  /// Written by a node only: whether it reaches its hub.
  case link(Link)
  /// Written by a peer only: its state became stale or is up to date again.
  case view(View)
  /// Written by a peer only: its hub has been silent for too long while a run is on.
  case hubLost(Lost)
  /// Written by a node only: the phase that its button shows, when it changes.
  case predicted(Predicted)
  /// Written by a hub only: which sensors the run needs, when that changes.
  case sensors(Demand)
  /// Written by a node only: it stored a new record, stored a new version of one, or removed one.
  case record(Record)
  /// Written by a node only: the recording has ended while the run is still on.
  case recordingEnded(RecordingEnded)
  /// Written by a node only: the hub has every sample of this run that the node played.
  case sensorsDone(Sensors)
}

extension EventJSON {
  /// The longest body that is shown, in bytes.
  private static let textMax = 1024

  /// An event of the bus; `nil` for the route and for pushes to lock screens, which `busnode route` and `busnode widget`
  /// show.
  package init?(_ event: BusEvent) {
    switch event {
    case .message(let message): self = .message(message, text: nil)
    case .route, .live: return nil
    case .snapshot, .command, .receipt, .presence, .room, .cue: self = .bus(event)
    }
  }

  /// A message that a node has received.
  package init(_ message: AppMessage, from: DeviceID, to: DeviceID) {
    self = .message(
      MessageEvent(message, from: from, to: to),
      text: message.body.count > Self.textMax ? nil : String(validating: message.body, as: UTF8.self))
  }
}

extension EventJSON: Codable {
  private enum Name: String, Codable {
    case link, view, hubLost, predicted, sensors, record, recordingEnded, sensorsDone, liveActivity
  }
  private enum Key: String, CodingKey { case event, text }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    func write(_ name: Name, _ body: some Encodable) throws {
      try container.encode(name, forKey: .event)
      try body.encode(to: encoder)
    }
    switch self {
    case .bus(let event): try event.encode(to: encoder)
    case .message(let message, let text):
      try BusEvent.message(message).encode(to: encoder)
      try container.encode(text, forKey: .text)
    case .liveActivity(let state): try write(.liveActivity, state)
    case .link(let body): try write(.link, body)
    case .view(let body): try write(.view, body)
    case .hubLost(let body): try write(.hubLost, body)
    case .predicted(let body): try write(.predicted, body)
    case .sensors(let body): try write(.sensors, body)
    case .record(let body): try write(.record, body)
    case .recordingEnded(let body): try write(.recordingEnded, body)
    case .sensorsDone(let body): try write(.sensorsDone, body)
    }
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    switch Name(rawValue: try container.decode(String.self, forKey: .event)) {
    case nil:
      let event = try BusEvent(from: decoder)
      guard case .message(let message) = event else {
        self = .bus(event)
        return
      }
      self = .message(message, text: try container.decodeIfPresent(String.self, forKey: .text))
    case .liveActivity: self = .liveActivity(try LiveActivityState(from: decoder))
    case .link: self = .link(try Link(from: decoder))
    case .view: self = .view(try View(from: decoder))
    case .hubLost: self = .hubLost(try Lost(from: decoder))
    case .predicted: self = .predicted(try Predicted(from: decoder))
    case .sensors: self = .sensors(try Demand(from: decoder))
    case .record: self = .record(try Record(from: decoder))
    case .recordingEnded: self = .recordingEnded(try RecordingEnded(from: decoder))
    case .sensorsDone: self = .sensorsDone(try Sensors(from: decoder))
    }
  }
}
