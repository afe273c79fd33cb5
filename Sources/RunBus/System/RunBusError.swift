import RunCore

/// An error with a ``code`` for programs and a ``message`` for people, which says what is wrong and what to do.
public struct RunBusError: Error, Sendable, CustomStringConvertible {
  /// The kind of an error. It is a struct, so that new codes do not break a client's `switch`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Value: String {
      case refused, unreachable, busHeld, storeHeld, addressInUse, wireMismatch, storeMismatch, badInput
      case unknownDevice, notFound, tooLate, alreadyHandled, notRecovering, store, transport, closed, timeout, full
    }
    private let value: Value

    /// The other node's app answered that it cannot or will not do what was asked.
    public static let refused = Code(value: .refused)

    /// The other node cannot be reached now.
    public static let unreachable = Code(value: .unreachable)
    /// Another hub holds the bus: stop that hub, or use another bus.
    public static let busHeld = Code(value: .busHeld)
    /// Another process holds the store, usually a second copy of the same app: stop that process.
    public static let storeHeld = Code(value: .storeHeld)
    /// Another program listens at the address: choose another address.
    public static let addressInUse = Code(value: .addressInUse)
    /// The other side speaks another version of the wire.
    public static let wireMismatch = Code(value: .wireMismatch)
    /// The store was written by another version of RunBus, or by a node of the other role (a hub or a peer). Nothing
    /// in it was changed.
    public static let storeMismatch = Code(value: .storeMismatch)
    /// An argument, a file or an address is wrong.
    public static let badInput = Code(value: .badInput)
    /// The hub has never met this device: pass a device that has joined the bus.
    public static let unknownDevice = Code(value: .unknownDevice)
    /// The node keeps no record, message or command with this id.
    public static let notFound = Code(value: .notFound)
    /// What was to be cancelled may have been sent already, so its receiver may see it.
    public static let tooLate = Code(value: .tooLate)
    /// These messages have a handler already, and can have one at a time.
    public static let alreadyHandled = Code(value: .alreadyHandled)
    /// No run waits for a decision about its recovery.
    public static let notRecovering = Code(value: .notRecovering)
    /// The store failed.
    public static let store = Code(value: .store)
    /// A queue or an outbox is full.
    public static let full = Code(value: .full)
    /// The transport failed.
    public static let transport = Code(value: .transport)
    /// The node has ended.
    public static let closed = Code(value: .closed)
    /// No answer came in time.
    public static let timeout = Code(value: .timeout)

    /// The code's name.
    public var description: String { value.rawValue }
  }

  /// The kind of the error, for programs.
  public let code: Code
  /// One sentence for people.
  public let message: String
  /// The underlying error, if there is one.
  public let cause: (any Error)?

  /// Makes an error from its parts.
  public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }

  /// The message.
  public var description: String { message }
}

extension RunBusError {
  /// The error for the caller whose message was refused.
  init(_ refusal: PostRefusal) {
    switch refusal {
    case .tooLong:
      self.init(
        .badInput,
        "a message's name and key are 1 to 64 bytes without control characters, its body at most 32,768 bytes")
    case .unreachable: self.init(.unreachable, "the recipient cannot be reached now, and a live message is not kept")
    case .full: self.init(.full, "the outbox is full: nothing was taken in; try again when some of it is delivered")
    case .unknownDevice: self.init(.unknownDevice, "the hub has never met this device")
    }
  }
}
