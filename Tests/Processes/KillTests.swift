import Foundation
import Testing
import TestSupport

// Serialized, so that each campaign has all cores of the machine.
@Suite("Killed at random, nothing is lost, doubled or out of order", .serialized)
struct KillTests {
  /// `make soak KILLS=500` runs for longer than `make test`; `SEED` repeats a printed line.
  private static let environment = ProcessInfo.processInfo.environment
  private static let kills = environment["RUNBUS_SOAK_KILLS"].flatMap { Int($0) }
  private static let seed = environment["RUNBUS_SOAK_SEED"].flatMap { UInt64($0) }

  /// Small windows allow many verdicts; the last plan has the usual window.
  private static var plans: [ChaosCampaign.Plan] {
    let seed = seed ?? .random(in: 1...UInt64(UInt32.max))
    let kills = kills ?? 12
    return [(20, kills / 2), (0, kills / 4), (500, kills - kills / 2 - kills / 4)]
      .map { ChaosCampaign.Plan(kills: $1, debounce: $0, hasSensors: $0 == 0, seed: seed) }
  }

  @Test("Four devices and shells press while any process is killed at any moment", arguments: plans)
  func campaign(_ plan: ChaosCampaign.Plan) async throws {
    let (account, _) = try await ChaosCampaign.play(plan)
    account.expectAllIsWell()
    #expect(account.commands > 0)
  }
}
