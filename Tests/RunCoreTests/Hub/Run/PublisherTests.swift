@testable import RunCore
import Testing

@Suite("The publisher of a hub")
struct PublisherTests {
  private var publisher = Publisher()

  private mutating func capture(at now: BusTime) -> Snapshot {
    publisher.capture(
      ControlState(), term: 3, goal: nil, metrics: RunMetrics(), isRecovering: false, isClockStopped: false, at: now)
  }

  private static func seconds(_ count: Int64) -> BusTime { .zero + .seconds(count) }

  @Test("Each captured snapshot has the next tick; a captured one is not published yet")
  mutating func ticks() {
    let first = capture(at: .zero)
    let second = capture(at: .zero)
    #expect([first, second].map(\.order) == (1...2).map { SnapshotOrder(term: 3, revision: 0, tick: $0) })
    #expect(publisher.published == nil)
    publisher.publish(second)
    #expect(publisher.published == second)
  }

  @Test("Snapshots are due at whole multiples of three seconds after the anchor, also when a timer is late")
  mutating func schedule() {
    #expect(publisher.deadline == nil)
    publisher.setAnchor(isRunning: true, at: Self.seconds(10))
    #expect(publisher.nextTick == Self.seconds(13))
    let isDue = publisher.tick(isTicking: true, at: Self.seconds(17))
    #expect(isDue && publisher.nextTick == Self.seconds(19))
    let isDueInPause = publisher.tick(isTicking: false, at: Self.seconds(19))
    #expect(!isDueInPause && publisher.deadline == nil)
  }

  @Test("A paused run has no schedule, and a suspended one waits for the next anchor")
  mutating func suspended() {
    publisher.setAnchor(isRunning: false, at: .zero)
    #expect(publisher.nextTick == nil)
    publisher.setAnchor(isRunning: true, at: .zero)
    publisher.suspendTicks()
    #expect(publisher.nextTick == nil)
  }

  @Test("A snapshot is repeated for a new subscriber; those of the next 100 ms share one repetition")
  mutating func repetition() {
    #expect(publisher.repeatForSubscriber(at: .zero, speed: .realTime) == nil)
    let snapshot = capture(at: .zero)
    publisher.publish(snapshot)
    #expect(publisher.repeatForSubscriber(at: .zero, speed: .realTime) == snapshot)
    for milliseconds in [20, 40] as [Int64] {
      #expect(publisher.repeatForSubscriber(at: .milliseconds(milliseconds), speed: .realTime) == nil)
    }
    #expect(publisher.deadline == .milliseconds(100))
    #expect(publisher.dueRepetition(at: .milliseconds(99), speed: .realTime) == nil)
    #expect(publisher.dueRepetition(at: .milliseconds(100), speed: .realTime) == snapshot)
    #expect(publisher.deadline == nil)
  }

  @Test("A publication replaces a repetition that is due")
  mutating func replaced() {
    let first = capture(at: .zero)
    publisher.publish(first)
    _ = publisher.repeatForSubscriber(at: .zero, speed: .realTime)
    _ = publisher.repeatForSubscriber(at: .milliseconds(1), speed: .realTime)
    let second = capture(at: .milliseconds(2))
    publisher.publish(second)
    #expect(publisher.dueRepetition(at: .milliseconds(200), speed: .realTime) == nil)
  }
}
