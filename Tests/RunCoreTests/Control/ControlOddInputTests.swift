import Testing

@testable import RunCore

/// No input from outside stops the hub, and each command gets one verdict.
@Suite("Odd presses")
struct ControlOddInputTests {
  @Test("at the limits of time are judged")
  func endsOfTime() {
    let times: [Int64] = [.min, .min + 1, -1, 0, 1, 1 << 40, .max - 1, .max]
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<300 {
      var bus = DrivenArbiter()
      var presses: [AcceptedCommand] = []
      for number in 1...12 as ClosedRange<UInt64> {
        let moments = [times.randomElement(using: &generator)!, times.randomElement(using: &generator)!].sorted()
        presses.append(
          AcceptedCommand(
            command: Command(
              id: .number(number), kind: CommandKind.allCases.randomElement(using: &generator)!, source: .shell,
              runID: .number(number % 4),
              base: ObservedRevision(revision: .max - number % 2, commandID: .number(number % 3))),
            deviceID: number % 2 == 0 ? .phone : .watch,
            origin: .store(StoreID(high: 0, low: number % 2)),
            sequence: .max - number, pressedAt: BusTime(nanoseconds: moments[0]),
            arrivedAt: BusTime(nanoseconds: moments[1]), stopFollows: number % 5 == 0))
      }
      for press in presses.sorted(by: { $0.arrivedAt < $1.arrivedAt }) { bus.arrive(press) }
      bus.finish()
      #expect(bus.answers.count + bus.accepted.count == presses.count)
      #expect(bus.accepted.allSatisfy { $0.class == .held })
    }
  }

  @Test("with the same id are each judged")
  func sameID() {
    var bus = DrivenArbiter()
    for time in [0, 100, 700, 800] as [Int64] { bus.arrive(press(.start, at: time, id: 1, run: 1, sequence: 1)) }
    bus.finish()
    #expect(bus.answers.count == 4)
    #expect(bus.arbiter.control.revision == 1)
  }

  @Test("by the thousand in one window are judged in one fold", arguments: [CommandKind.lap, .pause])
  func chattering(kind: CommandKind) {
    var bus = Transcript.running
    let count = 1000
    for number in 0..<count {
      bus.press(number % 2 == 0 ? kind : .resume, .watch, at: 10_000 + Int64(number) / 2)
    }
    #expect(bus.settle().count == count)
    #expect(bus.control.revision == 1)
  }

  @Test("that made more transitions than are remembered still leave one run")
  func manyTransitions() {
    var bus = Transcript.running
    for number in 0..<700 as Range<Int64> {
      bus.press(number % 2 == 0 ? .pause : .resume, .watch, at: 10_000 + number * 600)
    }
    _ = bus.settle()
    #expect(bus.control.revision == 701)
    #expect(bus.control.runID == .number(100))
    #expect(bus.control.transitions.count <= ControlHistory.transitionsMax)
  }
}
