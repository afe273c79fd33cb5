/// A disturbance of a link for some time; see ``FaultProxy``.
package enum LinkFault: Hashable, Sendable {
  /// Ends every connection and refuses new ones. A reset loses data in flight; `midFrame` waits for a frame and
  /// forwards half of it.
  case cut(reset: Bool, midFrame: Bool)
  /// Keeps the connections open but drops data in these directions, and resets them when the fault ends. New
  /// connections work, or are treated alike.
  case halfOpen(Set<Direction>, includesNew: Bool)
  /// Delays all data, in order; when the fault ends, everything that waits is forwarded at once.
  case delay(milliseconds: Int)
  /// Limits the bytes per second in each direction; when the fault ends, everything that waits is forwarded at once.
  case throttle(bytesPerSecond: Int)
  /// Changes one byte in one direction, once.
  case corrupt(Place, Direction)

  /// Which way bytes go.
  package enum Direction: String, CaseIterable, Sendable {
    /// From a peer to its hub.
    case up
    /// From a hub to its peer.
    case down
  }

  /// Which byte is changed: one whose change the other side can detect. Nothing on this wire guards the rest of a
  /// frame, where a changed byte may mean something else (docs/guarantees.md).
  package enum Place: Hashable, Sendable {
    /// A byte of the next connection's greeting; present connections are reset, so that there is a next one.
    case greeting(offset: Int)
    /// The next frame's header: it then announces more bytes than any receiver accepts.
    case header
    /// The first byte of the next frame's body: it is no longer valid protobuf. The frame is lost, the connection
    /// stays.
    case body
  }

  /// The kind of a fault.
  package enum Kind: String, CaseIterable, Sendable {
    case cut, halfOpen, delay, throttle, corrupt
  }

  /// The kind of this fault.
  package var kind: Kind {
    switch self {
    case .cut: .cut
    case .halfOpen: .halfOpen
    case .delay: .delay
    case .throttle: .throttle
    case .corrupt: .corrupt
    }
  }
}
