import Foundation
import RunBus
import TestSupport

/// A crew that is pressed all the time while its processes are killed or hang and its links fail. A seed decides what
/// is pressed and what fails when; the timing within a process is up to the machine.
///
/// The campaign has rounds: faults for a while, then none until all presses are judged and told and every node shows
/// the same revision. Wrong members continue meanwhile, and are stopped only while all nodes have to show the same.
struct ChaosCampaign {
  /// The parameters of a campaign.
  struct Plan: Sendable {
    /// How many processes are killed.
    var kills = 0
    /// How often a process is stopped (SIGSTOP) and continued.
    var stops = 0
    /// How many faults of the links must have an effect.
    var faults = 0
    /// How many members that break rules take part, a few at a time.
    var wrong = 0
    /// For how many seconds each of them lives.
    var wrongSeconds = 2...4
    /// What they do wrong, one habit after the other.
    var habits = WrongMembers.Habit.allCases
    /// The phone's window, in milliseconds.
    var debounce: Int
    /// Whether phone and watch measure, so that samples share their connections with the presses.
    var hasSensors = false
    /// Only over TCP can the peers' links fail.
    var link = Link.ipc
    /// Whether the members are paired machines, in network namespaces of their own where this user can make some.
    var isPaired = false
    var seed: UInt64

    /// Faults in a round; few enough that a backlog stays below the bound of an outbox.
    fileprivate static let eventsInRound = 60
  }

  let plan: Plan
  private(set) var crew: Crew
  private(set) var wrong: WrongMembers
  private(set) var weight = HubWeight()
  /// Violations that the account does not cover.
  private(set) var complaints: [String] = []
  private(set) var kills = 0
  private(set) var stops = 0
  /// When killed members restart, by index.
  private var backAt: [Int: ContinuousClock.Instant] = [:]
  /// When stopped members continue, by index.
  private var goesOnAt: [Int: ContinuousClock.Instant] = [:]
  /// When faulty links heal, by index.
  private var healsAt: [Int: ContinuousClock.Instant] = [:]
  private var generator: SeededGenerator
  /// What is looked at meanwhile; `nil` without Python.
  private var observers: CrewObservers?
  /// How many states they have shown.
  private(set) var observed = 0
  /// The phase of the run, as far as the presser knows.
  private var guess = RunPhase.idle

  init(_ bus: TestBus, _ plan: Plan) throws {
    self.plan = plan
    crew =
      try plan.isPaired
      ? Crew(paired: bus, debounce: plan.debounce) : Crew(bus, debounce: plan.debounce, link: plan.link)
    if plan.hasSensors {
      for index in [Crew.phone, Crew.watch] {
        crew.members[index].arguments += ["--synthetic", "--seed", "1", "--duration", "1h"]
      }
    }
    wrong = try WrongMembers(plan, in: bus.directory)
    generator = SeededGenerator(seed: plan.seed &+ UInt64(plan.debounce))
  }

  /// The faults of the links that had an effect, by kind.
  var faults: [LinkFault.Kind: Int] {
    let effects = crew.proxies.values.flatMap(\.effects.events)
    return Dictionary(grouping: effects) { $0 }.mapValues(\.count)
  }

  private var left: (kills: Int, stops: Int, faults: Int, wrong: Int) {
    let faults = crew.proxies.values.reduce(0) { $0 + $1.effects.events.count }
    return (max(0, plan.kills - kills), max(0, plan.stops - stops), max(0, plan.faults - faults), wrong.left)
  }

  /// Presses and breaks until enough has failed; at the end all nodes are back, all presses are judged, and all nodes
  /// have ended properly.
  mutating func run() async throws {
    try await crew.pair()
    for index in crew.members.indices where crew.members[index].lives.isEmpty { crew.spawn(index) }
    for index in crew.members.indices { try await crew.isUp(index) }
    if Checkout.hasPython { observers = try await CrewObservers(beside: crew) }
    while left != (0, 0, 0, 0) {
      var events = 0
      while left != (0, 0, 0, 0), events < Plan.eventsInRound {
        // The pace of the presses, not a wait for an event.
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
      let place = try await crew.agree()
      try await observers?.reach(place)
      wrong.goOn()
    }
    if plan.wrong > 0 { try await outliveThem() }
    if let (states, found) = try await observers?.end() {
      observed = states
      complaints += found
    }
    try await crew.end()
  }

  /// After the wrong members have ended, the phone holds no more than its bounds, and after a restart it serves all
  /// honest members.
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

  /// Mostly a command that is legal now, sometimes any: real senders do not know better either.
  private mutating func nextKind() -> CommandKind {
    let kinds = CommandKind.allCases
    var kind = kinds[roll(kinds.count)]
    if roll(5) > 0 {
      switch (guess, roll(10)) {
      case (.idle, _), (.completed, _), (.unknown, _): kind = .start
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

  /// Draws the kind of the next fault in proportion to how many of it are left.
  private mutating func breakSomething() async throws {
    let left = left
    let count = left.kills + left.stops + left.faults
    // A proxy's fault has had an effect meanwhile.
    guard count > 0 else { return }
    switch roll(count) {
    case ..<left.kills: try await kill()
    case ..<(left.kills + left.stops): try await stop()
    default: fail()
    }
  }

  /// Ends the faults that are due by a moment, or all of them.
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

  /// A living member. The phone, on which all depend, is chosen first, and as often as any two others.
  private mutating func victim(isFirst: Bool) -> Int? {
    let living = crew.members.indices.filter { backAt[$0] == nil }
    guard !living.isEmpty else { return nil }
    let isPhone = living.contains(Crew.phone) && (isFirst || roll(5) < 2)
    return isPhone ? Crew.phone : living[roll(living.count)]
  }

  /// Kills a process: often just after a press, sometimes while it starts or is stopped.
  private mutating func kill() async throws {
    guard let index = victim(isFirst: kills == 0) else { return }
    if roll(4) > 0, goesOnAt[index] == nil { try await crew.isUp(index) }
    for _ in 0..<roll(4) { crew.press(nextKind(), on: index) }
    try await pause(upTo: 15)
    try await crew.kill(index)
    kills += 1
    goesOnAt[index] = nil
    // Some stay away for long, so that a backlog gathers.
    let away = roll(8) == 0 ? 3000 : 600
    backAt[index] = .now + .milliseconds(roll(away))
  }

  /// Stops a process: mostly for a moment, sometimes for longer than a phone may be silent.
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

  /// Breaks the link of a living peer.
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
  /// A random fault and its duration in milliseconds.
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
      // The first and the last byte of the signature, the version, and the name of the mechanism.
      let places: [LinkFault.Place] = [.greeting(offset: [0, 9, 10, 12][roll(4)]), .header, .body, .body]
      return (.corrupt(places[roll(4)], Direction.allCases[roll(2)]), 1000)
    }
  }
}
