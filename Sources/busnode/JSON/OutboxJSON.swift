import RunBus
import RunScripts

/// One item that waits on this machine, as `outbox --json` writes it. The keys never change.
struct OutboxJSON: Codable, Hashable, Sendable {
  /// Where it waits.
  enum Place: String, Codable, Hashable, Sendable {
    /// In the store of its device.
    case store
    /// In the spool of this machine.
    case spool
  }

  var deviceId: String
  var place: Place
  var kind: String
  var what: String
  @Explicit var receiverDeviceId: String?
  @Explicit var id: String?
  @Explicit var waitingSeconds: Double?
  var tries: UInt32
  var count: UInt64
  var accepted: Bool
}

extension OutboxJSON {
  init(_ report: OutboxReport, of device: DeviceID) {
    self.init(
      deviceId: device.rawValue, place: .store, kind: report.kind.rawValue, what: report.what,
      receiverDeviceId: report.receiver?.rawValue, id: report.id?.description,
      // A latest value has no waiting time: a newer value replaces it in the same row.
      waitingSeconds: report.kind == .latest ? nil : report.age.seconds, tries: report.tries, count: report.count,
      accepted: report.isAccepted)
  }

  init(_ spooled: SpooledCommand, age: BusDuration) {
    self.init(
      deviceId: spooled.deviceID.rawValue, place: .spool, kind: OutboxReport.Kind.command.rawValue,
      what: spooled.command.kind.rawValue, receiverDeviceId: nil, id: spooled.command.id.description,
      waitingSeconds: age.seconds, tries: spooled.tries, count: 1, accepted: false)
  }
}

/// One message in quarantine, as `outbox quarantine --json` writes it.
struct QuarantineJSON: Codable, Hashable, Sendable {
  var deviceId: String
  var id: String
  var name: String
  var bytes: UInt64
  @Explicit var receiverDeviceId: String?
  var reason: String
  var ageSeconds: Double

  init(_ report: QuarantineReport, of device: DeviceID) {
    deviceId = device.rawValue
    id = report.id.description
    name = report.name
    bytes = report.bytes
    receiverDeviceId = report.receiver?.rawValue
    reason = report.reason
    ageSeconds = report.age.seconds
  }
}

/// What was done to an item of an outbox, as `outbox cancel`, `outbox quarantine` and `post` write it with `--json`.
struct OutboxActJSON: Codable, Hashable, Sendable {
  enum Act: String, Codable, Hashable, Sendable { case cancelled, retried, dropped, posted }

  var act: Act
  var deviceId: String
  var id: String
  /// The id under which a message is sent again.
  @Explicit var newId: String?
  var message: String
}

/// A device as `peers --json` writes it. The keys never change.
struct PeerJSON: Codable, Hashable, Sendable {
  var deviceId: String
  var role: String
  var reachable: Bool
  @Explicit var heardAgeSeconds: Double?
  @Explicit var roundTripSeconds: Double?
  var waiting: UInt64
  var commandWatermark: UInt64

  init(_ report: PeerReport) {
    deviceId = report.deviceID.rawValue
    role = report.role.rawValue
    reachable = report.isReachable
    heardAgeSeconds = report.heardAge?.seconds
    roundTripSeconds = report.roundTrip?.seconds
    waiting = report.waiting
    commandWatermark = report.commandWatermark
  }
}
