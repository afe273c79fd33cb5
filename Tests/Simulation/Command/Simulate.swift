import ArgumentParser
import RunCore
import Simulation

@main
struct Simulate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs RunBus's cores in simulated worlds, each drawn from its seed, and checks what is promised.",
    discussion: "Exits 1 when a promise was broken, or when a campaign of 500 seeds has not seen all that it checks.")

  @Option(help: "The seeds: 7, or 1..500.") var seeds = SeedRange(1...500)
  @Option(name: .customLong("seed"), help: "One seed.") var seed: UInt64?
  @Option(help: "How long there is trouble in a world, in simulated hours.") var hours = 1.0
  @Option(help: "How many worlds run side by side.") var jobs = 2
  @Option(help: "Stop after so many seeds with violations; 0 is never.") var failures = 5
  @Option(help: "Which worlds have one to three members that break the rules: none, mixed (half of them), always.")
  var wrong = WrongMembers.mixed
  @Flag(help: "Rooms of runners in place of buses; --hours and --wrong do not count.") var rooms = false
  @Flag(help: "Print each event of the first seed.") var trace = false
  @Flag(help: "Print how often each thing was seen.") var tally = false
  @Option(help: "How many runs may go into making a failing seed's trace short.") var shrinkRuns = 300

  func validate() throws {
    guard hours > 0, hours <= 1000 else { throw ValidationError("--hours is between 0 and 1000") }
    guard (1...256).contains(jobs) else { throw ValidationError("--jobs is between 1 and 256") }
  }

  func run() async throws {
    let seeds = seed.map { $0...$0 } ?? seeds.range
    if rooms { return try await runRooms(seeds) }
    var options = WorldOptions(trouble: BusDuration(seconds: hours * 3600), wrong: wrong)
    if trace {
      options.isTraced = true
      var world = World(seed: seeds.lowerBound, options: options)
      world.run()
      for line in world.lines { print(line) }
      for fault in world.faults { print("VIOLATION \(fault)") }
      if !world.faults.isEmpty { throw ExitCode(1) }
      return
    }
    var campaign = Campaign(seeds: seeds, options: options, jobs: jobs, failuresMax: failures)
    await campaign.run()
    if let first = campaign.failed.min(by: { $0.seed < $1.seed }), shrinkRuns > 0 {
      var shrinking = Shrinking(first, options: options, runsMax: shrinkRuns)
      shrinking.run()
      print(shrinking.report)
    }
    if tally {
      for (name, count) in campaign.tally.counts.sorted(by: { $0.key < $1.key }) { print("\(count)\t\(name)") }
    }
    let unseen = seeds.count >= 500 ? campaign.unseen : []
    for name in unseen { print("never seen: \(name)") }
    print(campaign.summary)
    if !campaign.failed.isEmpty || !unseen.isEmpty { throw ExitCode(1) }
  }
}

extension Simulate {
  private func runRooms(_ seeds: ClosedRange<UInt64>) async throws {
    if trace {
      var world = RoomWorld(seed: seeds.lowerBound)
      world.isTraced = true
      world.run()
      for fault in world.faults { print("VIOLATION \(fault)") }
      if !world.faults.isEmpty { throw ExitCode(1) }
      return
    }
    var campaign = RoomCampaign(seeds: seeds, jobs: jobs, failuresMax: failures)
    await campaign.run()
    if tally { for (name, count) in campaign.counts.sorted(by: { $0.key < $1.key }) { print("\(count)\t\(name)") } }
    let unseen = seeds.count >= 500 ? campaign.unseen : []
    for name in unseen { print("never seen: \(name)") }
    print(campaign.summary)
    if campaign.failed > 0 || !unseen.isEmpty { throw ExitCode(1) }
  }
}

extension WrongMembers: ExpressibleByArgument {}

/// A seed, or seeds from one to another.
struct SeedRange: ExpressibleByArgument, CustomStringConvertible {
  let range: ClosedRange<UInt64>

  init(_ range: ClosedRange<UInt64>) { self.range = range }

  init?(argument: String) {
    let ends = argument.split(separator: ".", omittingEmptySubsequences: true).map { UInt64($0) }
    guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2, first <= last else { return nil }
    range = first...last
  }

  var description: String { "\(range.lowerBound)..\(range.upperBound)" }
  var defaultValueDescription: String { description }
}
