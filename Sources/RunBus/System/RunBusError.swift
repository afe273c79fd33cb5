import RunCore

/// What went wrong, for a program (``code``) and for a person (``message``: what is wrong and what to do).
public struct RunBusError: Error, Sendable, CustomStringConvertible {
  /// What kind of thing went wrong. Codes can be added without breaking anybody's switch.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Value: String {
      case unreachable, busHeld, wireMismatch, badInput, store, transport, closed, timeout, full
    }
    private let value: Value

    /// The hub cannot be reached now.
    public static let unreachable = Code(value: .unreachable)
    /// Another hub holds the bus, or another process the store.
    public static let busHeld = Code(value: .busHeld)
    /// The other side speaks another version of the wire.
    public static let wireMismatch = Code(value: .wireMismatch)
    /// An argument, a file or an address is wrong.
    public static let badInput = Code(value: .badInput)
    /// The store failed.
    public static let store = Code(value: .store)
    /// As much waits already as may.
    public static let full = Code(value: .full)
    /// The transport failed.
    public static let transport = Code(value: .transport)
    /// The node has ended.
    public static let closed = Code(value: .closed)
    /// Nothing came in time.
    public static let timeout = Code(value: .timeout)

    /// The code's name.
    public var description: String { value.rawValue }
  }

  /// For a program.
  public let code: Code
  /// For a person.
  public let message: String
  /// What lies beneath, when something does.
  public let cause: (any Error)?

  /// An error from its parts.
  public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }

  /// The message.
  public var description: String { message }
}

extension RunBusError {
  /// Why a message is not taken, for whoever posts it.
  init(_ refusal: PostRefusal) {
    switch refusal {
    case .tooLong:
      self.init(
        .badInput,
        "a message's name and key are 1 to 64 bytes without control characters, its body at most 32,768 bytes")
    case .unreachable: self.init(.unreachable, "nobody is there now: a live message is for now or never")
    case .full: self.init(.full, "the outbox is full: nothing was taken in; try again when some of it is delivered")
    case .unknownDevice: self.init(.badInput, "the hub has never met this device")
    }
  }
}
