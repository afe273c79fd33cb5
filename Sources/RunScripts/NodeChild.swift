import RunBus
import Subprocess
import Synchronization

#if canImport(System)
  import System
#else
  import SystemPackage
#endif

/// How a node's process ended.
package enum NodeEnding: Hashable, Sendable {
  case exited(Int32)
  case signaled(Int32)
  case neverStarted(String)

  package var sentence: String {
    switch self {
    case .exited(let status): "it ended with exit status \(status)"
    case .signaled(let number): "it was ended by signal \(number)"
    case .neverStarted(let why): "it could not be started: \(why)"
    }
  }
}

/// One process of `busnode` that `up` has spawned. It ends with `up`, even after kill -9 of `up`, because its standard
/// input closes then.
final class NodeChild: Sendable {
  /// How many of its last lines on standard error are kept, to explain why it died.
  static let errorsMax = 10

  let node: SpawnedNode
  /// Which incarnation of the node this is, from 1.
  let life: Int
  private let input = AsyncStream.makeStream(of: String.self)
  private let process = Mutex<(@Sendable (Signal) -> Void)?>(nil)
  private let errors = Mutex<[String]>([])

  init(_ node: SpawnedNode, life: Int) {
    self.node = node
    self.life = life
  }

  /// Writes an order to its standard input.
  func tell(_ order: NodeOrder) { input.continuation.yield(order.line) }

  /// Closes its standard input, on which it ends in good order, also when it stands still.
  func end() {
    input.continuation.finish()
    wake()
  }

  /// Ends the process with SIGKILL, as a crash would.
  func kill() { process.withLock { $0?(.kill) } }

  /// Lets the process stand still (SIGSTOP).
  func sleep() { process.withLock { $0?(.suspend) } }

  /// Lets it go on.
  func wake() { process.withLock { $0?(.resume) } }

  /// Runs the process to its end, and reports what it writes and how it ends.
  func run(
    executable: String, arguments: [String], environment: [String: String?],
    report: @Sendable @escaping (UpEvent) -> Void
  ) async {
    var options = PlatformOptions()
    // With a process group of its own, Ctrl-C reaches `up` only, which then ends its nodes in good order.
    options.processGroupID = 0
    let changes = Dictionary(
      uniqueKeysWithValues: environment.compactMap { name, value in
        Environment.Key(rawValue: name).map { ($0, value) }
      })
    let ending: NodeEnding
    do {
      let result = try await Subprocess.run(
        .path(FilePath(executable)), arguments: Arguments(arguments), environment: .inherit.updating(changes),
        platformOptions: options, input: .inputWriter, output: .sequence, error: .sequence
      ) { execution in
        process.withLock { $0 = { try? execution.send(signal: $0) } }
        await converse(execution, report)
        // Its output has ended, so the process has ended or is about to. Send no more signals to its process id.
        process.withLock { $0 = nil }
      }
      switch result.terminationStatus {
      case .exited(let status): ending = .exited(status)
      case .signaled(let number): ending = .signaled(number)
      }
    } catch {
      ending = .neverStarted("\(error)")
    }
    report(.ended(node, life: life, ending, lastErrors: errors.withLock { $0 }))
  }

  private func converse(
    _ execution: Execution<CustomWriteInput, SequenceOutput, SequenceOutput>,
    _ report: @Sendable @escaping (UpEvent) -> Void
  ) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { [node] in
        // Ignore a read error when the process dies: how it ended is reported separately.
        do {
          for try await line in execution.standardOutput.strings() {
            if let line = EventLineJSON(line: line) { report(.heard(node, line)) }
          }
        } catch {}
        self.end()
      }
      group.addTask {
        do {
          for try await line in execution.standardError.strings() {
            self.errors.withLock { $0 = ($0 + [line]).suffix(Self.errorsMax) }
          }
        } catch {}
      }
      group.addTask {
        for await line in self.input.stream {
          guard (try? await execution.standardInputWriter.write(line + "\n")) != nil else { break }
        }
        try? await execution.standardInputWriter.finish()
      }
      await group.waitForAll()
    }
  }
}
