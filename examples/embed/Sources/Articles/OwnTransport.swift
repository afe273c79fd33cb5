import Foundation
import RunBus

/// A link between two devices, such as a session of WatchConnectivity or a channel of Bluetooth.
protocol MessageLink: Sendable {
  /// Whether the link carries messages now.
  var isReachable: Bool { get }
  /// Sends a message whole, without waiting.
  func send(_ message: Data)
}

/// One end of a link, for the node on this device.
final class LinkEnd: Sendable {
  let bridge: FrameBridge

  /// - Parameter device: The device at the other end, if the operating system vouches for it.
  init(_ link: some MessageLink, to device: DeviceID? = nil) {
    bridge = FrameBridge(
      device: device, limits: ConnectionLimits(frameBytesMax: 60_000, heartbeatMin: .seconds(15)),
      isReachable: link.isReachable
    ) { bytes in
      link.send(Data(bytes))
      return .sent
    }
  }

  /// The delegate of the link calls this for each message.
  func didReceive(_ message: Data) { bridge.receive(message) }

  /// The delegate of the link calls this when the other device comes or goes.
  func reachabilityDidChange(_ isReachable: Bool) { bridge.setReachable(isReachable) }
}

/// The phone's node, which the watch reaches over the link.
func makePhone(over end: LinkEnd, in directory: String) throws -> Hub {
  Hub(
    configuration: HubConfiguration(deviceID: "phone"), listeners: [end.bridge.listener],
    store: try NodeStore(directory: directory, device: "phone"), loop: try Loop())
}

/// The watch's node, which reaches the phone over the link.
func makeWatch(over end: LinkEnd, in directory: String) throws -> Peer {
  Peer(
    configuration: PeerConfiguration(deviceID: "watch", role: .watch), connector: end.bridge.connector,
    store: try NodeStore(directory: directory, device: "watch"), loop: try Loop())
}

/// One end of a link that is read as two streams.
func makeBridge(
  reading messages: AsyncStream<[UInt8]>, reachable: AsyncStream<Bool>, writingTo link: some MessageLink
) -> FrameBridge {
  let send: @Sendable ([UInt8]) -> SendOutcome = { bytes in
    link.send(Data(bytes))
    return .sent
  }
  return FrameBridge(send: send, receive: messages, reachable: reachable)
}
