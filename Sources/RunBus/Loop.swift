public import RunCore

/// Something with a descriptor that a loop watches: a socket, a pipe. Used on the loop's thread only.
public protocol LoopSource: AnyObject {
  /// Becomes readable when ``drain()`` has something to do.
  var descriptor: CInt { get }
  /// Takes in what is there, a bounded amount at a time; returns whether more is left.
  func drain() -> Bool
}

/// Placeholder until the loop lands: one thread, a serial executor, one poller.
public final class Loop: Sendable {
  /// Starts the loop's thread.
  public init() throws(RunBusError) {}
}
