import Foundation
import RunBus
import RunScripts
import Synchronization

/// Plays ``UpRunners`` and shows it as lines.
final class RunnersShow: RunnersFace {
  private let asJSON: Bool
  /// Why standard output could not be written.
  private let outputFailure = Mutex<Failure?>(nil)
  /// Yields when standard output has no reader any more.
  private let readerIsGone = AsyncStream.makeStream(of: Void.self)

  init(asJSON: Bool) { self.asJSON = asJSON }

  /// Plays the run to its end in a folder of its own, and prints the summary.
  ///
  /// - Throws: ``Failure`` when a phone died or did not do what it was asked, and ``QuietExit`` when the run was
  ///   interrupted, when the phones disagreed, or when standard output could not be written.
  func play(_ plan: RunnersPlan) async throws {
    let runners = UpRunners(plan, face: self)
    let result = await withTaskGroup(of: Void.self) { group in
      // The first signal ends the phones in good order, the second kills them, a third one ends this process.
      group.addTask { for await _ in Signals.stream(times: 2) { runners.end() } }
      group.addTask { for await _ in StandardDescriptors.readerIsGone() { runners.end() } }
      group.addTask { [readerIsGone] in for await _ in readerIsGone.stream { runners.end() } }
      let result = await runners.run()
      group.cancelAll()
      return result
    }
    // Sockets with too long a path are elsewhere.
    for directory in runners.runtimeDirectories { try? FileManager.default.removeItem(atPath: directory) }
    if let failure = result.failure { throw Failure(failure) }
    if result.isInterrupted { throw QuietExit(exitStatus: ExitStatus.interrupted) }
    if asJSON {
      say { try Output.jsonLine(RunnersLineJSON(event: "summary", body: RunnersJSON.Summary(result))) }
    } else {
      for line in RoomText.lines(result) { say { try Output.line(line) } }
    }
    if !result.differences.isEmpty { throw QuietExit(exitStatus: ExitStatus.failure) }
    if let failure = outputFailure.withLock({ $0 }) { throw QuietExit(exitStatus: failure.exitStatus) }
  }

  func show(_ news: RunnersNews) {
    if asJSON {
      let line = RunnersLineJSON(news) { RoomText.sentence($0, names: $1) }
      return say { try Output.jsonLine(line) }
    }
    for line in RoomText.lines(news) { say { try Output.line(line) } }
  }

  /// Writes to standard output. A failure is reported once and the run goes on to its end, unless the reader has gone.
  private func say(_ write: () throws -> Void) {
    do {
      try write()
    } catch let error as OutputError where !error.isClosedPipe {
      let isFirst = outputFailure.withLock { failure in
        defer { failure = failure ?? Failure(error) }
        return failure == nil
      }
      if isFirst { Output.complain("busnode: " + Tongue.say(.runGoesOn, ["what": error.message])) }
    } catch {
      readerIsGone.continuation.yield()
    }
  }
}

extension Failure {
  /// Why a run together did not come to its end.
  fileprivate init(_ failure: RunnersResult.Failure) {
    switch failure {
    case .died(let name, let ending, let errors):
      self.init(
        code: "nodeDied", message: Tongue.say(.phoneDied, ["name": name, "ending": ending.spoken]),
        exitStatus: ExitStatus.failure,
        details: errors.map { ErrorJSON(line: $0)?.error.message ?? $0 })
    case .late(let lack):
      self.init(code: "failure", message: Tongue.say(.lackInTime, ["what": lack]), exitStatus: ExitStatus.failure)
    case .refused(let name, let ask, let answer):
      self.init(
        code: "failure",
        message: Tongue.say(.wasRefused, ["name": name, "ask": ask, "reason": RoomText.sentence(answer)]),
        exitStatus: ExitStatus.failure)
    case .unasked(let name, let why):
      self.init(
        code: "failure", message: Tongue.say(.cannotBeAsked, ["name": name, "reason": why]),
        exitStatus: ExitStatus.failure)
    }
  }
}
