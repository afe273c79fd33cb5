import Foundation
import RunBus
import Testing
import TestSupport

// Serialized, so that each campaign has all cores of the machine.
@Suite("A phone that is killed again and again in a recorded run", .serialized)
struct CrashTests {
  /// `make soak CRASHES=200` runs for longer than `make test`; `SEED` repeats a printed line.
  private static let environment = ProcessInfo.processInfo.environment
  private static let crashes = environment["RUNBUS_SOAK_CRASHES"].flatMap { Int($0) }
  private static let seed = environment["RUNBUS_SOAK_SEED"].flatMap { UInt64($0) }

  /// Which node measures, and whether downtime counts.
  private static let kinds: [(NodeRole, Downtime)] = [(.watch, .running), (.watch, .paused), (.phone, .paused)]

  private static var plans: [CrashCampaign.Plan] {
    let seed = seed ?? .random(in: 1...UInt64(UInt32.max))
    return kinds.enumerated().map { index, kind in
      // Whole runs with about fifty crashes each, or the beginning of one.
      let share = crashes.map { $0 / kinds.count + (index < $0 % kinds.count ? 1 : 0) }
      return CrashCampaign.Plan(
        measuring: kind.0, downtime: kind.1, crashes: share ?? 3, crashesPerRun: 40,
        path: Recordings.path("fr310xt-pauses.tcx") ?? Recordings.synthetic,
        duration: share == nil ? .seconds(300) : nil, speed: share == nil ? 50 : 25, seed: seed)
    }
  }

  @Test("Its run ends like one whose phone never died, except for the downtime", arguments: plans)
  func campaign(_ plan: CrashCampaign.Plan) async throws {
    var undisturbed = plan
    undisturbed.speed = 300
    let whole = try await Self.play(undisturbed, run: 0, crashes: 0)
    var (crashes, runs) = (0, 0)
    var (lost, missing, differences): ([String], [String], [String]) = ([], [], [])
    while crashes < plan.crashes {
      runs += 1
      let run = try await Self.play(plan, run: runs, crashes: min(plan.crashesPerRun, plan.crashes - crashes))
      try #require(run.crashes > 0, "nobody was killed")
      crashes += run.crashes
      let account = CrashAccount(run, against: whole, plan)
      lost += account.lostMarks
      missing += account.missing
      differences += account.differences
    }
    print(
      """
      crashes \(crashes), runs \(runs), the \(plan.measuring.rawValue) measures, downtime \(plan.downtime.rawValue): \
      lost transitions \(lost.count), samples missing \(missing.count), differences \(differences.count), \
      recording \(plan.recording), seed \(plan.seed)
      """)
    #expect(whole.records == 1 && whole.record["route"]?.array?.count == whole.route.count)
    #expect(whole.marks.count(where: { $0.revision != nil }) >= 2 && whole.readings.count > 100)
    #expect(lost.isEmpty, "\(lost.prefix(5))")
    #expect(missing.isEmpty, "\(missing.count): \(missing.prefix(5))")
    #expect(differences.isEmpty, "\(differences.count): \(differences.prefix(5))")
  }

  private static func play(_ plan: CrashCampaign.Plan, run: Int, crashes: Int) async throws -> CrashedRun {
    try await withTestBus { bus in
      var campaign = try CrashCampaign(bus, plan, run: run)
      return try await campaign.run(crashes: crashes)
    }
  }
}

extension CrashCampaign.Plan: CustomTestStringConvertible {
  /// A real run where there are recordings beside the checkout, the modelled one otherwise.
  var recording: String { (path as NSString).lastPathComponent }
  var testDescription: String {
    "\(crashes) crashes in \(recording), the \(measuring.rawValue) measures, downtime \(downtime.rawValue), seed \(seed)"
  }
}
