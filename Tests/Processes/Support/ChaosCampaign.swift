import Foundation
import RunBus
import TestSupport

/// A crew that is pressed all the time while its processes are killed or stand still and its links fail, at random. What
/// is pressed and what fails when follows from a seed; what the machine does between is the machine's.
///
/// It goes in rounds: faults for a while, then everything is well again, and all that was pressed is judged and told, and
/// everybody shows the same revision. Wrong members go on meanwhile; they stand still only while all are to show the same.
struct ChaosCampaign {
  /// How a campaign goes.
  struct Plan: Sendable {
    /// How many processes are killed.
    var kills = 0
    /// How often one is stopped and goes on.
    var stops = 0
    /// How many faults of the links have something to act on.
    var faults = 0
    /// How many members that break rules live beside the crew, a few at a time.
    var wrong = 0
    /// For how many seconds each of them lives.
    var wrongSeconds = 2...4
    /// What they do wrong, one habit after the other.
    var habits = WrongMembers.Habit.allCases
    /// The phone's window, in milliseconds.
    var debounce: Int
    /// Phone and watch measure: samples share their connections with the presses.
    var hasSensors = false
    /// Over TCP, the peers' links can fail.
    var link = Link.ipc
    var seed: UInt64

    /// What goes wrong between two moments at which all is well: a backlog stays below what an outbox holds.
    fileprivate static let eventsInRound = 60
  }

  let plan: Plan
  private(set) var crew: Crew
  private(set) var wrong: WrongMembers
  private(set) var weight = HubWeight()
  /// What should not have happened and is no matter of the account.
  private(set) var complaints: [String] = []
  private(set) var kills = 0
  private(set) var stops = 0
  /// When the dead come back, by their place in the crew.
  private var backAt: [Int: ContinuousClock.Instant] = [:]
  /// When those who stand still go on.
  private var goesOnAt: [Int: ContinuousClock.Instant] = [:]
  /// When the links are well again.
  private var healsAt: [Int: ContinuousClock.Instant] = [:]
  private var generator: SeededGenerator
  /// What the run is, as far as whoever presses cares.
  private var guess = RunPhase.idle

  init(_ bus: TestBus, _ plan: Plan) throws {
    self.plan = plan
    crew = try Crew(bus, debounce: plan.debounce, link: plan.link)
    if plan.hasSensors {
      for index in [Crew.phone, Crew.watch] {
        crew.members[index].arguments += ["--synthetic", "--seed", "1", "--duration", "1h"]
      }
    }
    wrong = try WrongMembers(plan, in: bus.directory)
    generator = SeededGenerator(seed: plan.seed &+ UInt64(plan.debounce))
  }

  /// The faults of the links that had something to act on, by their kind.
  var faults: [LinkFault.Kind: Int] {
    let effects = crew.proxies.values.flatMap(\.effects.events)
    return Dictionary(grouping: effects) { $0 }.mapValues(\.count)
  }

  private var left: (kills: Int, stops: Int, faults: Int, wrong: Int) {
    let faults = crew.proxies.values.reduce(0) { $0 + $1.effects.events.count }
    return (max(0, plan.kills - kills), max(0, plan.stops - stops), max(0, plan.faults - faults), wrong.left)
  }

  /// Presses and breaks until enough has failed; at the end everybody is back, all is judged, and all have ended well.
  mutating func run() async throws {
    for index in crew.members.indices { crew.spawn(index) }
    for index in crew.members.indices { try await crew.isUp(index) }
    while left != (0, 0, 0, 0) {
      var events = 0
      while left != (0, 0, 0, 0), events < Plan.eventsInRound {
        // The pace of whoever presses; nothing is waited for.
        try await pause(upTo: 30)
        endWhatIsOver(by: .now)
        wrong.tend(crew)
        weight.weigh(crew)
        switch roll(100) {
        case ..<4: visit()
        case ..<10:
          try await breakSomething()
          events += 1
        default: crew.press(nextKind(), on: roll(crew.members.count))
        }
      }
      endWhatIsOver(by: nil)
      try await crew.areInTouch()
      try await crew.drain()
      wrong.rest()
      try await crew.agree()
      wrong.goOn()
    }
    if plan.wrong > 0 { try await outliveThem() }
    try await crew.end()
  }

  /// The wrong members are gone: the phone holds no more than it may, and in its next life nobody is kept from anything.
  private mutating func outliveThem() async throws {
    complaints += try await wrong.end()
    try await crew.drain()
    weight.weighAtEnd(crew)
    try await crew.end(Crew.phone)
    crew.spawn(Crew.phone)
    try await crew.areInTouch()
    for kind in [CommandKind.start, .lap, .pause, .resume, .stop] {
      for index in crew.members.indices { crew.press(kind, on: index) }
    }
    try await crew.drain()
    try await crew.agree()
  }

