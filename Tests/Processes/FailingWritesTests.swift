import Foundation
import Testing
import TestSupport

@Suite(
  "Writes that fail", .serialized, .enabled("needs /usr/bin/gcc on Linux, and no sanitizer") { FailingCalls.areThere })
struct FailingWritesTests {
  /// `make soak WRITES=355` goes over all positions evenly, and `make test` tries a few.
  private static let writes = ProcessInfo.processInfo.environment["RUNBUS_SOAK_WRITES"].flatMap { Int($0) }
  /// How many runs there are at a time.
  private static let width = 3

  @Test("Whichever write, sync or renaming fails, nothing that was told is lost, and every node runs again")
  func campaign() async throws {
    guard let writes = Self.writes else {
      _ = try await Self.play(FailingWrite.samples)
      return
    }
    let counted = try await Self.play(FailingWrite.lives).runs.map { (life: $0.fault, calls: $0.counts) }
    for (life, calls) in counted { print("\(life): \(calls)") }
    try #require(counted.count == FailingWrite.lives.count)
    print(try await Self.play(FailingWrite.spread(writes, over: counted)).line)
  }

  /// Plays failing writes, a few at a time; each that breaks a promise is an issue.
  private static func play(
    _ faults: [FailingWrite]
  ) async throws -> (runs: [FailingWriteRun], line: FailingWritesLine) {
    try await withThrowingTaskGroup(of: FailingWriteRun?.self) { group in
      var (left, runs) = (faults[...], [FailingWriteRun]())
      let line = Mutexed(FailingWritesLine())
      func next() {
        guard let fault = left.popFirst() else { return }
        group.addTask {
          do {
            let (run, account) = try await FailingWriteRun.play(fault)
            account.expectAllIsWell("\(fault)")
            for complaint in run.complaints { Issue.record("\(fault): \(complaint)") }
            line.withLock { $0.add(run, account) }
            return run
          } catch {
            Issue.record("\(fault): \(error)")
            line.withLock { $0.addUnfinished() }
            return nil
          }
        }
      }
      for _ in 0..<width { next() }
      for try await run in group {
        if let run { runs.append(run) }
        next()
      }
      return (runs, line.withLock { $0 })
    }
  }
}

/// The results of failing writes, printed as one line.
private struct FailingWritesLine: CustomStringConvertible, Sendable {
  private var (runs, failed, unfinished) = (0, 0, 0)
  private var kinds: [String: Int] = [:]
  private var endings: [String: Int] = [:]
  private var (commands, lost, doubled, wrong) = (0, 0, 0, 0)
  private let began = ContinuousClock.now

  mutating func add(_ run: FailingWriteRun, _ account: CrewAccount) {
    runs += 1
    kinds["\(run.fault.kind) \(run.fault.mode)", default: 0] += 1
    if run.hasFailed { failed += 1 }
    switch run.ending {
    case .exited(let status): endings["with status \(status)", default: 0] += 1
    default: endings["killed", default: 0] += 1
    }
    commands += account.commands
    (lost, doubled) = (lost + account.lost.count, doubled + account.doubled.count)
    wrong += account.wrong.count + account.outOfOrder.count + run.complaints.count
  }

  mutating func addUnfinished() { (runs, unfinished) = (runs + 1, unfinished + 1) }

  var description: String {
    func list(_ counts: [String: Int]) -> String {
      counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
    return """
      failing writes \(runs) (\(list(kinds))), of which \(failed) were reached, nodes ended \(list(endings)), \
      commands \(commands), lost \(lost), doubled \(doubled), else wrong \(wrong), not run again \(unfinished), \
      in \((.now - began).formatted(.time(pattern: .minuteSecond)))
      """
  }
}
