import Foundation
import RunBus

/// What a line of `monitor --json` or of a node's own `--json` tells: `{"event": …}` with the event's fields beside it.
enum EventJSON: Hashable, Sendable {
  struct Link: Codable, Hashable, Sendable {
    var reachable: Bool
    @Explicit var roundTripSeconds: Double?
    /// Why the hub does not let the node in; missing in lines of earlier versions.
    @Explicit var refusal: String?
  }
  struct View: Codable, Hashable, Sendable {
    var stale: Bool
    @Explicit var ageSeconds: Double?
    var hubOffDuty: Bool
  }
  struct Lost: Codable, Hashable, Sendable {
    @Explicit var runId: RunID?
    @Explicit var deviceId: DeviceID?
    var silentSeconds: Double
    var term: UInt64
    var revision: UInt64
    var tick: UInt64
  }
  struct Predicted: Codable, Hashable, Sendable {
    var phase: RunPhase
  }
  struct Sensors: Codable, Hashable, Sendable {
    var runId: RunID
    var samples: Int
  }
  struct RecordingEnded: Codable, Hashable, Sendable {
    var runId: RunID
    var elapsedSeconds: Double
  }
  struct Demand: Codable, Hashable, Sendable {
    var demand: SensorDemand
  }
  struct Record: Codable, Hashable, Sendable {
    enum Act: String, Codable, Hashable, Sendable { case kept, removed }

    var act: Act
    var runId: RunID
    /// As `records ls --json` writes it; `null` for a removed one.
    @Explicit var record: RecordSummary?
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
  init?(_ event: BusEvent) {
    switch event {
    case .message(let message): self = .message(message, text: nil)
    case .route, .live: return nil
    case .snapshot, .command, .receipt, .presence: self = .bus(event)
    }
  }

  /// A message that a node has received.
  init(_ message: AppMessage, from: DeviceID, to: DeviceID) {
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

  func encode(to encoder: any Encoder) throws {
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

  init(from decoder: any Decoder) throws {
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
