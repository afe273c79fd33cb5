import Foundation
import Subprocess

#if canImport(System)
  import System
#else
  import SystemPackage
#endif

/// A measurement that could not be made.
struct BenchError: Error, CustomStringConvertible {
  let description: String
}

/// The two sides of a comparison. Each has a hub, an observer and a sender.
enum Side: String, CaseIterable, Sendable {
  case runBus = "RunBus"
  case reference = "C"
}

/// One round of one side: three processes with a directory of their own, and a flooding process if wanted.
struct Round: Sendable {
  var reference: String
  var sizes: Sizes
  var commands: Int
  var pauseMicroseconds: Int
  var caller: Caller
  /// A program that floods the hub meanwhile.
  var flooder: String?

  /// The results of a round.
  struct Result: Sendable {
    let hops: [Hops]
    let logBytes: Int?
    let flood: FloodRate?
  }

  func play(_ side: Side) async throws -> Result {
    let place = try Place.make()
    defer { place.remove() }
    let numbers = ["\(commands)", "\(pauseMicroseconds)"]
    let (executable, tail, store) =
      switch side {
      case .runBus: (CommandLine.arguments[0], ["--caller", caller.rawValue], "phone/node.sqlite")
      case .reference: (reference, sizes.words, "hops.sqlite")
      }
    let hubTail = side == .runBus ? [] : tail
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await keep(executable, ["hub", place.directory] + hubTail) }
      group.addTask { try await keep(executable, ["observer", place.directory] + tail) }
      group.addTask {
        try await Task.sleep(for: .seconds(120))
        throw BenchError(description: "a round of \(side.rawValue) did not end within two minutes")
      }
      let file = place.directory + "/flood"
      let before = try await flood(place, file, in: &group)
      async let output = collect(executable, ["sender", place.directory] + numbers + tail)
      let hops = try await output.split(separator: "\n").compactMap { Hops($0) }
      let rate = before.flatMap { before in FloodCount(file)?.rate(since: before) }
      let logBytes = place.logSize(of: store)
      group.cancelAll()
      while let result = await group.nextResult() { if case .failure(let error as BenchError) = result { throw error } }
      guard hops.count == commands else {
        throw BenchError(description: "\(side.rawValue) answered \(hops.count) of \(commands) commands")
      }
      return Result(hops: hops, logBytes: logBytes, flood: rate)
    }
  }

  /// Starts the flood and returns when it is under way.
  private func flood(
    _ place: Place, _ file: String, in group: inout ThrowingTaskGroup<Void, any Error>
  ) async throws -> FloodCount? {
    guard let flooder else { return nil }
    group.addTask { try await keep(flooder, [place.control, file]) }
    let deadline = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < deadline {
      if let count = FloodCount(file), count.isUnderWay { return count }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw BenchError(description: "the flood did not begin within 20 seconds")
  }
}

/// Runs a child until this task is cancelled. If a hub or an observer ends earlier, the measurement is void.
///
/// - Parameter started: Told the child's process.
func keep(
  _ executable: String, _ arguments: [String], started: @escaping @Sendable (Int32) -> Void = { _ in }
) async throws {
  var options = PlatformOptions()
  options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .seconds(2))]
  let result = try await run(
    .path(FilePath(executable)), arguments: Arguments(arguments), platformOptions: options, input: .none,
    output: .discarded, error: .string(limit: 4096)
  ) { execution in
    started(execution.processIdentifier.value)
  }
  guard !Task.isCancelled else { return }
  throw BenchError(description: "\(arguments[0]) ended: \(result.terminationStatus) \(result.standardError)")
}

/// The output of a child that reads `input` and ends.
func collect(
  _ executable: String, _ arguments: [String], input: String = "", limit: Int = 1 << 20
) async throws -> String {
  let result = try await run(
    .path(FilePath(executable)), arguments: Arguments(arguments), input: .string(input),
    output: .string(limit: limit), error: .string(limit: 4096))
  guard result.terminationStatus.isSuccess else {
    throw BenchError(description: "\(arguments[0]): \(result.terminationStatus) \(result.standardError)")
  }
  return result.standardOutput
}