  private mutating func roll(_ count: Int) -> Int { Int(generator.next() % UInt64(count)) }

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
    guard crew.oneShots.count(where: { $0.view.ending == nil }) < 3 else { return }
    crew.visit(nextKind(), beside: roll(crew.members.count))
  }

  // MARK: What goes wrong

  /// Each kind as often as more of it is left.
  private mutating func breakSomething() async throws {
    let left = left
    let count = left.kills + left.stops + left.faults
    // A proxy has found something to act on meanwhile.
    guard count > 0 else { return }
    switch roll(count) {
    case ..<left.kills: try await kill()
    case ..<(left.kills + left.stops): try await stop()
    default: fail()
    }
  }

  /// Whose time has come, or everybody, is well again.
  private mutating func endWhatIsOver(by moment: ContinuousClock.Instant?) {
    func over(_ times: [Int: ContinuousClock.Instant]) -> [Int] {
      times.keys.sorted().filter { index in moment.map { times[index]! <= $0 } ?? true }
    }
    for index in over(healsAt) {
      crew.proxies[index]?.heal()
      healsAt[index] = nil
    }
    for index in over(goesOnAt) {
      crew.members[index].process.signal(SIGCONT)
      goesOnAt[index] = nil
    }
    for index in over(backAt) {
      crew.spawn(index)
      backAt[index] = nil
    }
  }

  /// Somebody who is there. Everybody depends on the phone: it is met first, and as often as any two others.
  private mutating func victim(isFirst: Bool) -> Int? {
    let living = crew.members.indices.filter { backAt[$0] == nil }
    guard !living.isEmpty else { return nil }
    let isPhone = living.contains(Crew.phone) && (isFirst || roll(5) < 2)
    return isPhone ? Crew.phone : living[roll(living.count)]
  }

  /// One process is killed: often just after a press, sometimes while it still begins or stands still.
  private mutating func kill() async throws {
    guard let index = victim(isFirst: kills == 0) else { return }
    if roll(4) > 0, goesOnAt[index] == nil { try await crew.isUp(index) }
    for _ in 0..<roll(4) { crew.press(nextKind(), on: index) }
    try await pause(upTo: 15)
    try await crew.kill(index)
    kills += 1
    goesOnAt[index] = nil
    // Some are away for long: a backlog gathers.
    let away = roll(8) == 0 ? 3000 : 600
    backAt[index] = .now + .milliseconds(roll(away))
  }

  /// One process stands still: mostly for a moment, sometimes for longer than a phone may be silent.
  private mutating func stop() async throws {
    guard let index = victim(isFirst: stops == 0), goesOnAt[index] == nil else { return }
    if roll(4) > 0 { try await crew.isUp(index) }
    for _ in 0..<roll(4) { crew.press(nextKind(), on: index) }
    try await crew.stop(index)
    stops += 1
    let still =
      switch roll(20) {
      case 0: 6500 + roll(1500)
      case ..<5: roll(2500)
      default: roll(400)
      }
    goesOnAt[index] = .now + .milliseconds(still)
  }

  /// One link fails, that of a peer which is there.
  private mutating func fail() {
    let well = crew.proxies.keys.sorted().filter { healsAt[$0] == nil && backAt[$0] == nil }
    guard !well.isEmpty else { return }
    let index = well[roll(well.count)]
    let (fault, milliseconds) = LinkFault.drawn(using: &generator)
    crew.proxies[index]?.apply(fault)
    healsAt[index] = .now + .milliseconds(milliseconds)
  }
}

extension LinkFault {
  /// A fault, and how many milliseconds it lasts.
  fileprivate static func drawn(using generator: inout SeededGenerator) -> (LinkFault, milliseconds: Int) {
    func roll(_ count: Int) -> Int { Int(generator.next() % UInt64(count)) }
    let kind = Kind.allCases[roll(Kind.allCases.count)]
    switch kind {
    case .cut: return (.cut(reset: roll(2) == 0, midFrame: roll(2) == 0), roll(800))
    case .halfOpen:
      let directions: [Set<Direction>] = [[.up], [.down], [.up, .down]]
      // Some are longer than three missed beats.
      let fault = LinkFault.halfOpen(directions[roll(3)], includesNew: roll(2) == 0)
      return (fault, roll(10) == 0 ? 6500 + roll(2000) : roll(2000))
    case .delay: return (.delay(milliseconds: 1 + roll(400)), roll(2000))
    case .throttle: return (.throttle(bytesPerSecond: 1000 + roll(20_000)), roll(2000))
    case .corrupt:
      // The signature's first and last byte, the version, the mechanism's name.
      let places: [LinkFault.Place] = [.greeting(offset: [0, 9, 10, 12][roll(4)]), .header, .body, .body]
      return (.corrupt(places[roll(4)], Direction.allCases[roll(2)]), 1000)
    }
  }
}
