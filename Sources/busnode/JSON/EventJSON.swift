import Foundation
import RunBus

/// One line of `monitor --json` and of a node's own `--json`: `{"event": …}` with the event's fields beside it.
enum EventJSON: Hashable, Sendable {
  struct Command: Codable, Hashable, Sendable {
    var commandId: String
    var command: CommandKind
    var source: String
    var deviceId: String
    @Explicit var runId: String?
    @Explicit var baseRevision: UInt64?
    @Explicit var runOffsetSeconds: Double?
  }
  struct Presence: Codable, Hashable, Sendable {
    var deviceId: String
    var role: String
    var reachable: Bool
  }
  struct Message: Codable, Hashable, Sendable {
    var messageId: String
    var name: String
    var fromDeviceId: String
    var toDeviceId: String
    var bytes: Int
    /// The body, if it is UTF-8 text of at most 1,024 bytes. Only the receiving node fills it in.
    @Explicit var text: String?
  }
  struct Link: Codable, Hashable, Sendable {
    var reachable: Bool
    @Explicit var roundTripSeconds: Double?
  }
  struct View: Codable, Hashable, Sendable {
    var stale: Bool
    @Explicit var ageSeconds: Double?
    var hubOffDuty: Bool
  }
  struct Lost: Codable, Hashable, Sendable {
    @Explicit var runId: String?
    @Explicit var deviceId: String?
    var silentSeconds: Double
    var term: UInt64
    var revision: UInt64
    var tick: UInt64
  }
  struct Predicted: Codable, Hashable, Sendable {
    var phase: RunPhase
  }
  struct Sensors: Codable, Hashable, Sendable {
    var runId: String
    var samples: Int
  }
  struct RecordingEnded: Codable, Hashable, Sendable {
    var runId: String
    var elapsedSeconds: Double
  }
  struct Demand: Codable, Hashable, Sendable {
    var demand: SensorDemand
  }
  struct Record: Codable, Hashable, Sendable {
    enum Act: String, Codable, Hashable, Sendable { case kept, removed }

    var act: Act
    var runId: String
    /// As `records ls --json` writes it; `null` for a removed one.
    @Explicit var record: RecordSummaryJSON?
  }

  case snapshot(SnapshotJSON)
  case command(Command)
  case receipt(ReceiptJSON, deviceId: String)
  case verdict(ReceiptJSON, deviceId: String)
  case presence(Presence)
  /// The receiver's handler has processed a message of an app.
  case message(Message)
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
  /// An event of the bus; `nil` for the route, which has a command of its own (`busnode route`).
  init?(_ event: BusEvent) {
    switch event {
    case .snapshot(let state): self = .snapshot(SnapshotJSON(state.snapshot))
    case .command(let command, let device):
      self = .command(
        Command(
          commandId: command.id.description, command: command.kind, source: command.source.rawValue,
          deviceId: device.rawValue, runId: command.runID?.description, baseRevision: command.base?.revision,
          runOffsetSeconds: command.runOffset?.seconds))
    case .receipt(let receipt, let device): self.init(receipt, of: device)
    case .presence(let presence):
      self = .presence(
        Presence(
          deviceId: presence.deviceID.rawValue, role: presence.role.rawValue, reachable: presence.isReachable))
    case .message(let message): self = .message(Message(message))
    case .route: return nil
    }
  }

  /// A stage of a device's command.
  init(_ receipt: Receipt, of device: DeviceID) {
    let json = ReceiptJSON(receipt)
    switch receipt.stage {
    case .queued, .pending: self = .receipt(json, deviceId: device.rawValue)
    case .verdict: self = .verdict(json, deviceId: device.rawValue)
    }
  }
}

extension EventJSON: Codable {
  private enum Name: String, Codable {
    case snapshot, command, receipt, verdict, presence, message, link, view, hubLost, predicted, sensors, record,
      recordingEnded, sensorsDone
  }
  private enum Key: String, CodingKey { case event, deviceId }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    func write(_ name: Name, _ body: some Encodable) throws {
      try container.encode(name, forKey: .event)
      try body.encode(to: encoder)
    }
    switch self {
    case .snapshot(let body): try write(.snapshot, body)
    case .command(let body): try write(.command, body)
    case .receipt(let body, let device):
      try container.encode(device, forKey: .deviceId)
      try write(.receipt, body)
    case .verdict(let body, let device):
      try container.encode(device, forKey: .deviceId)
      try write(.verdict, body)
    case .presence(let body): try write(.presence, body)
    case .message(let body): try write(.message, body)
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
    switch try container.decode(Name.self, forKey: .event) {
    case .snapshot: self = .snapshot(try SnapshotJSON(from: decoder))
    case .command: self = .command(try Command(from: decoder))
    case .receipt:
      self = .receipt(
        try ReceiptJSON(from: decoder), deviceId: try container.decode(String.self, forKey: .deviceId))
    case .verdict:
      self = .verdict(
        try ReceiptJSON(from: decoder), deviceId: try container.decode(String.self, forKey: .deviceId))
    case .presence: self = .presence(try Presence(from: decoder))
    case .message: self = .message(try Message(from: decoder))
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

extension EventJSON {
  /// Reads a line that a node wrote; `nil` when the line is not an event.
  init?(line: String) {
    guard let event = try? JSONDecoder().decode(EventJSON.self, from: Data(line.utf8)) else { return nil }
    self = event
  }
}

extension EventJSON.Message {
  private static let textMax = 1024

  /// - Parameter body: The message's body, where it is known.
  init(_ message: MessageEvent, body: [UInt8]? = nil) {
    self.init(
      messageId: message.id.description, name: message.name, fromDeviceId: message.from.rawValue,
      toDeviceId: message.to.rawValue, bytes: message.size,
      text: body.flatMap { $0.count > Self.textMax ? nil : String(validating: $0, as: UTF8.self) })
  }
}

/// An event together with the node that shows it: a line of `up --json`.
struct NodeEventJSON: Encodable {
  private enum Key: String, CodingKey { case node }
  let node: SpawnedNode
  let event: EventJSON

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(node, forKey: .node)
    try event.encode(to: encoder)
  }
}
