import Foundation
import RunBus
import Testing
import TestSupport

/// Four nodes that are pressed all the time and killed at random: a phone, two watches and a widget, each a process,
/// and shells that come by. What is pressed and who is killed when follows from a seed; what the machine does between is
/// the machine's.
struct KillCampaign {
  /// How a campaign goes.
  struct Plan: Sendable {
    /// How many processes are killed.
    var kills: Int
    /// The phone's window, in milliseconds.
    var debounce: Int
    var seed: UInt64
  }

  /// One of the four, in all of its lives.
  struct Member {
    let role: String
    let device: String
    var lives: [NodeProcess] = []
    /// Presses written to the present life.
    var written = 0
    /// It is dead, and comes back then.
    var backAt: ContinuousClock.Instant?
    var process: NodeProcess { lives[lives.count - 1] }
    var isPhone: Bool { role == "phone" }
  }

  let bus: TestBus
  let plan: Plan
  private(set) var members: [Member]
  private(set) var oneShots: [NodeProcess] = []
  private(set) var kills = 0
  private var dice: Dice
  /// What the run is, as far as whoever presses cares.
  private var guess = RunPhase.idle

  init(_ bus: TestBus, _ plan: Plan) {
    self.bus = bus
    self.plan = plan
    dice = Dice(seed: plan.seed &+ UInt64(plan.debounce))
    members = [("phone", "phone"), ("watch", "watch"), ("watch", "watch2"), ("widget", "widget")]
      .map { Member(role: $0, device: $1) }
  }

  /// Where the stores of this bus lie.
  var stores: String { bus.stateDirectory + "/runbus/default" }

  // MARK: The stream of presses

  /// Presses and kills until enough are dead; at the end everybody is back, all is judged, and all have ended well.
  mutating func run() async throws {
    for index in members.indices { spawn(index) }
    for member in members { try await isUp(member) }
    while kills < plan.kills {
      // The pace of whoever presses; nothing is waited for.
      try await pause(upTo: 30)
      try bringBack(at: .now)
      switch roll(100) {
      case ..<4: visit()
      case ..<9: try await kill()
      default: press(roll(members.count))
      }
    }
    try await heal()
    try await drain()
    try await end()
  }

  private mutating func roll(_ count: Int) -> Int { Int(dice.next() % UInt64(count)) }

  private mutating func pause(upTo milliseconds: Int) async throws {
    try await Task.sleep(for: .milliseconds(roll(milliseconds + 1)))
  }

  private mutating func press(_ index: Int) {
    let kind = nextKind()
    members[index].process.write(kind.rawValue)
    members[index].written += 1
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

  /// A shell presses, and waits no longer than a script would.
  private mutating func visit() {
    guard oneShots.count(where: { $0.view.ending == nil }) < 3 else { return }
    let oneShot = bus.spawn(
      "send", nextKind().rawValue, "--json", "--timeout", "3", environment: Self.environment)
    oneShot.closeInput()
    oneShots.append(oneShot)
  }

  // MARK: Death and life

  /// Whoever is to be killed writes nothing about it.
  private static let environment: [String: String?] = ["SWIFT_BACKTRACE": "enable=no"]

  private mutating func spawn(_ index: Int) {
    var arguments = [members[index].role, "--device", members[index].device, "--json", "--stdin"]
    if members[index].isPhone { arguments += ["--debounce", "\(plan.debounce)"] }
    let process = bus.spawn(executable: TestBus.busnode, arguments, environment: Self.environment)
    members[index].lives.append(process)
    members[index].written = 0
    members[index].backAt = nil
  }

  /// One process is killed: often just after a press, sometimes while it still begins.
  private mutating func kill() async throws {
    let living = members.indices.filter { members[$0].backAt == nil }
    guard !living.isEmpty else { return }
    // Everybody depends on the phone: it dies first, and as often as any two others.
    let index = members[0].backAt == nil && (kills == 0 || roll(5) < 2) ? 0 : living[roll(living.count)]
    let process = members[index].process
    if roll(4) > 0 { try await isUp(members[index]) }
    for _ in 0..<roll(4) { press(index) }
    try await pause(upTo: 15)
    try await process.wait(for: "its process") { $0.processID }
    process.signal(SIGKILL)
    let ending = try await process.ending()
    #expect(ending == .signaled(SIGKILL), "\(members[index].device) ended by itself: \(process.view.errors)")
    kills += 1
    // Some are away for long: a backlog gathers.
    let away = roll(8) == 0 ? 3000 : 600
    members[index].backAt = .now + .milliseconds(roll(away))
  }

  private mutating func bringBack(at now: ContinuousClock.Instant) throws {
    for index in members.indices {
      if let backAt = members[index].backAt, backAt <= now { spawn(index) }
    }
  }

  /// Its first line shows that it has begun.
  private func isUp(_ member: Member) async throws {
    try await member.process.wait(for: "the first line of \(member.device)") { $0.json.first }
  }

  // MARK: The end

  private mutating func heal() async throws {
    for index in members.indices where members[index].backAt != nil { spawn(index) }
    for member in members {
      try await isUp(member)
      guard !member.isPhone else { continue }
      try await member.process.wait(for: "\(member.device) in touch with the phone") { view in
        view.json.last { $0["event"]?.string == "link" }?["reachable"]?.bool == true ? true : nil
      }
    }
  }

  /// Waits until everybody has been told what became of all that was pressed.
  private mutating func drain() async throws {
    for oneShot in oneShots { _ = try await oneShot.ending() }
    try await within(seconds: 60, "an empty spool") { [stores] in
      let spool = stores + "/_spool"
      while try FileManager.default.fileExists(atPath: spool)
        && FileManager.default.contentsOfDirectory(atPath: spool).contains(where: { $0.hasSuffix(".json") })
      {
        try await Task.sleep(for: .milliseconds(50))
      }
    }
    // Behind everything else: once these are judged, everything is.
    for index in members.indices {
      members[index].process.write("lap")
      members[index].written += 1
    }
    for member in members {
      let (written, first) = (member.written, member.isPhone ? "pending" : "queued")
      try await member.process.wait(for: "a verdict for each of the \(written) presses on \(member.device)") { view in
        let promised = Set(view.stages(first))
        let judged = Set(view.json.lazy.filter { $0["event"]?.string == "verdict" }.compactMap { $0["commandId"] })
        return promised.count >= written && judged.isSuperset(of: promised) ? true : nil
      }
    }
  }

  /// Peers first: a hub that leaves before them is nothing they should have to wait for.
  private func end() async throws {
    for member in members.reversed() {
      member.process.signal(SIGTERM)
      let ending = try await member.process.ending()
      #expect(ending == .exited(0), "\(member.device): \(member.process.view.errors)")
    }
  }
}

extension NodeProcess.View {
  /// The ids of the commands that came to a stage before their verdict, in the order in which they did.
  func stages(_ stage: String) -> [JSONValue] {
    json.filter { $0["event"]?.string == "receipt" && $0["receipt"]?.string == stage }.compactMap { $0["commandId"] }
  }
}
