/// Why a commit failed. Nothing of its batch is in the store then.
package struct StoreFault: Error, Hashable, Sendable, CustomStringConvertible {
  private enum Value: Hashable {
    case full, readOnly, closed, refused(String), damaged(String), moved(String), broken(String)
  }
  private let value: Value

  /// The disk is full. The batch was rolled back and may be tried again.
  package static let full = StoreFault(value: .full)
  /// This process cannot write the store's files now. The batch was rolled back and may be tried again.
  package static let readOnly = StoreFault(value: .readOnly)
  /// The store was closed before the batch was handed over.
  package static let closed = StoreFault(value: .closed)
  /// The disk refused the batch for a reason that may pass (a quota, a limit, a read or write error). The batch was
  /// rolled back and may be tried again.
  package static func refused(_ message: String) -> StoreFault { StoreFault(value: .refused(message)) }
  /// The content of the file is inconsistent. The node sets the file aside and goes on with what can be read of it.
  package static func damaged(_ message: String) -> StoreFault { StoreFault(value: .damaged(message)) }
  /// A file of the store is not at its path any more, so that writes would be lost with the process. The node must
  /// stop.
  package static func moved(_ path: String) -> StoreFault { StoreFault(value: .moved(path)) }
  /// The disk failed in a way that leaves its content unknown, or the node wrote what a store cannot contain. The node
  /// must stop.
  package static func broken(_ message: String) -> StoreFault { StoreFault(value: .broken(message)) }

  /// Whether the same batch may succeed later.
  package var isTemporary: Bool {
    switch value {
    case .full, .readOnly, .refused: true
    case .closed, .damaged, .moved, .broken: false
    }
  }
  /// Whether the content of the file is inconsistent.
  package var isDamage: Bool {
    if case .damaged = value { true } else { false }
  }
  /// The cause alone, without its consequence.
  var reason: String {
    switch value {
    case .refused(let message), .damaged(let message), .moved(let message), .broken(let message): message
    case .full, .readOnly, .closed: description
    }
  }
  /// One sentence for people.
  package var description: String {
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
