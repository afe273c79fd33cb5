import RunCore
import Testing

@Suite("Many who seek at once")
struct SeekerWorldTests {
  @Test(
    "Nobody is in two rooms, pairs agree, all ends, and nearly as many are matched as by an ideal queue",
    arguments: [(0.05, 300), (0.5, 300), (5, 300)], [1, 2] as [UInt64])
  func honest(rate: (perSecond: Double, count: Int), seed: UInt64) {
    var world = SeekerWorld(seed: seed, count: rate.count, perSecond: rate.perSecond)
    world.run()
    #expect(world.problems == [])
    let matched = Self.expectAgreement(world)
    let ideal = world.ideal()
    #expect(Double(matched) >= Double(ideal) - 0.03 * Double(rate.count), "\(matched) against \(ideal)")
    #expect(Double(world.entries) <= 9 * Double(rate.count), "entries are few: \(world.entries)")
  }

  @Test(
    "Seekers who vanish, do not show up or lie cost others time, and no more", arguments: 1...6 as ClosedRange<UInt64>)
  func hostile(seed: UInt64) {
    let rate = [0.05, 0.5, 5][Int(seed % 3)]
    var world = SeekerWorld(seed: seed, count: 300, perSecond: rate, hostile: 0.3)
    world.run()
    #expect(world.problems == [])
    let matched = Self.expectAgreement(world)
    let ideal = world.ideal()
    #expect(Double(matched) >= 0.8 * Double(ideal), "\(matched) against \(ideal)")
  }

  /// Both of each pair name the room in which they run, and no other.
  ///
  /// - Returns: How many honest ones run.
  private static func expectAgreement(_ world: SeekerWorld) -> Int {
    let runners = Dictionary(uniqueKeysWithValues: world.runners.map { ($0.id, $0) })
    var matched = 0
    for (room, machine) in world.rooms where machine.result != nil {
      #expect(machine.state.members.count == 2)
      for member in machine.state.members {
        #expect(runners[member.id]?.matched == room)
        #expect(runners[member.id]?.rooms == [room])
        if runners[member.id]?.manner == .honest { matched += 1 }
      }
    }
    return matched
  }
}
