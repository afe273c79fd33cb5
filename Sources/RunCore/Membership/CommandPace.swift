/// How fast a paired device may press. A device that was away may deliver a whole outbox at once; after that it is held
/// to a pace that no thumb reaches. Beyond it the device is told to come again later, and no other device notices.
struct CommandPace: Sendable {
  /// How many commands of a device are accepted at once: as many as an outbox holds.
  static let burst = 1024
  /// How many more are accepted each second, real time.
  static let perSecond = 20

  private var allowances: [DeviceID: (count: Double, at: BusTime)] = [:]

  /// Whether one more command of a device is accepted now.
  ///
  /// - Parameter now: real time.
  mutating func admits(_ device: DeviceID, at now: BusTime) -> Bool {
    let known = allowances[device] ?? (Double(Self.burst), now)
    let count = min(Double(Self.burst), known.count + max(0, (now - known.at).seconds) * Double(Self.perSecond))
    guard count >= 1 else {
      allowances[device] = (count, now)
      return false
    }
    allowances[device] = (count - 1, now)
    return true
  }
}
