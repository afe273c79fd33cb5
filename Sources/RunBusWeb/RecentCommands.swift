import Foundation
import RunBus

/// The most recent commands of all devices, the newest first, and what is known to have become of them.
struct RecentCommands: Sendable {
  /// The most commands that are shown.
  static let countMax = 20

  /// The device of this node, whose verdicts are delivered to it without a gap.
  let own: DeviceID
  private(set) var all: [CommandJSON] = []

  init(own: DeviceID) { self.own = own }

  /// Keeps the latest stage of a command; `nil` stands for this node's own device.
  mutating func note(_ receipt: Receipt, of device: DeviceID?, at now: Date) {
    if let index = all.firstIndex(where: { $0.receipt.commandID == receipt.commandID }) {
      // A verdict is the last stage, whatever arrives behind it.
      if case .verdict = all[index].receipt.stage { return }
      (all[index].receipt, all[index].isUnheard) = (receipt, false)
    } else {
      all.insert(CommandJSON(receipt: receipt, deviceID: device ?? own, at: now), at: 0)
      if all.count > Self.countMax { all.removeLast() }
    }
  }

  /// The link to the hub is lost, or the hub has begun anew. It judges what had reached it, and publishes a verdict on the
  /// command of another device once: a server that was out of reach does not hear it.
  mutating func loseTrack() {
    for index in all.indices where all[index].receipt.stage == .pending && all[index].deviceID != own {
      all[index].isUnheard = true
    }
  }

  /// The latest stage of a command; `nil` for one that has reached none.
  func receipt(of command: CommandID) -> Receipt? { all.first { $0.receipt.commandID == command }?.receipt }
}

/// A recent command: its latest stage, as a receipt, with the device and the time of day at which it was heard of.
struct CommandJSON: Encodable {
  private enum CodingKeys: String, CodingKey { case deviceId, at, receipt }
  var receipt: Receipt
  var deviceID: DeviceID
  var at: Date
  /// Whether the verdict may have been given and not heard: the receipt is then `unheard`.
  var isUnheard = false

  func encode(to encoder: any Encoder) throws {
    try receipt.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(deviceID, forKey: .deviceId)
    try container.encode(at.formatted(.iso8601), forKey: .at)
    if isUnheard { try container.encode("unheard", forKey: .receipt) }
  }
}
