/// What goes wrong on a link for a while; see ``FaultProxy``.
public enum LinkFault: Hashable, Sendable {
  /// Every connection ends, and new ones are turned away. A reset loses what is under way; `midFrame` waits for a frame
  /// and lets half of it through.
  case cut(reset: Bool, midFrame: Bool)
  /// The connections stand, and what is said reaches nobody; when the fault ends they are reset. New ones are well, or
  /// no better.
  case halfOpen(Set<Direction>, includesNew: Bool)
  /// Everything takes so much longer, in its order; when the fault ends, all that waits comes at once.
  case delay(milliseconds: Int)
  /// No more than so many bytes a second pass in each direction; when the fault ends, all that waits comes at once.
  case throttle(bytesPerSecond: Int)
  /// One byte is changed, once, of what goes this way.
  case corrupt(Place, Direction)

  /// Which way bytes go.
  public enum Direction: String, CaseIterable, Sendable {
    /// From a peer to its hub.
    case up
    /// From a hub to its peer.
    case down
  }

  /// Which byte is changed: one that the other side can tell from a good one. What stands in the rest of a frame is
  /// guarded by nothing on this wire, and a changed one may mean something else (docs/guarantees.md).
  public enum Place: Hashable, Sendable {
    /// A byte of the greeting of the next connection; the present ones are reset to have one.
    case greeting(offset: Int)
    /// The head of the next frame, which announces more bytes than anybody takes in.
    case header
    /// The first byte of the next frame's body: it is no protobuf any more. The connection stands, the frame is lost.
    case body
  }

  /// What kind of fault it is.
  public enum Kind: String, CaseIterable, Sendable {
    case cut, halfOpen, delay, throttle, corrupt
  }

  /// What kind of fault it is.
  public var kind: Kind {
    switch self {
    case .cut: .cut
    case .halfOpen: .halfOpen
    case .delay: .delay
    case .throttle: .throttle
    case .corrupt: .corrupt
    }
  }
}
