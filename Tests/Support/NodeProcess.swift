import Foundation
import Subprocess
import Synchronization
import SystemC

#if canImport(System)
  import System
#else
  import SystemPackage
#endif

/// A process under test: its output, its ending, and ways to write to it and to end it.
/// ``TestBus/spawn(_:environment:)`` makes it and ends it after the test.
package final class NodeProcess: Sendable {
  /// How a process ended.
  package enum Ending: Hashable, Sendable {
    /// It exited with this status.
    case exited(Int32)
    /// A signal ended it.
    case signaled(Int32)
    /// It could not be started.
    case neverStarted(String)
  }

  /// The state of a process at one moment.
  package struct View: Sendable {
    /// Its process id; `nil` before it was started.
    package internal(set) var processID: Int32?
    /// The whole lines on its standard output.
    package internal(set) var lines: [String] = []
    /// The whole lines on its standard error.
    package internal(set) var errors: [String] = []
    /// How it ended; `nil` while it runs or has output that was not read yet.
    package internal(set) var ending: Ending?
    /// The lines on its standard output that are JSON.
    package internal(set) var json: [JSONValue] = []
  }

  /// A wait that failed, with the output that was there instead.
  package struct WaitError: Error, CustomStringConvertible {
    /// What was waited for and what was there.
    package let description: String
  }

  private struct State {
    var view = View()
    var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
    var watchersMade = 0
  }

  /// Its arguments.
  package let arguments: [String]
  private let state = Mutex(State())
  private let input = AsyncStream.makeStream(of: String.self)

  private let ownsGroup: Bool

  init(arguments: [String], ownsGroup: Bool) {
    self.arguments = arguments
    self.ownsGroup = ownsGroup
  }

  /// Its present state.
  package var view: View { state.withLock { $0.view } }

  // MARK: Talking to it

  /// Writes a line to its standard input.
  package func write(_ line: String) { input.continuation.yield(line) }

  /// Ends its standard input.
  package func closeInput() { input.continuation.finish() }

  /// Sends a signal, unless the process has ended.
  package func signal(_ number: Int32) {
    state.withLock { state in
      // Under the lock, because the id belongs to this process only until its ending is recorded.
      if let id = state.view.processID, state.view.ending == nil { _ = kill(id, number) }
    }
  }

  // MARK: Waiting for it

  /// Waits until `find` returns a value for the process, and returns it.
  ///
  /// - Throws: ``WaitError`` when the deadline passes, or the process ends, before that.
  @discardableResult
  package func wait<Found: Sendable>(
    for what: String, within seconds: Double = 90, _ find: @Sendable (View) throws -> Found?
  ) async throws -> Found {
    let deadline = ContinuousClock.now + .seconds(seconds)
    let (number, changes) = watch()
    defer { state.withLock { $0.watchers[number] = nil } }
    while true {
      let view = view
      if let found = try find(view) { return found }
      guard view.ending == nil, ContinuousClock.now < deadline else { throw failure(what, view) }
      await withTaskGroup(of: Void.self) { group in
        group.addTask { for await _ in changes { return } }
        group.addTask { try? await Task.sleep(until: deadline) }
        await group.next()
        group.cancelAll()
      }
      try Task.checkCancellation()
    }
  }

  /// Waits for a line of JSON that satisfies a condition, among the lines from `index` on.
  @discardableResult
  package func event(
    _ what: String, from index: Int = 0, within seconds: Double = 90,
    where isIt: @escaping @Sendable (JSONValue) -> Bool
  ) async throws -> JSONValue {
    try await wait(for: what, within: seconds) { view in view.json.dropFirst(index).first(where: isIt) }
  }

  /// Waits until it has ended.
  package func ending(within seconds: Double = 90) async throws -> Ending {
    try await wait(for: "its end", within: seconds) { $0.ending }
  }

  private func watch() -> (Int, AsyncStream<Void>) {
    let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.watchersMade += 1
      state.watchers[state.watchersMade] = continuation
      return state.watchersMade
    }
    return (number, changes)
  }

  private func failure(_ what: String, _ view: View) -> WaitError {
    WaitError(
      description: """
        waited in vain for \(what)
        of: \(arguments.joined(separator: " "))
        which \(view.ending.map { "ended: \($0)" } ?? Self.liveness(view.processID))
        last output: \(view.lines.suffix(5).joined(separator: "\n  "))
        last errors: \(view.errors.suffix(10).joined(separator: "\n  "))
        """)
  }

  /// Whether it runs or is a zombie that nobody has waited for, as Linux reports it.
  private static func liveness(_ processID: Int32?) -> String {
    guard let processID, let status = try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8),
      let state = status.split(separator: "\n").first(where: { $0.hasPrefix("State:") })
    else { return "lives" }
    return "lives (\(state.split(whereSeparator: \.isWhitespace).dropFirst().joined(separator: " ")))"
  }

  // MARK: Running it

  private func update(_ change: (inout View) -> Void) {
    state.withLock { state in
      change(&state.view)
      for watcher in state.watchers.values { watcher.yield() }
    }
  }

  /// Runs the process until it ends; cancelling the task kills it.
  func run(executable: String, environment: [String: String?]) async {
    brokenPipesAreErrors
    var options = PlatformOptions()
    options.teardownSequence = []
    if ownsGroup { options.processGroupID = 0 }
    let changes = Dictionary(uniqueKeysWithValues: environment.map { (Environment.Key(rawValue: $0)!, $1) })
    do {
      let result = try await Subprocess.run(
        .path(FilePath(executable)), arguments: Arguments(arguments), environment: .inherit.updating(changes),
        platformOptions: options, input: .inputWriter, output: .sequence, error: .sequence
      ) { execution in
        self.update { $0.processID = execution.processIdentifier.value }
        await self.converse(execution)
      }
      update { view in
        switch result.terminationStatus {
        case .exited(let status): view.ending = .exited(status)
        case .signaled(let number): view.ending = .signaled(number)
        }
      }
    } catch {
      update { $0.ending = .neverStarted("\(error)") }
    }
    // The group exists as long as any member runs.
    if ownsGroup, let id = view.processID { _ = kill(-id, SIGKILL) }
  }

  private func converse(_ execution: Execution<CustomWriteInput, SequenceOutput, SequenceOutput>) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for await line in self.input.stream {
          guard (try? await execution.standardInputWriter.write(line + "\n")) != nil else { break }
        }
        try? await execution.standardInputWriter.finish()
      }
      group.addTask {
        // The sequence of a process that has ended may throw; the lines before that count.
        do {
          for try await line in execution.standardOutput.strings() {
            self.update { view in
              view.lines.append(line)
              if let value = JSONValue(text: line) { view.json.append(value) }
            }
          }
        } catch {}
        self.closeInput()
      }
      group.addTask {
        do {
          for try await line in execution.standardError.strings() { self.update { $0.errors.append(line) } }
        } catch {}
      }
      await group.waitForAll()
    }
  }
}

/// Writing to a process that has ended must fail with an error, as in busnode, instead of ending the tests with SIGPIPE.
package let brokenPipesAreErrors: Void = { _ = signal(SIGPIPE, SIG_IGN) }()
