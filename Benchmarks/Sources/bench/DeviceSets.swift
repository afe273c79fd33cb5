import ArgumentParser
import Foundation
import Subprocess

#if canImport(System)
  import System
#else
  import SystemPackage
#endif

struct DeviceSets: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices",
    abstract: "What sets of devices cost: agreement, memory, processor time, how long a press takes to all (Linux).",
    discussion: """
      busnode up with three processes, with many, and with very many devices in one process, in turns. A watch presses \
      pause and resume in a run, window 0. A press counts until the last device shows its revision, to the millisecond, \
      as the devices' own lines say. Memory and processor time are those of up and of all its children together.
      """)

  @Option(help: "The busnode binary (Benchmarks/run builds it).") var busnode: String
  @Option(help: "How many processes the larger set has.") var processes = 100
  @Option(help: "How many devices there are in one process.") var devices = 1000
  @Option(help: "How many presses are measured in a round.") var presses = 50
  @Option(help: "Milliseconds from one press to the next.") var pace = 500
  @Option(help: "How many turns.") var rounds = 3

  func validate() throws {
    guard (4...100).contains(processes), (4...1000).contains(devices), presses > 0, pace > 0, rounds > 0 else {
      throw ValidationError("4 to 100 processes, 4 to 1000 devices, and at least one press, round and millisecond")
    }
  }

  func run() async throws {
    print("\(presses) presses a round, one every \(pace) ms; load \(Machine.load) on \(Machine.cores) cores\n")
    print("| devices | agreed | all there, s | memory, MiB | CPU to join, s | CPU a press, ms | p50, ms | p99, ms |")
    print("|---|---|---|---|---|---|---|---|")
    let sets = [
      ("3 processes", ["--watches", "1", "--widgets", "1"], 3),
      ("\(processes) processes", ["--watches", "\(processes - 2)"], processes),
      ("\(devices) in one process", ["--watches", "\(devices - 2)", "--in-process"], devices),
    ]
    for _ in 0..<rounds {
      for (name, arguments, count) in sets { print("| \(name) | \(try await measure(arguments, count)) |") }
    }
  }

  private func measure(_ arguments: [String], _ count: Int) async throws -> String {
    let place = try Place.make()
    defer { place.remove() }
    let presser = count > 3 ? "watch-1" : "watch"
    var lines = ["at 1s \(presser) start"]
    for number in 0..<presses {
      lines.append("at \(2000 + number * pace)ms \(presser) \(number.isMultiple(of: 2) ? "pause" : "resume")")
    }
    lines.append("at \(2000 + presses * pace + 1000)ms phone stop")
    let script = place.directory + "/script"
    try lines.joined(separator: "\n").write(toFile: script, atomically: true, encoding: .utf8)
    let changes: [Environment.Key: String?] = [
      "XDG_RUNTIME_DIR": place.directory, "XDG_STATE_HOME": place.directory, "RUNBUS_BUS": nil, "RUNBUS_ADDRESS": nil,
    ]
    let began = ContinuousClock.now
    let presses = presses
    let words = ["up", "--debounce", "0", "--script", script, "--json"] + arguments
    let result = try await Subprocess.run(
      .path(FilePath(busnode)), arguments: Arguments(words),
      environment: .inherit.updating(changes), input: .none, output: .sequence, error: .discarded
    ) { execution in
      var tally = DeviceTally(presser: presser, devices: count, presses: presses)
      for try await line in execution.standardOutput.strings(bufferingPolicy: .maxLineLength(16 << 20)) {
        tally.take(line, process: execution.processIdentifier.value, after: ContinuousClock.now - began)
      }
      return tally
    }
    return try result.closureResult.cells()
  }
}

/// What the lines of `up --json` tell of a round.
private struct DeviceTally {
  /// The part of a line that is read.
  private struct Line: Decodable {
    var event: String
    var at: String
    var node: String?
    var receipt: String?
    var commandId: String?
    var revision: UInt64?
    var phase: String?
    var agreed: Bool?
  }

  let presser: String
  let devices: Int
  let presses: Int
  private let decoder = JSONDecoder()
  private var isThere: Set<String> = []
  private var joined: Duration?
  private var pressedAt: [String: Double] = [:]
  private var revisions: [String: UInt64] = [:]
  /// How many devices have shown a revision, and when the last one did.
  private var shown: [UInt64: (nodes: Set<String>, last: Double)] = [:]
  private var before: (memory: Double, cpu: Double)?
  private var after: (memory: Double, cpu: Double)?
  private var agreed = false

  init(presser: String, devices: Int, presses: Int) {
    (self.presser, self.devices, self.presses) = (presser, devices, presses)
  }

  mutating func take(_ text: String, process: Int32, after elapsed: Duration) {
    guard let line = try? decoder.decode(Line.self, from: Data(text.utf8)) else { return }
    if line.event == "summary" { agreed = line.agreed == true }
    guard let node = line.node, let at = Self.milliseconds(line.at) else { return }
    switch line.event {
    case "snapshot":
      if isThere.insert(node).inserted, isThere.count == devices {
        joined = elapsed
        before = Self.use(of: process)
      }
      guard let revision = line.revision else { return }
      var (nodes, last) = shown[revision] ?? ([], 0)
      if nodes.insert(node).inserted { last = max(last, at) }
      shown[revision] = (nodes, last)
      if line.phase == "completed", after == nil { after = Self.use(of: process) }
    case "receipt", "verdict":
      guard node == presser, let id = line.commandId else { return }
      pressedAt[id] = pressedAt[id] ?? at
      if line.receipt == "applied" { revisions[id] = line.revision }
    default: break
    }
  }

  func cells() throws -> String {
    let times = pressedAt.compactMap { id, at in
      revisions[id].flatMap { shown[$0] }.flatMap { $0.nodes.count == devices ? $0.last - at : nil }
    }
    guard let before, let after, let joined, !times.isEmpty else {
      throw BenchError(description: "up with \(devices) devices did not come to its end")
    }
    let sorted = times.sorted()
    func at(_ share: Double) -> Double { sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))] }
    let press = (after.cpu - before.cpu) / Double(presses + 2)
    return String(
      format: "%@ | %.1f | %.0f | %.1f | %.1f | %.0f | %.0f", agreed ? "yes" : "no", joined / .seconds(1),
      after.memory / 1024, before.cpu / 1000, press, at(0.5), at(0.99))
  }

  /// Memory in KiB and processor time in ms of a process and its children.
  private static func use(of process: Int32) -> (memory: Double, cpu: Double) {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
    let children = tasks.flatMap { task in
      ((try? String(contentsOfFile: "/proc/\(process)/task/\(task)/children", encoding: .utf8)) ?? "")
        .split(separator: " ").compactMap { Int32($0) }
    }
    let none = ProcessUse()
    return ([process] + children).map { ProcessUse(of: $0) }
      .reduce((0, 0)) { ($0.0 + $1.kibibytes(since: none), $0.1 + $1.milliseconds(since: none)) }
  }

  /// The time of day in milliseconds.
  private static func milliseconds(_ at: String) -> Double? {
    let parts = at.dropFirst(11).dropLast().split(separator: ":").compactMap { Double($0) }
    return parts.count == 3 ? (parts[0] * 3600 + parts[1] * 60 + parts[2]) * 1000 : nil
  }
}
