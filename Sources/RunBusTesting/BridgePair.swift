public import RunBus
public import RunCore
import Synchronization

/// The two ends of a link in one process, which a test cuts and restores; see ``RunBus/FrameBridge/pair(device:limits:)``.
public final class BridgePair: Sendable {
  private struct Link {
    weak var hubEnd: FrameBridge?
    weak var peerEnd: FrameBridge?
    var isUp = true
    var largest = 0
  }
  private let link: SharedLink
  /// The end for the hub: pass its `listener`.
  public let hubEnd: FrameBridge
  /// The end for the peer: pass its `connector`.
  public let peerEnd: FrameBridge

  fileprivate init(device: DeviceID?, limits: ConnectionLimits) {
    let link = SharedLink()
    self.link = link
    hubEnd = FrameBridge(device: device, limits: limits, isReachable: true) { link.carry($0, toHub: false) }
    peerEnd = FrameBridge(limits: limits, isReachable: true) { link.carry($0, toHub: true) }
    link.state.withLock { [hubEnd, peerEnd] in ($0.hubEnd, $0.peerEnd) = (hubEnd, peerEnd) }
  }

  /// The largest message that the link has carried, in bytes.
  public var largestMessageBytes: Int { link.state.withLock { $0.largest } }

  /// Cuts the link. What is sent from now on is lost.
  ///
  /// - Parameter isTold: Whether the system tells both ends, as it does for most links. Otherwise their nodes notice it
  ///   by missed heartbeats.
  public func cut(isTold: Bool = true) { set(isUp: false, isTold: isTold) }

  /// Brings the link back.
  ///
  /// - Parameter isTold: Whether the system tells both ends.
  public func restore(isTold: Bool = true) { set(isUp: true, isTold: isTold) }

  private func set(isUp: Bool, isTold: Bool) {
    link.state.withLock { $0.isUp = isUp }
    if isTold { for end in [hubEnd, peerEnd] { end.setReachable(isUp) } }
  }

  /// What the closures of both ends share.
  private final class SharedLink: Sendable {
    let state = Mutex(Link())

    /// Delivers without the lock, because the other end may send within the call.
    func carry(_ bytes: [UInt8], toHub: Bool) -> SendOutcome {
      let end = state.withLock { link -> FrameBridge? in
        link.largest = max(link.largest, bytes.count)
        return link.isUp ? (toHub ? link.hubEnd : link.peerEnd) : nil
      }
      return end.map { $0.receive(bytes) ? .sent : .full } ?? .gone
    }
  }
}

extension FrameBridge {
  /// Two bridges that are joined by a link in this process, for a test of an app that bridges a link of its own.
  ///
  /// ```swift
  /// let link = FrameBridge.pair(device: "watch")
  /// let phone = Hub(
  ///   configuration: HubConfiguration(deviceID: "phone"), listeners: [link.hubEnd.listener],
  ///   store: bus.store(of: "phone"), loop: bus.loop)
  /// link.cut()
  /// ```
  ///
  /// - Parameters:
  ///   - device: The device that the system vouches for at the peer's end; see ``RunBus/FrameBridge``.
  ///   - limits: What the link carries.
  public static func pair(device: DeviceID? = nil, limits: ConnectionLimits = .full) -> BridgePair {
    BridgePair(device: device, limits: limits)
  }
}
