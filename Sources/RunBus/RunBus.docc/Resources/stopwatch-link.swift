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
