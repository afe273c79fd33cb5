import Testing

@testable import RunCore

@Suite("How long a log keeps rooms")
struct LogKeepingTests {
  private typealias Sweep = LogSweep<Int>
  private let now = LogTime.zero + .seconds(1000 * 24 * 3600)

  private func at(_ days: Double) -> LogTime { now - BusDuration(seconds: days * 24 * 3600) }
  private func sweep(_ ages: [Double], looked: Double, keeping ranRooms: Int = 2) -> Sweep {
    Sweep(
      ages.enumerated().map { Sweep.Dated(room: $0, newest: at($1)) }, looked: at(looked), at: now, keeping: ranRooms)
  }

  @Test("An entry may be missing once it is four days old and its room was looked at, and not before")
  func missing() {
    #expect(LogKeeping.mayLack(at(4.1), looked: at(4), at: now))
    #expect(!LogKeeping.mayLack(at(4.1), looked: at(4.2), at: now))
    // Whatever the file says of what was looked at.
    #expect(!LogKeeping.mayLack(at(3.9), looked: now, at: now))
    #expect(!LogKeeping.mayLack(at(3.9), looked: .distantFuture, at: now))
    #expect(!LogKeeping.mayLack(at(-100), looked: .distantFuture, at: now))
  }

  @Test("A room is looked at once it is four days old, the oldest first")
  func due() {
    let sweep = sweep([1, 3.9, 4.1, 6, 5], looked: 10)
    #expect(sweep.due.map(\.room) == [3, 4, 2] && sweep.crowd.isEmpty && sweep.expired.isEmpty)
    #expect(sweep.looked == at(4))
    #expect(self.sweep([4.1, 6, 5], looked: 4.5).due.map(\.room) == [0])
  }

  @Test("A room that was looked at goes after 400 days, and is looked at again among too many, the newest first")
  func looked() {
    #expect(sweep([5, 399, 401], looked: 4).expired == [2])
    #expect(sweep([5, 399, 401], looked: 4).crowd.isEmpty)
    #expect(sweep([5, 399, 401, 7], looked: 4).crowd == [0, 3, 1])
  }

  @Test("The time up to which rooms were looked at is never set back")
  func order() {
    #expect(sweep([], looked: 2).looked == at(2))
    #expect(sweep([], looked: 9).looked == at(4))
  }
}
