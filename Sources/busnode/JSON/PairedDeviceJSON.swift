import RunBus

/// A paired device, as `busnode devices --json` writes it.
struct PairedDeviceJSON: Codable, Hashable, Sendable {
  var deviceID: DeviceID
  var role: NodeRole
  var key: String
  var sources: [String]
  var pairedAtUnixSeconds: Double
  var revoked: Bool
  var formerNames: [DeviceID]?
  var nextKey: String?

  enum CodingKeys: String, CodingKey {
    case deviceID = "deviceId", role, key, sources, pairedAtUnixSeconds, revoked, formerNames, nextKey
  }

  init(_ device: PairedDevice) {
    deviceID = device.deviceID
    role = device.role
    key = device.key.description
    sources = device.sources.map(\.rawValue).sorted()
    pairedAtUnixSeconds = device.pairedAt
    revoked = device.isRevoked
    formerNames = device.formerNames.isEmpty ? nil : device.formerNames
    nextKey = device.nextKey?.description
  }
}
