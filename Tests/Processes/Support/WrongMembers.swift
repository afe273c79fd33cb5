import Foundation
import RunBus
import TestSupport

/// The members of a campaign that break rules: separate processes, a few at a time, until enough have run. Their
/// habits are in `Clients/habits.py`.
struct WrongMembers {
  /// A kind of wrong behaviour, with the name that `Clients/wrong.py` uses.
  enum Habit: String, CaseIterable {
    case unfinished, runs, ids, names, stores, numbers, acknowledgements, flood, repeats, malformed
  }

  private struct Member {
    let habit: Habit
    let process: NodeProcess
    /// When it is killed in the middle of its work; `nil` for one that ends by itself.
    let killedAt: ContinuousClock.Instant?
    var wasKilled = false
  }

  /// How many run at a time.
  private static let atATime = 3

  /// How many are to run in all.
  let count: Int
  /// For how many seconds each runs.
  private let seconds: ClosedRange<Int>
  private let habits: [Habit]
  private let memory: String
  private var members: [Member] = []
  private var generator: SeededGenerator
  private let firstHabit: Int

  init(_ plan: ChaosCampaign.Plan, in directory: String) throws {
    (count, seconds, habits) = (plan.wrong, plan.wrongSeconds, plan.habits)
    generator = SeededGenerator(seed: plan.seed &+ 77)
    // Parallel campaigns begin with different habits, so that few wrong members still cover many.
    firstHabit = Int(plan.seed % UInt64(habits.count))
    memory = directory + "/wrong"
    if count > 0 { try FileManager.default.createDirectory(atPath: memory, withIntermediateDirectories: true) }
  }

  /// How many have not ended yet.
  var left: Int { count - members.count { $0.process.view.ending != nil } }

  private mutating func roll(_ count: Int) -> Int { Int(generator.next() % UInt64(count)) }

  /// Starts members while there is room, and kills those that are due.
  mutating func tend(_ crew: Crew) {
    for index in members.indices where members[index].process.view.ending == nil {
      guard let moment = members[index].killedAt, moment <= .now else { continue }
      members[index].process.signal(SIGKILL)
      members[index].wasKilled = true
    }
    while members.count < count, members.count(where: { $0.process.view.ending == nil }) < Self.atATime { begin(crew) }
  }

  private mutating func begin(_ crew: Crew) {
    let habit = habits[(firstHabit + members.count) % habits.count]
    let life = seconds.lowerBound + roll(seconds.count)
    let killedAt = roll(3) == 0 ? ContinuousClock.now + .milliseconds(1000 + roll(1000 * life)) : nil
    let peers = crew.members.filter { !$0.isPhone }.map(\.store)
    let arguments = ["wrong.py", crew.control, "\(generator.next() >> 1)", habit.rawValue, "\(life)", memory] + peers
    let process = crew.bus.spawn(
      executable: Checkout.python, [Clients.directory + "/" + arguments[0]] + arguments.dropFirst(),
      environment: ["PYTHONDONTWRITEBYTECODE": "1"])
    process.closeInput()
    members.append(Member(habit: habit, process: process, killedAt: killedAt))
  }

  /// Stops them, so that all nodes can come to show the same.
  func rest() { for member in members { member.process.signal(SIGSTOP) } }

  /// Lets them continue.
  func goOn() { for member in members { member.process.signal(SIGCONT) } }

  /// Ends all of them. Those that ended by themselves must have succeeded, or the test proves nothing.
  mutating func end() async throws -> [String] {
    var complaints: [String] = []
    for index in members.indices where members[index].process.view.ending == nil {
      members[index].process.signal(SIGKILL)
      members[index].wasKilled = true
    }
    for member in members {
      let ending = try await member.process.ending()
      if ending != .exited(0), !member.wasKilled {
        complaints.append("a wrong member (\(member.habit)) ended: \(ending) \(member.process.view.errors.suffix(5))")
      }
    }
    return complaints
  }

  /// What they did and the answers they got, by habit.
  var deeds: [String: Deeds] {
    var all: [String: Deeds] = [:]
    for member in members { all[member.habit.rawValue, default: Deeds()].add(Deeds(member.process, member.wasKilled)) }
    return all
  }

  /// The actions of wrong members of one habit.
  struct Deeds: Sendable {
    private(set) var members = 0
    private(set) var killed = 0
    private(set) var frames = 0
    private(set) var refused: [String: Int] = [:]
    private(set) var verdicts: [String: Int] = [:]

    init() {}

    fileprivate init(_ process: NodeProcess, _ wasKilled: Bool) {
      (members, killed) = (1, wasKilled ? 1 : 0)
      // The counts are cumulative, so the last line holds them all.
      guard let last = process.view.json.last else { return }
      func counts(_ name: String) -> [String: Int] { (last[name]?.object ?? [:]).compactMapValues(\.int) }
      frames = counts("frames").values.reduce(0, +)
      (refused, verdicts) = (counts("refused"), counts("verdicts"))
    }

    mutating func add(_ other: Deeds) {
      members += other.members
      killed += other.killed
      frames += other.frames
      refused.merge(other.refused, uniquingKeysWith: +)
      verdicts.merge(other.verdicts, uniquingKeysWith: +)
    }
  }
}
