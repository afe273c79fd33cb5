// Dispatch sources are safe to use from any thread, but their protocols are not declared `Sendable` yet.
@preconcurrency import Dispatch
import Synchronization
import SystemC

/// Runs a node while a body uses it.
///
/// ```swift
/// try await withNode(hub) {
///   _ = try await hub.send(Command(.start, source: .phone))
/// }
/// ```
///
/// The body begins when the node is ready (``Node/ready()``). The node ends in good order when the body has returned or
/// thrown, when the task is cancelled, and on SIGTERM; the body is cancelled on the last two, and when the node ends by
/// itself. Calls can be nested, for two nodes in one process; SIGTERM ends both.
///
/// - Parameters:
///   - node: The node. A node runs once.
///   - body: What uses it.
/// - Returns: What the body returns.
/// - Throws: What the body throws; the error that ended the node, when that ended first; `CancellationError` after
///   SIGTERM, unless the body returned a value all the same.
public func withNode<Value: Sendable>(
  _ node: some Node, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  let terminations = Terminations.shared.stream()
  let result: Result<Value, any Error> = await withTaskGroup(of: Result<NodePart<Value>, any Error>.self) { group in
    func add(_ part: @escaping @Sendable () async throws -> NodePart<Value>) {
      group.addTask {
        do { return .success(try await part()) } catch { return .failure(error) }
      }
    }
    add {
      try await node.run()
      return .nodeEnded
    }
    add {
      for await _ in terminations { break }
      return .told
    }
    add {
      try await node.ready()
      return .value(try await body())
    }
    var result: Result<Value, any Error>?
    // The parts after the first are waited for: the node is to end in good order.
    for await part in group {
      switch part {
      case .success(.value(let value)): result = .success(value)
      case .success(.nodeEnded), .success(.told): result = result ?? .failure(CancellationError())
      case .failure(let error): result = result ?? .failure(error)
      }
      group.cancelAll()
    }
    return result ?? .failure(CancellationError())
  }
  return try result.get()
}

/// How a part of ``withNode(_:_:)`` has ended.
private enum NodePart<Value: Sendable>: Sendable {
  case value(Value)
  case nodeEnded, told
}

/// Gives SIGTERM to all bodies of ``withNode(_:_:)`` that run. Without such a body the signal ends the process.
///
/// One source lives as long as the process: on Linux, Dispatch does not catch a signal again after its source was
/// cancelled.
private final class Terminations: Sendable {
  static let shared = Terminations()

  private let waiting = Mutex<(next: UInt64, readers: [UInt64: AsyncStream<Void>.Continuation])>((0, [:]))
  private let source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())

  private init() {
    let registered = DispatchGroup()
    registered.enter()
    source.setRegistrationHandler { registered.leave() }
    source.setEventHandler { [unowned self] in arrive() }
    source.activate()
    // Until then the signal has its default action.
    registered.wait()
    #if canImport(Darwin)
      // A source sees ignored signals there. Elsewhere it has put its own handler in place of the default action.
      signal(SIGTERM, SIG_IGN)
    #endif
  }

  /// The signals from now on, until the reader drops the stream.
  func stream() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    let key = waiting.withLock { waiting in
      waiting.next += 1
      waiting.readers[waiting.next] = continuation
      return waiting.next
    }
    continuation.onTermination = { [unowned self] _ in _ = waiting.withLock { $0.readers.removeValue(forKey: key) } }
    return stream
  }

  private func arrive() {
    let readers = waiting.withLock { Array($0.readers.values) }
    for reader in readers { reader.yield() }
    guard readers.isEmpty else { return }
    signal(SIGTERM, SIG_DFL)
    // The threads of Dispatch block it.
    var numbers = sigset_t()
    sigemptyset(&numbers)
    sigaddset(&numbers, SIGTERM)
    pthread_sigmask(SIG_UNBLOCK, &numbers, nil)
    raise(SIGTERM)
  }
}
