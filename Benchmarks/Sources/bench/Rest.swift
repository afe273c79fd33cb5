import ArgumentParser
import Foundation
import Subprocess

#if canImport(System)
  import System
#else
  import SystemPackage
#endif

struct Rest: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "What nodes cost at rest: how often their threads wake up, and how long they run (Linux).",
    discussion: """
      Two buses of a phone, a watch and a widget, all processes of their own; on one nothing was ever pressed, on the \
      other a run is paused. libzmq's own threads are listed apart.
      """)

  @Option(help: "The busnode binary (Benchmarks/run builds it).") var busnode: String
  @Option(help: "Seconds to look.") var seconds = 60

  func run() async throws {
    let place = try Place.make()
    defer { place.remove() }
    let bus = Busnode(path: busnode, place: place)
    try await withThrowingTaskGroup(of: Void.self) { group in
      var nodes: [(name: String, id: Int32)] = []
      for state in ["idle", "paused"] {
        for role in ["phone", "watch", "widget"] {
          let (ids, started) = AsyncStream.makeStream(of: Int32.self)
          group.addTask { try await bus.keep([role, "--bus", state]) { started.yield($0) } }
          for await id in ids.prefix(1) { nodes.append(("\(role), \(state)", id)) }
        }
      }
      try await bus.send("start", on: "paused")
      // Later than the window; otherwise the two presses would settle together.
      try await Task.sleep(for: .seconds(1))
      try await bus.send("pause", on: "paused")
      // The time of connecting and hello does not count.
      try await Task.sleep(for: .seconds(3))
      print("\(seconds) s at rest; load \(Machine.load) on \(Machine.cores) cores")
      let before = nodes.map { ThreadUse.all(of: $0.id) }
      try await Task.sleep(for: .seconds(seconds))
      let after = nodes.map { ThreadUse.all(of: $0.id) }
      guard after.allSatisfy({ !$0.isEmpty }) else { throw BenchError(description: "a node has ended") }
      report(nodes.map(\.name), before, after)
      group.cancelAll()
      while let result = await group.nextResult() { if case .failure(let error as BenchError) = result { throw error } }
    }
  }

  private func report(_ names: [String], _ before: [[Int32: ThreadUse]], _ after: [[Int32: ThreadUse]]) {
    print("\n| node | thread | wake-ups | a second | CPU, µs | % of a core |\n|---|---|---|---|---|---|")
    for (index, name) in names.enumerated().sorted(by: { $0.element < $1.element }) {
      var ours = ThreadUse(name: "**ours, all**"), theirs = ThreadUse(name: "**libzmq's, all**")
      for (id, use) in after[index].sorted(by: { $0.key < $1.key }) {
        let spent = use.since(before[index][id])
        if spent.isLibzmq { theirs.add(spent) } else { ours.add(spent) }
        if spent.wakeUps > 0 { row(name, spent) }
      }
      row(name, ours)
      row(name, theirs)
    }
  }

  private func row(_ node: String, _ use: ThreadUse) {
    let rate = String(format: "%.2f", Double(use.wakeUps) / Double(seconds))
    let share = String(format: "%.4f", Double(use.cpuNanoseconds) / Double(seconds) / 1e7)
    print("| \(node) | \(use.name) | \(use.wakeUps) | \(rate) | \(use.cpuNanoseconds / 1000) | \(share) |")
  }
}

/// What one thread has used so far, from /proc.
struct ThreadUse: Sendable {
  var name: String
  /// Voluntary context switches: each ends a sleep of the thread.
  var wakeUps: Int64 = 0
  var cpuNanoseconds: Int64 = 0

  var isLibzmq: Bool { name.hasPrefix("ZMQbg") }

  init(name: String) { self.name = name }

  private init?(_ directory: String) {
    func text(_ file: String) -> String? { try? String(contentsOfFile: "\(directory)/\(file)", encoding: .utf8) }
    guard let name = text("comm"), let status = text("status"), let times = text("schedstat") else { return nil }
    self.name = name.trimmingCharacters(in: .whitespacesAndNewlines)
    let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
    wakeUps = line?.split(separator: "\t").last.flatMap { Int64($0) } ?? 0
    cpuNanoseconds = times.split(separator: " ").first.flatMap { Int64($0) } ?? 0
  }

  static func all(of process: Int32) -> [Int32: ThreadUse] {
    let tasks = "/proc/\(process)/task"
    let ids = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
    var uses: [Int32: ThreadUse] = [:]
    for id in ids { if let number = Int32(id) { uses[number] = ThreadUse("\(tasks)/\(id)") } }
    return uses
  }

  func since(_ earlier: ThreadUse?) -> ThreadUse {
    var spent = self
    spent.wakeUps -= earlier?.wakeUps ?? 0
    spent.cpuNanoseconds -= earlier?.cpuNanoseconds ?? 0
    return spent
  }

  mutating func add(_ other: ThreadUse) {
    wakeUps += other.wakeUps
    cpuNanoseconds += other.cpuNanoseconds
  }
}

/// The product's own program, on buses in a directory of their own.
struct Busnode: Sendable {
  let path: String
  let place: Place

  private var environment: Environment {
    .inherit.updating([
      "XDG_RUNTIME_DIR": place.directory, "XDG_STATE_HOME": place.directory, "RUNBUS_BUS": nil, "RUNBUS_ADDRESS": nil,
      "RUNBUS_INSECURE": nil,
    ])
  }

  /// Runs a node until this task is cancelled.
  func keep(_ arguments: [String], started: @escaping @Sendable (Int32) -> Void) async throws {
    var options = PlatformOptions()
    options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .seconds(2))]
    let result = try await Subprocess.run(
      .path(FilePath(path)), arguments: Arguments(arguments), environment: environment, platformOptions: options,
      input: .none, output: .discarded, error: .discarded
    ) { execution in
      started(execution.processIdentifier.value)
    }
    guard !Task.isCancelled else { return }
    throw BenchError(description: "busnode \(arguments.joined(separator: " ")) ended: \(result.terminationStatus)")
  }

  /// Sends a command as soon as the bus can be reached.
  func send(_ command: String, on bus: String) async throws {
    for _ in 0..<100 {
      let result = try await Subprocess.run(
        .path(FilePath(path)), arguments: ["send", command, "--bus", bus], environment: environment,
        output: .discarded, error: .discarded)
      if result.terminationStatus.isSuccess { return }
      try await Task.sleep(for: .milliseconds(100))
    }
    throw BenchError(description: "busnode send \(command) was never applied")
  }

  /// Runs a command as soon as it succeeds, and returns what it writes.
  @discardableResult
  func succeeds(_ arguments: [String]) async throws -> String {
    for _ in 0..<100 {
      let result = try await Subprocess.run(
        .path(FilePath(path)), arguments: Arguments(arguments), environment: environment,
        output: .string(limit: 1 << 16), error: .discarded)
      if result.terminationStatus.isSuccess { return result.standardOutput }
      try await Task.sleep(for: .milliseconds(100))
    }
    throw BenchError(description: "busnode \(arguments.joined(separator: " ")) never succeeded")
  }
}
