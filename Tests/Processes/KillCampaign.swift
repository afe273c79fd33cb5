import Foundation
import RunBus
import TestSupport

/// A crew that is pressed all the time and killed at random. What is pressed and who is killed when follows from a seed;
/// what the machine does between is the machine's.
struct KillCampaign {
  /// How a campaign goes.
  struct Plan: Sendable {
    /// How many processes are killed.
    var kills: Int
    /// The phone's window, in milliseconds.
    var debounce: Int
    /// Phone and watch measure: samples share their connections with the presses.
    var hasSensors = false
    var seed: UInt64
  }

  let plan: Plan
  private(set) var crew: Crew
  private(set) var kills = 0
  /// When the dead come back, by their place in the crew.
  private var backAt: [Int: ContinuousClock.Instant] = [:]
  private var dice: Dice
  /// What the run is, as far as whoever presses cares.
  private var guess = RunPhase.idle

  init(_ bus: TestBus, _ plan: Plan) {
    self.plan = plan
    crew = Crew(bus, debounce: plan.debounce)
    if plan.hasSensors {
      for index in [Crew.phone, Crew.watch] {
        crew.members[index].arguments += ["--synthetic", "--seed", "1", "--duration", "1h"]
      }
    }
    dice = Dice(seed: plan.seed &+ UInt64(plan.debounce))
  }

  /// Presses and kills until enough have died; at the end everybody is back, all is judged, and all have ended well.
  mutating func run() async throws {
    for index in crew.members.indices { crew.spawn(index) }
    for index in crew.members.indices { try await crew.isUp(index) }
    while kills < plan.kills {
      // The pace of whoever presses; nothing is waited for.
      try await pause(upTo: 30)
      for (index, at) in backAt.sorted(by: { $0.key < $1.key }) where at <= .now { bringBack(index) }
      switch roll(100) {
      case ..<4: visit()
      case ..<9: try await kill()
      default: crew.press(nextKind(), on: roll(crew.members.count))
      }
    }
    for index in backAt.keys.sorted() { bringBack(index) }
    try await crew.areInTouch()
    try await crew.drain()
    try await crew.end()
  }

  private mutating func roll(_ count: Int) -> Int { Int(dice.next() % UInt64(count)) }

  private mutating func pause(upTo milliseconds: Int) async throws {
    try await Task.sleep(for: .milliseconds(roll(milliseconds + 1)))
  }

  /// Mostly what makes sense now, sometimes anything: others press, too, and know no better.
  private mutating func nextKind() -> CommandKind {
    let kinds = CommandKind.allCases
    var kind = kinds[roll(kinds.count)]
    if roll(5) > 0 {
      switch (guess, roll(10)) {
      case (.idle, _), (.completed, _): kind = .start
      case (.running, ..<5): kind = .pause
      case (.running, ..<8), (.paused, ..<2): kind = .lap
      case (.paused, ..<8): kind = .resume
      case (.running, _), (.paused, _): kind = .stop
      }
    }
    var machine = RunMachine(phase: guess)
    _ = machine.apply(kind)
    guess = machine.phase
    return kind
  }

  private mutating func visit() {
    if crew.oneShots.count(where: { $0.view.ending == nil }) < 3 { crew.visit(nextKind()) }
  }

  /// One process is killed: often just after a press, sometimes while it still begins.
  private mutating func kill() async throws {
    let living = crew.members.indices.filter { backAt[$0] == nil }
    guard !living.isEmpty else { return }
    // Everybody depends on the phone: it dies first, and as often as any two others.
    let isPhone = backAt[Crew.phone] == nil && (kills == 0 || roll(5) < 2)
    let index = isPhone ? Crew.phone : living[roll(living.count)]
    if roll(4) > 0 { try await crew.isUp(index) }
    for _ in 0..<roll(4) { crew.press(nextKind(), on: index) }
    try await pause(upTo: 15)
    try await crew.kill(index)
    kills += 1
    // Some are away for long: a backlog gathers.
    let away = roll(8) == 0 ? 3000 : 600
    backAt[index] = .now + .milliseconds(roll(away))
  }

  private mutating func bringBack(_ index: Int) {
    crew.spawn(index)
    backAt[index] = nil
  }
}
