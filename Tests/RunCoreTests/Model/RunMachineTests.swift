@testable import RunCore
import Testing

@Suite("Which commands are legal in which phase")
struct RunMachineTests {
  @Test("The table of legal steps of docs/protocol.md")
  func table() {
    let rows: [(phase: RunPhase, start: String, pause: String, resume: String, stop: String, lap: String)] = [
      (.idle, "running", "illegal", "illegal", "illegal", "illegal"),
      (.running, "repeat", "paused", "repeat", "completed", "running"),
      (.paused, "illegal", "repeat", "running", "completed", "paused"),
      (.completed, "running", "illegal", "illegal", "repeat", "illegal"),
    ]
    func step(_ phase: RunPhase, _ kind: CommandKind) -> String {
      var machine = RunMachine(phase: phase)
      if machine.isRepeat(kind) { return "repeat" }
      return machine.apply(kind) ? machine.phase.rawValue : "illegal"
    }
    for row in rows {
      let cells = [row.start, row.pause, row.resume, row.stop, row.lap]
      for (kind, cell) in zip([CommandKind.start, .pause, .resume, .stop, .lap], cells) {
        #expect(step(row.phase, kind) == cell, "\(kind) while \(row.phase)")
      }
    }
  }

  @Test("Clock, ledger and machine agree on the phase after every sequence of transitions of one run")
  func oneRun() {
    let kinds = CommandKind.allCases
    let author = Author(source: .phone, deviceID: "phone", commandID: CommandID(high: 0, low: 1))
    for sequence in 0..<(5 * 5 * 5 * 5 * 5) {
      var machine = RunMachine()
      var stopwatch = Stopwatch()
      var track = PhaseTrack()
      var rest = sequence
      for place in 1...5 {
        let kind = kinds[rest % 5]
        rest /= 5
        let time = BusTime.zero + .seconds(Int64(place))
        // Nothing follows the stop of a run.
        if machine.phase != .completed { _ = machine.apply(kind) }
        stopwatch.apply(kind, at: time)
        track.insert(Transition(kind: kind, revision: 0, change: author), at: time, position: UInt64(place))
        #expect(stopwatch.phase == machine.phase)
        #expect(track.phase(at: time) == machine.phase)
      }
    }
  }
}
