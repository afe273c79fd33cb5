import Foundation
import Testing
import TestSupport

/// The results of one or several campaigns, printed as one line.
struct CampaignLine: Sendable {
  /// The campaign's window and seed; `nil` for several.
  private var plan: ChaosCampaign.Plan?
  private var campaigns = 1
  private var kills = 0
  private var deaths: [String: Int] = [:]
  private var stops = 0
  private var faults: [String: Int] = [:]
  private var commands = 0
  private var outcomes: [String: Int] = [:]
  private var shells = 0
  private var turnedAway = 0
  private var beganAnew = 0
  private var untold = 0
  private var lost = 0
  private var doubled = 0
  private var outOfOrder = 0
  private var wrong = 0
  /// How many states the observers have shown.
  private var observed = 0
  private var wrongMembers = (count: 0, judged: 0, held: 0)
  private var deeds: [String: WrongMembers.Deeds] = [:]
  private var weight = HubWeight()
  private let began = ContinuousClock.now

  /// Creates an empty line.
  init() { campaigns = 0 }

  init(_ campaign: ChaosCampaign, _ account: CrewAccount) {
    plan = campaign.plan
    (kills, stops) = (campaign.kills, campaign.stops)
    for member in campaign.crew.members { deaths[member.device] = member.lives.count - 1 }
    // With wrong members the phone began one more incarnation after it ended properly.
    if campaign.plan.wrong > 0 { deaths["phone", default: 1] -= 1 }
    for (kind, count) in campaign.faults { faults[kind.rawValue] = count }
    (commands, outcomes, shells) = (account.commands, account.outcomes, campaign.crew.oneShots.count)
    (untold, lost, doubled) = (account.untold.count, account.lost.count, account.doubled.count)
    (outOfOrder, wrong) = (account.outOfOrder.count, account.wrong.count + campaign.complaints.count)
    (turnedAway, beganAnew) = (account.turnedAway, account.beganAnew)
    wrongMembers = (plan?.wrong ?? 0, account.wrongMembers.judged, account.wrongMembers.held)
    observed = campaign.observed
    (deeds, weight) = (campaign.wrong.deeds, campaign.weight)
  }

  /// Adds another campaign.
  mutating func add(_ other: CampaignLine) {
    campaigns += other.campaigns
    kills += other.kills
    deaths.merge(other.deaths, uniquingKeysWith: +)
    stops += other.stops
    faults.merge(other.faults, uniquingKeysWith: +)
    commands += other.commands
    outcomes.merge(other.outcomes, uniquingKeysWith: +)
    shells += other.shells
    untold += other.untold
    observed += other.observed
    lost += other.lost
    doubled += other.doubled
    outOfOrder += other.outOfOrder
    wrong += other.wrong
    turnedAway += other.turnedAway
    beganAnew += other.beganAnew
    wrongMembers.count += other.wrongMembers.count
    wrongMembers.judged += other.wrongMembers.judged
    wrongMembers.held += other.wrongMembers.held
    for (habit, deeds) in other.deeds { self.deeds[habit, default: .init()].add(deeds) }
    weight.add(other.weight)
  }
}

extension CampaignLine: CustomStringConvertible {
  var description: String {
    func list(_ counts: [String: Int]) -> String {
      counts.isEmpty
        ? "" : " (" + counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ") + ")"
    }
    let faulty = faults.values.reduce(0, +)
    var parts = ["kills \(kills)\(list(deaths))"]
    if stops > 0 { parts.append("SIGSTOPs \(stops)") }
    if faulty > 0 { parts.append("link faults \(faulty)\(list(faults))") }
    if let plan { parts.append("window \(plan.debounce) ms") }
    parts += ["commands \(commands)\(list(outcomes))", "shells \(shells)", "verdicts untold at a kill \(untold)"]
    if wrongMembers.count > 0 {
      parts.append("wrong members \(wrongMembers.count)")
      parts.append("their commands \(wrongMembers.judged) judged and \(wrongMembers.held) held at the end")
      parts += ["presses turned away \(turnedAway)", "streams begun anew \(beganAnew)"]
    }
    if observed > 0 { parts.append("states on top, page and its lock screen \(observed)") }
    parts += ["lost \(lost)", "doubled \(doubled)", "out of order \(outOfOrder)", "else wrong \(wrong)"]
    if let plan {
      parts.append("seed \(plan.seed)")
    } else {
      parts.append("in \(campaigns) campaigns and \((.now - began).formatted(.time(pattern: .minuteSecond)))")
    }
    return parts.joined(separator: ", ")
  }

  /// What the wrong members did and what the phone held because of them; empty if there were none.
  var table: String {
    guard wrongMembers.count > 0 else { return "" }
    func list(_ counts: [String: Int]) -> String {
      counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
    let rows = deeds.sorted { $0.key < $1.key }.map { habit, deeds in
      "\(habit) | \(deeds.members) | \(deeds.killed) | \(deeds.frames) | \(list(deeds.refused)) | \(list(deeds.verdicts))"
    }
    return (["habit | members | killed | frames | refused with | verdicts"] + rows + [weight.description])
      .joined(separator: "\n")
  }
}

extension ChaosCampaign {
  /// Plays a plan on a bus of its own and prints the result.
  static func play(_ plan: Plan) async throws -> (CrewAccount, CampaignLine) {
    try await withTestBus { bus in
      var campaign = try ChaosCampaign(bus, plan)
      try await campaign.run()
      let account = try CrewAccount(campaign.crew, hasWrongMembers: plan.wrong > 0)
      let line = CampaignLine(campaign, account)
      print(line)
      for complaint in campaign.complaints { Issue.record("\(plan.testDescription): \(complaint)") }
      if plan.wrong > 0 { campaign.weight.expectWithinBounds("\(plan.testDescription)") }
      return (account, line)
    }
  }
}

extension ChaosCampaign.Plan: CustomTestStringConvertible {
  var testDescription: String {
    let wrong = (isPaired ? ", paired" : "") + (wrong > 0 ? ", \(wrong) wrong members" : "")
    return "\(kills) kills, \(stops) stops, \(faults) link faults\(wrong), a window of \(debounce) ms, seed \(seed)"
  }
}
