import Foundation
import Testing
import TestSupport

// Serialized, so that each campaign has all cores of the machine.
@Suite("Phones that are killed in a room go on with it", .serialized)
struct RoomKillTests {
  /// `make soak ROOMKILLS=300` runs for longer than `make test`; `SEED` repeats a printed line.
  private static let environment = ProcessInfo.processInfo.environment
  private static let kills = environment["RUNBUS_SOAK_ROOM_KILLS"].flatMap { Int($0) } ?? 12
  private static let seed =
    environment["RUNBUS_SOAK_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...UInt64(UInt32.max))

  @Test("Killed at every stage and back at once, all have the same verdicts and result, and nothing counts twice")
  func killed() async throws {
    let account = try await RoomKillCampaign.play(RoomKillCampaign.Plan(kills: Self.kills, seed: Self.seed))
    #expect(account.lost == 0 && account.twice == 0)
    #expect(account.differences == [])
    #expect(account.rooms > 0 && account.entries > 0)
  }
}
