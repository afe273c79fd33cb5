import Foundation
import Testing
import TestSupport

// One campaign after the other: each has the machine's cores to itself.
@Suite("Killed at random, nothing is lost, doubled or out of order", .serialized)
struct KillTests {
  /// `make soak KILLS=500` has more time than `make test`; `SEED` repeats what a line named.
  private static let environment = ProcessInfo.processInfo.environment
  private static let kills = environment["RUNBUS_SOAK_KILLS"].flatMap { Int($0) }
  private static let seed = environment["RUNBUS_SOAK_SEED"].flatMap { UInt64($0) }

  /// Small windows let many verdicts be reached; the last plan has the usual one.
  private static var plans: [KillCampaign.Plan] {
    let seed = seed ?? .random(in: 1...UInt64(UInt32.max))
    let kills = kills ?? 12
    return [(20, kills / 2), (0, kills / 4), (500, kills - kills / 2 - kills / 4)]
      .map { KillCampaign.Plan(kills: $1, debounce: $0, hasSensors: $0 == 0, seed: seed) }
  }

  @Test("A stream of presses from four devices and shells, while any process is killed at any moment", arguments: plans)
  func campaign(_ plan: KillCampaign.Plan) async throws {
    let account = try await withTestBus { bus in
      var campaign = KillCampaign(bus, plan)
      try await campaign.run()
      let account = try CrewAccount(campaign.crew)
      print(account.line(for: campaign))
      return account
    }
    account.expectAllIsWell()
    #expect(account.commands > 0)
  }
}

extension KillCampaign.Plan: CustomTestStringConvertible {
  var testDescription: String { "\(kills) kills, a window of \(debounce) ms, seed \(seed)" }
}

extension CrewAccount {
  /// The campaign in one line.
  func line(for campaign: KillCampaign) -> String {
    let verdicts = outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    let lives = campaign.crew.members.map { "\($0.device) \($0.lives.count - 1)" }.joined(separator: ", ")
    return """
      kills \(campaign.kills) (\(lives)), window \(campaign.plan.debounce) ms, commands \(commands) (\(verdicts)), \
      shells \(campaign.crew.oneShots.count), verdicts untold at a kill \(untold.count), lost \(lost.count), \
      doubled \(doubled.count), out of order \(outOfOrder.count), seed \(campaign.plan.seed)
      """
  }
}
