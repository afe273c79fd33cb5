import RunBus
public import RunCore
import Synchronization

extension TestBus {
  /// How often the nodes and the tasks of the caller's actor may take turns at one moment. A few suffice for an app
  /// that answers a change with a command; nodes and tasks that answer each other without end never come to rest.
  private static let turnsMax = 10_000

  /// How many turns without work of a node show that all have come to rest.
  private static let quietTurnsNeeded = 3

  @concurrent private static func passThroughPool() async {}

  /// Does everything that is due at the present moment, without moving time on.
  ///
  /// - Throws: The error of a node that has ended by itself; ``RunBus/RunBusError/Code/timeout`` when the nodes do not
  ///   come to rest; `CancellationError` when the task is cancelled.
  public func settle() async throws {
    var (workCount, quietTurns) = (await loop.idle(), 0)
    for _ in 0..<Self.turnsMax {
      try Task.checkCancellation()
      // The tasks of the caller's actor that the nodes have woken run before this one goes on. A stream that wakes a
      // task may pass through the shared pool of threads on its way to the task's actor.
      await Self.passThroughPool()
      await Task.yield()
      let next = await loop.idle()
      quietTurns = next == workCount ? quietTurns + 1 : 0
      if quietTurns == Self.quietTurnsNeeded { return try checkNodes() }
      workCount = next
    }
    throw RunBusError(.timeout, "the nodes and the test's tasks answer each other without end")
  }

  /// Moves time on. It stops at each moment at which something is due, in order, and does all of it, together with what
  /// follows from it at that moment.
  ///
  /// - Parameter span: By how much. It is real time of the nodes; with a ``RunBus/HubConfiguration/speed``, bus time
  ///   moves on by more.
  /// - Throws: As ``settle()``.
  public func advance(by span: BusDuration) async throws {
    let end = now + span
    try await settle()
    while await loop.step(to: end) { try await settle() }
    try await settle()
  }

  /// Moves time on until an operation has returned, as little as possible.
  ///
  /// ```swift
  /// let verdict = try await bus.advance { try await phone.send(Command(.start, source: .phone)) }
  /// ```
  ///
  /// - Parameters:
  ///   - span: By how much at most.
  ///   - operation: What is waited for. It runs on the bus's thread, together with the nodes.
  /// - Returns: What the operation returns.
  /// - Throws: ``RunBus/RunBusError/Code/timeout`` when the operation has not returned at the end of the span; it is
  ///   cancelled then. Otherwise what it throws.
  public func advance<Value: Sendable>(
    atMost span: BusDuration = .seconds(60), until operation: @escaping @concurrent @Sendable () async throws -> Value
  ) async throws -> Value {
    let end = now + span
    let outcome = Outcome<Value>()
    return try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      group.addTask(executorPreference: executor) {
        do { outcome.set(.success(try await operation())) } catch { outcome.set(.failure(error)) }
      }
      try await settle()
      while outcome.result == nil, await loop.step(to: end) { try await settle() }
      guard let result = outcome.result else {
        throw RunBusError(.timeout, "what the test waited for did not happen within \(span.seconds) s of steered time")
      }
      return try result.get()
    }
  }
}

/// What came of an operation, for the one who moves time on meanwhile.
private final class Outcome<Value: Sendable>: Sendable {
  private let state = Mutex<Result<Value, any Error>?>(nil)

  var result: Result<Value, any Error>? { state.withLock { $0 } }
  func set(_ result: Result<Value, any Error>) { state.withLock { $0 = result } }
}
