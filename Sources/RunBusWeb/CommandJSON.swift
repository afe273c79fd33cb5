import Foundation
import RunBus

/// A recent command: its latest stage, as a receipt, with the device and the time of day at which it was heard of.
struct CommandJSON: Encodable {
  private enum CodingKeys: String, CodingKey { case deviceId, at, receipt }
  let receipt: Receipt
  let deviceID: DeviceID
  let at: Date
  /// Whether the verdict may have been given and not heard: the receipt is then `unheard`.
  let isUnheard: Bool

  init(_ press: RunBoard.Press, isUnheard: Bool, at: Date) {
    (receipt, deviceID, self.isUnheard, self.at) = (press.receipt, press.deviceID, isUnheard, at)
  }

  func encode(to encoder: any Encoder) throws {
    try receipt.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(deviceID, forKey: .deviceId)
    try container.encode(DayTime.text(unixSeconds: at.timeIntervalSince1970), forKey: .at)
    if isUnheard { try container.encode("unheard", forKey: .receipt) }
  }
}
