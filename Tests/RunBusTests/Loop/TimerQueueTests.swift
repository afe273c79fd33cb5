import RunCore
import SystemC
import Testing

@testable import RunBus

@Suite("The timers of a loop")
struct TimerQueueTests {
  @Test("The next deadline is that of the earliest timer, however often deadlines move")
  func random() {
    let queue = TimerQueue()
    var generator = SeededGenerator(seed: 7)
    var timers = (0..<50).map { _ in queue.makeTimer {} }
    var now = BusTime.zero
    for _ in 0..<20_000 {
      let place = Int(generator.next() % 50)
      switch generator.next() % 8 {
      case 0: timers[place] = queue.makeTimer {}
      case 1: timers[place].deadline = nil
      case 2:
        now = now + BusDuration.milliseconds(Int64(generator.next() % 40))
        let due = timers.filter { $0.deadline.map { $0 <= now } ?? false }
        let taken = queue.takeDue(at: now)
        let takenTimes: [BusTime] = taken.compactMap(\.deadline)
        let dueTimes: [BusTime] = due.compactMap(\.deadline)
        #expect(takenTimes == dueTimes.sorted())
        #expect(taken.allSatisfy { timer in due.contains { $0 === timer } })
        for timer in taken { timer.fire() }
      default: timers[place].deadline = now + .milliseconds(Int64(generator.next() % 100_000))
      }
      let deadlines: [BusTime] = timers.compactMap(\.deadline)
      guard queue.next == deadlines.min() else {
        Issue.record("\(String(describing: queue.next)) is not the next deadline")
        return
      }
    }
  }

  @Test("A far deadline that is set again and again leaves no more than a few places")
  func bound() {
    let queue = TimerQueue()
    let timer = queue.makeTimer {}
    for second in 0..<10_000 as Range<Int64> {
      timer.deadline = .zero + .seconds(second + 600)
      timer.deadline = .zero + .seconds(second)
      #expect(queue.takeDue(at: .zero + .seconds(second)).count == 1)
      timer.fire()
    }
    #expect(queue.placeCount <= 128)
  }
}

@Suite("The pollers")
struct PollerTests {
  @Test("A poller reports readable descriptors until they are read or removed, and waits no longer than it is told")
  func readable() throws {
    try check(try PollPoller())
    try check(try SystemPoller())
  }

  private func check(_ made: some DescriptorPoller) throws {
    var poller = made
    defer { poller.close() }
    var ends: [[CInt]] = []
    for _ in 0..<3 {
      var pair: [CInt] = [-1, -1]
      #expect(pipe(&pair) == 0)
      ends.append(pair)
      poller.add(pair[0])
    }
    defer { for end in ends.joined() { close(end) } }
    func ready() -> Set<CInt> {
      var ready: Set<CInt> = []
      poller.wait(.milliseconds(1)) { ready.insert($0) }
      return ready
    }
    #expect(ready() == [])
    var byte: UInt8 = 1
    for pair in ends.prefix(2) { #expect(write(pair[1], &byte, 1) == 1) }
    #expect(ready() == [ends[0][0], ends[1][0]])
    #expect(read(ends[0][0], &byte, 1) == 1)
    #expect(ready() == [ends[1][0]])
    poller.remove(ends[1][0])
    #expect(ready() == [])
  }
}
