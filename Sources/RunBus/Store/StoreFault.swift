/// Why a commit failed. Nothing of the batch is in the store then.
public struct StoreFault: Error, Hashable, Sendable, CustomStringConvertible {
  private enum Value: Hashable { case full, readOnly, closed, broken(String) }
  private let value: Value

  /// The disk is full: the batch was rolled back and may be tried again.
  public static let full = StoreFault(value: .full)
  /// The store's files cannot be written by this process.
  public static let readOnly = StoreFault(value: .readOnly)
  /// The store was closed before the batch came.
  public static let closed = StoreFault(value: .closed)
  /// The disk failed, or what was to be written contradicts what is there: the node must stop, nothing is tried again.
  public static func broken(_ message: String) -> StoreFault { StoreFault(value: .broken(message)) }

  /// The same batch may succeed later.
  public var isTemporary: Bool { value == .full }
  /// Nothing can be written any more.
  var isLasting: Bool {
    switch value {
    case .full, .readOnly: false
    case .closed, .broken: true
    }
  }
  /// One sentence for a person.
  public var description: String {
    switch value {
    case .full: "the disk is full: make room, what waits is written then"
    case .readOnly: "the store cannot be written: check the owner and mode of its directory"
    case .closed: "the store is closed"
    case .broken(let message): "the store failed: \(message)"
    }
  }
}
