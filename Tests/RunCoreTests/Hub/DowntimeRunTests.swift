@testable import RunCore
import Testing

@Suite("A whole run that was pressed while its hub was dead, and asks about another run")
struct DowntimeRunTests {
  private static let other = RunID(high: 7, low: 7)

  /// A hub that died at 9.5 s of a run, is back at a minute, and asks; the watch is here again.
  private func asked() -> HubStage {
    var hub = HubStage.with("watch")
    hub.startRun()
    hub.passes(to: .zero + .seconds(10))
    var disk = HubDisk()
    disk.commit(hub.durable)
    return HubStage(history: disk.history, now: .zero + .seconds(60), recovery: .ask).met(by: "watch")
  }

  /// Sends commands of another run, with the second at which each was pressed.
  private func sends(_ presses: [(CommandKind, at: Int64, stopFollows: Bool)], to hub: inout HubStage) -> [String] {
    var lines: [String] = []
    for (place, press) in presses.enumerated() {
      let command = hub.command(press.0, by: "watch", id: 70 + UInt64(place), runID: Self.other)
      let age = hub.now - BusTime.zero - .seconds(press.at)
      lines += hub.says(
        "watch",
        .command(
          CommandTransmission(
            command: command, sequence: UInt64(place) + 2, age: age, stopFollows: press.stopFollows)))
      lines += hub.commitsAll()
    }
    return lines
  }

  private func judged(_ lines: [String]) -> [String] {
    lines.flatMap { $0.dropFirst("commit: ".count).split(separator: ", ") }.filter { $0.hasPrefix("judge") }.map {
      String($0)
    }
  }

  // Once broken: While a hub asked about a run, a whole run that was pressed while it was dead was judged: its lap
  // counted for a run that the answer could end before it, because only single presses waited for the answer.
  @Test("It is judged after the answer: it overlaps the run that goes on, and not the one that is finished")
  func whole() {
    for (answer, revision) in [(RecoveryAnswer.finish, 2), (.resume, 1)] {
      var hub = asked()
      let lines = sends(
        [(.start, at: 20, stopFollows: true), (.lap, at: 25, stopFollows: true), (.stop, at: 30, stopFollows: false)],
        to: &hub)
      #expect(judged(lines + hub.passes(.seconds(10))) == [])
      #expect(hub.core.isRecovering)
      let after = hub.feed(.recover(answer)) + hub.commitsAll() + hub.passes(.seconds(1))
      let own = ["start", "lap", "stop"].map { "judge \($0) applied \(revision)" }
      #expect(judged(after).suffix(3) == own[...], "\(answer)")
      let conflicts = hub.durable.compactMap { operation in
        if case .expectRecord(let record) = operation, record.runID == Self.other { record.isConflicted } else { nil }
      }
      #expect(conflicts == [answer == .resume], "\(answer)")
    }
  }

  @Test("So are the presses of one whose stop is not expected any more")
  func lost() {
    for (answer, isOn) in [(RecoveryAnswer.finish, false), (.resume, true)] {
      var hub = asked()
      let lines = sends([(.start, at: 20, stopFollows: true), (.lap, at: 25, stopFollows: false)], to: &hub)
      #expect(judged(lines + hub.passes(.seconds(10))) == [])
      let after = judged(hub.feed(.recover(answer)) + hub.commitsAll() + hub.passes(.seconds(1)))
      #expect(after.contains("judge start coalesced 1") == isOn, "\(answer): \(after)")
      #expect(after.count == (isOn ? 2 : 3), "\(answer): \(after)")
    }
  }
}
