package import RunBus
import Subprocess

#if canImport(System)
  import struct System.FilePath
#else
  import struct SystemPackage.FilePath
#endif

/// A command of the shell, `sh -c COMMAND`: that of a script, or of `--exec` for a message.
package struct ShellCommand: Sendable {
  /// How a command ended.
  package enum Ending: Hashable, Sendable {
    /// With exit status 0, and this on its standard output if that was asked for.
    case succeeded([UInt8])
    /// Otherwise, for this reason.
    case failed(String)
  }

  /// Where its standard output goes.
  package enum Destination: Sendable {
    /// To that of this process.
    case standardOutput
    /// To standard error of this process.
    case standardError
    /// To who runs it: so many bytes, and not more.
    case caller(max: Int)
  }

  private let line: String
  private let timeout: BusDuration
  /// How long it may take to end after SIGTERM.
  private static let farewell = Duration.seconds(2)

  /// A command.
  ///
  /// - Parameters:
  ///   - line: What the shell reads.
  ///   - timeout: How long it may take, real time.
  package init(_ line: String, timeout: BusDuration) { (self.line, self.timeout) = (line, timeout) }

  /// Runs the command to its end. When it takes too long, or the task is cancelled, its process group gets SIGTERM and
  /// 2 s later SIGKILL; so does what a command that has failed leaves running.
  ///
  /// - Parameters:
  ///   - input: Its standard input.
  ///   - variables: What its environment has besides that of this process; `nil` takes a variable away.
  ///   - destination: Where its standard output goes.
  package func run(
    _ input: [UInt8] = [], variables: [String: String?], output destination: Destination
  ) async -> Ending {
    await withTaskGroup(of: Ending?.self) { group in
      group.addTask { await carryOut(input, variables, destination) }
      group.addTask {
        do { try await Task.sleep(for: Duration(timeout)) } catch { return nil }
        return .failed("it took longer than \(Self.text(timeout.seconds)) s and was ended")
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      // A command that is ended has ended when the group has.
      await group.waitForAll()
      return first ?? .failed("it was withdrawn")
    }
  }

  /// `60`, `0.1`.
  private static func text(_ seconds: Double) -> String {
    Int(exactly: seconds).map { "\($0)" } ?? "\(seconds)"
  }

  private func carryOut(
    _ input: [UInt8], _ variables: [String: String?], _ destination: Destination
  ) async -> Ending {
    var group: ProcessGroup?
    let ending: Ending
    do {
      let (status, output) = try await start(input, variables, destination) { group = $0 }
      ending =
        switch status {
        case .exited(0): .succeeded(output)
        case .exited(let number): .failed("it ended with exit status \(number)")
        case .signaled(let number): .failed("it was ended by signal \(number)")
        }
    } catch let error as SubprocessError where error.code == .outputLimitExceeded {
      ending = .failed("it wrote more than an answer has room for")
    } catch {
      ending = .failed("it could not be run: \(error)")
    }
    if case .failed = ending { await group?.end(farewell: Self.farewell) }
    return ending
  }

  private func start(
    _ input: [UInt8], _ variables: [String: String?], _ destination: Destination, _ begun: (ProcessGroup) -> Void
  ) async throws -> (TerminationStatus, [UInt8]) {
    switch destination {
    case .standardOutput: try await start(input, variables, .currentStandardOutput, begun) { _ in [] }
    case .standardError: try await start(input, variables, .currentStandardError, begun) { _ in [] }
    case .caller(let max): try await start(input, variables, .bytes(limit: max), begun) { $0 }
    }
  }

  private func start<Output: OutputProtocol>(
    _ input: [UInt8], _ variables: [String: String?], _ output: Output, _ begun: (ProcessGroup) -> Void,
    _ bytes: (Output.OutputType) -> [UInt8]
  ) async throws -> (TerminationStatus, [UInt8]) {
    var options = PlatformOptions()
    // With a group of its own, Ctrl-C reaches this process only, and what the command has started ends with it.
    options.processGroupID = 0
    options.teardownSequence = [.gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: Self.farewell)]
    let changes = variables.compactMap { name, value in Environment.Key(rawValue: name).map { ($0, value) } }
    let result = try await Subprocess.run(
      .path(FilePath("/bin/sh")), arguments: ["-c", line],
      environment: .inherit.updating(Dictionary(uniqueKeysWithValues: changes)),
      platformOptions: options, input: .inputWriter, output: output, error: .currentStandardError
    ) { execution in
      begun(ProcessGroup(execution))
      // A command need not read its input: a pipe that it has closed is no failure.
      _ = try? await execution.standardInputWriter.write(input)
      try? await execution.standardInputWriter.finish()
    }
    return (result.terminationStatus, bytes(result.standardOutput))
  }
}
