import RunCore

/// What shells of this machine do with messages in the place of a node's app; see ``RunCore/ListenerTable``. Used on the
/// thread of the node's loop only.
final class ShellDesk {
  /// How many posts and questions of shells may wait for their ends: more than scripts of one person have under way.
  static let errandsMax = 64

  /// Who listens.
  var table = ListenerTable()
  /// The tasks that read for the places of listeners; ended with them.
  var reading: [ListenerID: Task<Void, Never>] = [:]
  /// Messages of places that wait for what a listener says of them.
  var handing: [ListenerID: CheckedContinuation<[UInt8], any Error>] = [:]
  /// The posts and questions that wait for their ends, by the number of what a shell has asked.
  var errands: [UInt64: Task<Void, Never>] = [:]
  /// Looks at the listeners when something is due.
  var timer: LoopTimer?

  /// Ends everything: the node ends or begins anew. The shells were told, or are told by their sockets.
  func end() {
    for task in reading.values { task.cancel() }
    for task in errands.values { task.cancel() }
    for continuation in handing.values { continuation.resume(throwing: CancellationError()) }
    (table, reading, errands, handing, timer) = (ListenerTable(), [:], [:], [:], nil)
  }
}

/// Why a listener could not process a message.
struct ListenerFailure: Error, CustomStringConvertible {
  let description: String
}

extension InquiryFailure {
  /// The failure that tells a shell of an error in the node.
  init(_ error: any Error) {
    guard let error = error as? RunBusError else {
      self.init(.closed, error is CancellationError ? "the node has ended" : "\(error)")
      return
    }
    let code: Code =
      switch error.code {
      case .unreachable: .unreachable
      case .timeout: .timeout
      case .refused: .refused
      case .full: .full
      case .unknownDevice: .notFound
      case .alreadyHandled: .alreadyHandled
      case .store: .store
      case .closed: .closed
      default: .invalid
      }
    self.init(code, error.message)
  }
}
