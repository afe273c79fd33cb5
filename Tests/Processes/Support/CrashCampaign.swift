import Foundation
import RunBus
import RunRecordings
import RunScripts
import TestSupport

@testable import busnode

/// A recorded run that is played while the phone's process is killed repeatedly. A seed decides when it is killed and
/// for how long it is away; the timing within a process is up to the machine.
struct CrashCampaign {
  /// The parameters of a campaign.
  struct Plan: Sendable {
    /// Which node measures everything. Readings of a watch wait for the phone; readings that a dead phone would have
    /// made are missing.
    var measuring: NodeRole
    var downtime: Downtime
    /// How often the phone is killed, in as many runs as that needs.
    var crashes: Int
    /// The most kills in one run.
    var crashesPerRun: Int
    var path: String
    /// The played part of the recording; `nil` for all of it.
    var duration: BusDuration?
    var speed: Int64
    var seed: UInt64
  }

  /// One process of the phone, seen from outside, with times of the machine's monotonic clock.
  struct Life: Sendable {
    let process: NodeProcess
    let spawnedAt: BusTime
    /// Read just before the kill; `nil` for the last process.
    var killedAt: BusTime?
  }

  let plan: Plan
  let recording: Recording
  private let bus: TestBus
  private var generator: SeededGenerator
  private(set) var lives: [Life] = []
  /// A process that is to be killed must not write a backtrace.
  private static let environment: [String: String?] = ["SWIFT_BACKTRACE": "enable=no"]

  /// - Parameter run: the number of this run in the plan; each has random numbers of its own.
  init(_ bus: TestBus, _ plan: Plan, run: Int) throws {
    self.bus = bus
    self.plan = plan
    var recording = try Recording.read(contentsOf: plan.path)
    if let end = plan.duration { recording.cut(to: end) }
    // A recording without a pause or a lap gets one.
    let quarter = BusDuration(nanoseconds: recording.duration.nanoseconds / 4)
    if recording.timerStops.isEmpty {
      recording.timerStops = [TimerStop(pausedAt: quarter, resumedAt: quarter + quarter)]
    }
    if recording.lapMarks.isEmpty { recording.lapMarks = [quarter + quarter + quarter] }
    self.recording = recording
    let kind = (plan.measuring == .watch ? 0 : 2) + (plan.downtime == .running ? 0 : 1)
    generator = SeededGenerator(seed: plan.seed &+ UInt64(4 * run + kind))
  }

  /// Plays the run and kills the phone during it; returns the result.
  mutating func run(crashes: Int) async throws -> CrashedRun {
    spawnPhone()
    try await isUp()
    let watch = spawnWatch()
    try await watch.event("a watch in touch with the phone") { $0["reachable"]?.bool == true }
    for press in recording.presses {
      watch.write(NodeOrder.press(press.kind, at: press.kind == .start ? nil : press.offset).line)
    }
    try await watch.shows("running", revision: 1)
    try await crash(crashes, while: watch)

    try await watch.shows("completed", revision: recording.presses.count { $0.kind != .lap })
    let measuring = plan.measuring == .watch ? watch : phone
    try await measuring.event("all that was measured") { $0["event"]?.string == "sensorsDone" }
    let presses = recording.presses.count
    try await watch.wait(for: "\(presses) verdicts") { view in
      view.json.count { $0["event"]?.string == "verdict" } >= presses ? true : nil
    }
    let state = try await bus.run("state", "--splits", "--json")
    let route = try await bus.run("route", "--json")
    for node in [watch, phone] {
      node.signal(SIGTERM)
      guard try await node.ending() == .exited(0) else { throw DeadlineMissed(what: "a good end of \(node.arguments)") }
    }
    // Reads the store of the ended phone, which first makes a record that is due.
    let list = try await bus.run("records", "--json")
    let file = bus.directory + "/record.json"
    let export = try await bus.run("records", "export", "--format", "json", "--output", file)
    guard export.ending == .exited(0) else { throw DeadlineMissed(what: "a record: \(export.errors)") }
    let record = JSONValue(text: String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self))
    return try CrashedRun(
      state: state.json.last ?? .null, route: route.json, records: list.json.count, record: record ?? .null,
      verdicts: watch.view.json.filter { $0["event"]?.string == "verdict" }, lives: lives, speed: plan.speed,
      store: bus.stateDirectory + "/runbus/default/phone")
  }

  private var phone: NodeProcess { lives[lives.count - 1].process }

  private func sensors(of role: NodeRole) -> [String] {
    guard role == plan.measuring else { return [] }
    let end = plan.duration.map { ["--duration", DurationText.exactSeconds($0)] } ?? []
    return ["--replay", plan.path, "--sensors", "all"] + end
  }

  private mutating func spawnPhone() {
    let arguments = ["phone", "--json", "--stdin", "--recover", "resume", "--speed", "\(plan.speed)"]
    let downtime = ["--downtime", plan.downtime.rawValue, "--weight", "70"]
    let spawnedAt = Loop.now
    let process = bus.spawn(
      executable: TestBus.busnode, arguments + downtime + sensors(of: .phone), environment: Self.environment)
    lives.append(Life(process: process, spawnedAt: spawnedAt))
  }

  private func spawnWatch() -> NodeProcess {
    bus.spawn(executable: TestBus.busnode, ["watch", "--json", "--stdin"] + sensors(of: .watch))
  }

  private func isUp() async throws { try await phone.wait(for: "the first line of the phone") { $0.json.first } }

  /// Divides the run's time into as many equal parts as there are crashes, and kills at a random time in each.
  private mutating func crash(_ crashes: Int, while watch: NodeProcess) async throws {
    let began = ContinuousClock.now
    let part = recording.duration.nanoseconds / plan.speed / Int64(max(1, crashes))
    var (left, number) = (crashes, 0)
    while left > 0, number < crashes {
      // The pace of the kills, here and below; not a wait for an event.
      try await Task.sleep(until: began + .nanoseconds(Int64(number) * part + roll(part)))
      guard !watch.view.json.contains(where: { $0["phase"]?.string == "completed" }) else { break }
      // One in four is killed while it starts, before or after its first commit …
      if roll(4) > 0 { try await isUp() }
      try await kill()
      // Some stay away for long, so that a backlog gathers at the watch.
      try await Task.sleep(for: .nanoseconds(roll(min(part, roll(8) == 0 ? 2_000_000_000 : 400_000_000))))
      spawnPhone()
      (left, number) = (left - 1, number + 1)
      guard left > 0, roll(4) == 0 else { continue }
      // … and some of them are killed twice in a row.
      try await phone.wait(for: "its process") { $0.processID }
      try await Task.sleep(for: .nanoseconds(roll(60_000_000)))
      try await kill()
      spawnPhone()
      left -= 1
    }
    try await isUp()
  }

  private mutating func kill() async throws {
    try await phone.wait(for: "its process") { $0.processID }
    lives[lives.count - 1].killedAt = Loop.now
    phone.signal(SIGKILL)
    guard try await phone.ending() == .signaled(SIGKILL) else {
      throw DeadlineMissed(what: "a phone that ended by itself: \(phone.view.errors)")
    }
  }

  private mutating func roll(_ count: Int64) -> Int64 { Int64(generator.next() % UInt64(max(1, count))) }
}
