/// Why a commit failed. Nothing of the batch is in the store then.
public struct StoreFault: Error, Hashable, Sendable, CustomStringConvertible {
  private enum Value: Hashable {
    case full, readOnly, closed, refused(String), damaged(String), moved(String), broken(String)
  }
  private let value: Value

  /// The disk is full: the batch was rolled back and may be tried again.
  public static let full = StoreFault(value: .full)
  /// The store's files cannot be written by this process now: the batch was rolled back and may be tried again.
  public static let readOnly = StoreFault(value: .readOnly)
  /// The store was closed before the batch came.
  public static let closed = StoreFault(value: .closed)
  /// The disk did not take the batch, for a reason that may pass (a quota, a limit, a read or write error): it was rolled
  /// back and may be tried again.
  public static func refused(_ message: String) -> StoreFault { StoreFault(value: .refused(message)) }
  /// The store's file contradicts itself: the node sets it aside and goes on with what can be read of it.
  public static func damaged(_ message: String) -> StoreFault { StoreFault(value: .damaged(message)) }
  /// A file of the store is not at its path any more: what is written is lost with the process, and the node must stop.
  public static func moved(_ path: String) -> StoreFault { StoreFault(value: .moved(path)) }
  /// The disk failed, or what was to be written contradicts what is there: the node must stop, nothing is tried again.
  public static func broken(_ message: String) -> StoreFault { StoreFault(value: .broken(message)) }

  /// The same batch may succeed later.
  public var isTemporary: Bool {
    switch value {
    case .full, .readOnly, .refused: true
    case .closed, .damaged, .moved, .broken: false
    }
  }
  /// What is in the file contradicts itself.
  public var isDamage: Bool {
    if case .damaged = value { true } else { false }
  }
  /// What is wrong, without what it means.
  var reason: String {
    switch value {
    case .refused(let message), .damaged(let message), .moved(let message), .broken(let message): message
    case .full, .readOnly, .closed: description
    }
  }
  /// One sentence for a person.
  public var description: String {
    switch value {
    case .full: "the disk is full: make room, what waits is written then"
    case .readOnly: "the store cannot be written: check the owner and mode of its directory"
    case .closed: "the store is closed"
    case .refused(let message): "the disk takes nothing (\(message))"
    case .damaged(let message): "the store is damaged (\(message))"
    case .moved(let path):
      "\(path) was removed or replaced while it was open: what it held is lost unless you put it back, then start again"
    case .broken(let message): "the store failed: \(message)"
    }
  }
}
