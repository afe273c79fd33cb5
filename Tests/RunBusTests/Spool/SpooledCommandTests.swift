import Foundation
import RunCore
import Testing

@testable import RunBus

@Suite("A spooled command keeps its kind and its press time")
struct SpooledCommandTests {
  private func seconds(_ count: Int64) -> BusTime { .zero + .seconds(count) }

  private func command(
    _ number: UInt64, at pressedAt: Int64 = 0, boot: String = "b", wall: Double = 0
  ) throws -> SpooledCommand {
    SpooledCommand(
      command: Command(id: CommandID(high: 0, low: number), kind: .pause, source: .shell),
      deviceID: DeviceID("shell"), pressedAt: seconds(pressedAt), bootID: boot, wallSeconds: wall)
  }

  @Test("Every field can be written and read back, also the largest numbers")
  func roundTrip() throws {
    let full = SpooledCommand(
      command: Command(
        id: CommandID(high: .max, low: 1), kind: .start, source: ControlSource(rawValue: "vélo"),
        runID: RunID(high: 1, low: .max),
        base: ObservedRevision(revision: 1 << 62, commandID: CommandID(high: 2, low: 3)),
        runOffset: BusDuration(nanoseconds: .max)),
      deviceID: DeviceID("watch"), pressedAt: BusTime(nanoseconds: 1 << 62), bootID: "boot",
      wallSeconds: 1_763_730_000.123_456, tries: .max)
    for value in [full, try command(7)] {
      #expect(try SpooledCommand(bytes: value.bytes) == value)
    }
  }

  @Test("Within a boot the age follows the monotonic clock, whatever wall time does")
  func sameBoot() throws {
    let pressed = try command(1, at: 100, wall: 5_000)
    for wall in [0.0, 5_000, 9_000_000, -.infinity, .nan] {
      let (age, isUncertain) = pressed.age(now: seconds(160), wallSeconds: wall, bootID: "b")
      #expect(age == .seconds(60))
      #expect(!isUncertain)
    }
    #expect(pressed.age(now: seconds(100), wallSeconds: 0, bootID: "b").age == .zero)
  }

  @Test("Across boots the age follows wall time, is uncertain and never negative")
  func otherBoot() throws {
    let pressed = try command(1, at: 100, wall: 5_000)
    for (wall, age) in [(5_090.5, 90.5), (5_000, 0), (4_000, 0), (-1e300, 0), (.nan, 0)] as [(Double, Double)] {
      let (found, isUncertain) = pressed.age(now: seconds(160), wallSeconds: wall, bootID: "c")
      #expect(found.seconds == age)
      #expect(isUncertain)
    }
    #expect(pressed.age(now: seconds(1), wallSeconds: 1e300, bootID: "c").age.nanoseconds == .max)
  }

  @Test("An unnamed boot, or a clock that shows less than at the press, counts as another boot")
  func doubtfulBoots() throws {
    let unnamed = try command(1, at: 100, boot: "", wall: 5_000)
    #expect(unnamed.age(now: seconds(160), wallSeconds: 5_010, bootID: "") == (.seconds(10), true))
    let ahead = try command(1, at: 100, wall: 5_000)
    #expect(ahead.age(now: seconds(99), wallSeconds: 5_010, bootID: "b") == (.seconds(10), true))
  }

  @Test("Press order: earlier boots first, the present boot last, and the monotonic clock within each")
  func order() throws {
    let ordered = [
      // The first boot; wall time was set back between the two presses.
      try command(9, at: 10, boot: "z", wall: 1_000),
      try command(1, at: 20, boot: "z", wall: 900),
      // The next boot.
      try command(5, at: 5, boot: "a", wall: 2_000),
      // The present boot; its wall time is wrong.
      try command(4, at: 1, boot: "now", wall: 10),
      try command(2, at: 2, boot: "now", wall: 5),
      try command(3, at: 2, boot: "now", wall: 4),
    ]
    for _ in 1...20 {
      #expect(SpooledCommand.inOrderOfPress(ordered.shuffled(), bootID: "now") == ordered)
    }
  }

  @Test("Without named boots wall time gives the order")
  func unnamedOrder() throws {
    let ordered = [
      try command(9, at: 50, boot: "", wall: 1), try command(1, at: 10, boot: "", wall: 2),
      try command(2, at: 10, boot: "", wall: 2),
    ]
    #expect(SpooledCommand.inOrderOfPress(ordered.reversed(), bootID: "") == ordered)
  }
}
