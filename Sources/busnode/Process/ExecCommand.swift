import RunBus
import RunScripts
import Subprocess
import SystemC

#if canImport(System)
  import struct System.FilePath
#else
  import struct SystemPackage.FilePath
#endif

/// The command of `--exec`: `sh -c COMMAND`, with the body of a message on its standard input.
struct ExecCommand: Sendable {
  /// How a command ended.
  enum Ending: Hashable, Sendable {
    /// With exit status 0, and this on its standard output if that was asked for.
    case succeeded([UInt8])
    /// Otherwise, for this reason.
    case failed(String)
  }

  let command: String
  /// How long it may take.
  let timeout: BusDuration
  /// How long it may take to end after SIGTERM.
  private static let farewell = Duration.seconds(2)

  /// Runs the command to its end. When it takes too long, or the task is cancelled, its process group gets SIGTERM and
  /// 2 s later SIGKILL; so does what a command that has failed leaves running.
  ///
  /// - Parameters:
  ///   - body: Its standard input.
  ///   - variables: What its environment has besides.
  ///   - outputMax: How many bytes of its standard output are returned, and not more; `nil` where it writes to that of
  ///     this process.
  func run(_ body: [UInt8], _ variables: [String: String?], outputMax: Int? = nil) async -> Ending {
    await withTaskGroup(of: Ending?.self) { group in
      group.addTask { await carryOut(body, variables, outputMax) }
      group.addTask {
        do { try await Task.sleep(for: Duration(timeout)) } catch { return nil }
        return .failed("it took longer than \(Sentence.seconds(timeout)) and was ended")
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      // A command that is ended has ended when the group has.
      await group.waitForAll()
      return first ?? .failed("it was withdrawn")
    }
  }

  private func carryOut(_ body: [UInt8], _ variables: [String: String?], _ outputMax: Int?) async -> Ending {
    var group: ProcessGroup?
    let ending = await carryOut(body, variables, outputMax) { group = $0 }
    if case .failed = ending { await group?.end(farewell: Self.farewell) }
    return ending
  }

  private func carryOut(
    _ body: [UInt8], _ variables: [String: String?], _ outputMax: Int?, _ begun: (ProcessGroup) -> Void
  ) async -> Ending {
    do {
      let (status, output) =
        if let outputMax {
          try await start(body, variables, .bytes(limit: outputMax), begun) { $0 }
        } else {
          try await start(body, variables, .currentStandardOutput, begun) { _ in [] }
        }
      return switch status {
      case .exited(0): .succeeded(output)
      case .exited(let number): .failed("it ended with exit status \(number)")
      case .signaled(let number): .failed("it was ended by signal \(number)")
      }
    } catch let error as SubprocessError where error.code == .outputLimitExceeded {
      return .failed("it wrote more than \(outputMax ?? 0) bytes, the longest answer")
    } catch {
      return .failed("it could not be run: \(error)")
    }
  }

  private func start<Output: OutputProtocol>(
    _ body: [UInt8], _ variables: [String: String?], _ output: Output, _ begun: (ProcessGroup) -> Void,
    _ bytes: (Output.OutputType) -> [UInt8]
  ) async throws -> (TerminationStatus, [UInt8]) {
    var options = PlatformOptions()
    // With a group of its own, Ctrl-C reaches busnode only, and what the command has started ends with it.
    options.processGroupID = 0
    options.teardownSequence = [.gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: Self.farewell)]
    let changes = Dictionary(uniqueKeysWithValues: variables.map { (Environment.Key(rawValue: $0)!, $1) })
    let result = try await Subprocess.run(
      .path(FilePath("/bin/sh")), arguments: ["-c", command], environment: .inherit.updating(changes),
      platformOptions: options, input: .inputWriter, output: output, error: .currentStandardError
    ) { execution in
      begun(ProcessGroup(execution))
      // A command need not read its input: a pipe that it has closed is no failure.
      _ = try? await execution.standardInputWriter.write(body)
      try? await execution.standardInputWriter.finish()
    }
    return (result.terminationStatus, bytes(result.standardOutput))
  }
}
