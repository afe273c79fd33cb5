import RunBus
import Synchronization

/// The link between a phone and its watch. It stands for WatchConnectivity, which this program does not have: it
/// carries messages from one end to the other while it is up.
final class Link: Sendable {
  /// The phone's end. The system vouches for the watch, so the other end speaks for the device "watch" only.
  let phoneEnd: FrameBridge
  /// The watch's end.
  let watchEnd: FrameBridge

  init() {
    let wire = Wire()
    phoneEnd = FrameBridge(device: "watch") { bytes in wire.carry(bytes, toPhone: false) }
    watchEnd = FrameBridge { bytes in wire.carry(bytes, toPhone: true) }
    wire.join(phoneEnd, watchEnd)
  }

  /// Takes the watch out of reach, or brings it back.
  func set(isUp: Bool) {
    phoneEnd.setReachable(isUp)
    watchEnd.setReachable(isUp)
  }
}

/// Hands to one bridge what the other one sends.
private final class Wire: Sendable {
  private struct Ends {
    weak var phone: FrameBridge?
    weak var watch: FrameBridge?
  }
  private let ends = Mutex(Ends())

  func join(_ phone: FrameBridge, _ watch: FrameBridge) {
    ends.withLock { $0 = Ends(phone: phone, watch: watch) }
  }

  func carry(_ bytes: [UInt8], toPhone: Bool) -> SendOutcome {
    let end = ends.withLock { toPhone ? $0.phone : $0.watch }
    guard let end, end.isReachable else { return .gone }
    return end.receive(bytes) ? .sent : .full
  }
}
