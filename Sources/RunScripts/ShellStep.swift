import RunBus
import Subprocess

#if canImport(System)
  import System
#else
  import SystemPackage
#endif

/// A command of the shell in a script. What it writes goes to standard error: standard output has the nodes' lines.
enum ShellStep {
  /// Runs a command to its end.
  ///
  /// - Parameters:
  ///   - environment: What it gets besides the environment of this process: the bus, so that `busnode` finds it.
  ///   - patience: How long it may run. It is ended then, with its children.
  /// - Returns: What is wrong with how it ended; `nil` after status 0.
  static func run(
    _ command: String, environment: [String: String?], patience: Duration
  ) async -> String? {
    await withTaskGroup(of: String?.self) { group in
      group.addTask { await run(command, environment) }
      group.addTask {
        guard (try? await Task.sleep(for: patience)) != nil else { return nil }
        return "it did not end within \(patience.components.seconds) s, and was ended"
      }
      let flaw = await group.next() ?? nil
      group.cancelAll()
      await group.waitForAll()
      return flaw
    }
  }

  private static let farewell = Duration.seconds(1)

  private static func run(_ command: String, _ environment: [String: String?]) async -> String? {
    var group: ProcessGroup?
    let flaw = await run(command, environment) { group = $0 }
    if flaw != nil { await group?.end(farewell: farewell) }
    return flaw
  }

  private static func run(
    _ command: String, _ environment: [String: String?], _ begun: (ProcessGroup) -> Void
  ) async -> String? {
    var options = PlatformOptions()
    // With a process group of its own, its children end with it, and Ctrl-C reaches `up` only.
    options.processGroupID = 0
    options.teardownSequence = [.gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: farewell)]
    let changes = Dictionary(
      uniqueKeysWithValues: environment.compactMap { name, value in
        Environment.Key(rawValue: name).map { ($0, value) }
      })
    do {
      let result = try await Subprocess.run(
        .path(FilePath("/bin/sh")), arguments: ["-c", command], environment: .inherit.updating(changes),
        platformOptions: options, input: .none, output: .currentStandardError, error: .currentStandardError
      ) { begun(ProcessGroup($0)) }
      return switch result.terminationStatus {
      case .exited(0): nil
      case .exited(let status): "it ended with exit status \(status)"
      case .signaled(let number): "it was ended by signal \(number)"
      }
    } catch {
      return "it could not be started: \(error)"
    }
  }
}
