import ArgumentParser
import Foundation
import RunBus

/// The times of one command's verdict and snapshot, in nanoseconds after it was sent.
struct Hops: Sendable {
  var verdict: Int64
  var snapshot: Int64

  var line: String { "\(verdict) \(snapshot)" }

  init(verdict: Int64, snapshot: Int64) {
    self.verdict = verdict
    self.snapshot = snapshot
  }

  init?(_ line: some StringProtocol) {
    let numbers = line.split(separator: " ").compactMap { Int64($0) }
    guard numbers.count == 2 else { return nil }
    self.init(verdict: numbers[0], snapshot: numbers[1])
  }
}

/// Commands that each change the phase: start, then pause and resume in turn, stop, and again.
struct Presses {
  private static let runLength = 20
  private var count = 0
  private var run: RunID?
  private var generator = SystemRandomNumberGenerator()

  mutating func next() -> Command {
    let place = count % Self.runLength
    count += 1
    if place == 0 { run = RunID(using: &generator) }
    let kind: CommandKind =
      switch place {
      case 0: .start
      case Self.runLength - 1: .stop
      default: place % 2 == 1 ? .pause : .resume
      }
    return Command(id: CommandID(using: &generator), kind: kind, source: .watch, runID: run)
  }
}

struct SenderRole: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "sender", shouldDisplay: false)
  @Argument var directory: String
  @Argument var count: Int
  @Argument var pauseMicroseconds: Int64
  @Option var caller = Caller.pool

  func run() async throws {
    alarm(300)
    let place = Place(directory: directory)
    let loop = try Loop()
    let peer = Peer(
      configuration: PeerConfiguration(deviceID: DeviceID("watch"), role: .watch, topics: []),
      connector: ZeroMQConnector(control: place.control),
      store: try NodeStore(directory: directory + "/watch"), loop: loop)
    let observed = try Observed(place)
    let pause = Duration.microseconds(pauseMicroseconds)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await peer.run() }
      let hops =
        switch caller {
        case .pool: try await PoolSender().press(peer, count, pause, observed)
        case .loop: try await LoopSender(loop).press(peer, count, pause, observed)
        }
      print(hops.map(\.line).joined(separator: "\n"))
      group.cancelAll()
      try await group.waitForAll()
    }
  }
}

actor PoolSender {
  func press(_ peer: Peer, _ count: Int, _ pause: Duration, _ observed: Observed) async throws -> [Hops] {
    try await measure(peer, count, pause, observed)
  }
}

actor LoopSender {
  nonisolated let loop: Loop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  init(_ loop: Loop) { self.loop = loop }
  func press(_ peer: Peer, _ count: Int, _ pause: Duration, _ observed: Observed) async throws -> [Hops] {
    try await measure(peer, count, pause, observed)
  }
}

private func measure(
  _ peer: Peer, _ count: Int, _ pause: Duration, _ observed: Observed, isolation: isolated any Actor = #isolation
) async throws -> [Hops] {
  // The observer is connected; waits until this sender is, too.
  _ = try await seen(0, observed)
  while await !peer.reachability.isReachable { try await Task.sleep(for: .milliseconds(1)) }
  var presses = Presses()
  var hops: [Hops] = []
  for _ in 0..<count {
    let command = presses.next()
    try await Task.sleep(for: pause)
    let sentAt = monotonic()
    let verdict = try await peer.send(command)
    let verdictAt = monotonic()
    guard verdict.outcome == .applied else { throw ValidationError("a command was \(verdict.outcome)") }
    let snapshotAt = try await seen(verdict.revision, observed)
    hops.append(Hops(verdict: verdictAt - sentAt, snapshot: snapshotAt - sentAt))
  }
  return hops
}

private func seen(
  _ revision: UInt64, _ observed: Observed, isolation: isolated any Actor = #isolation
) async throws -> Int64 {
  while true {
    if let time = observed[revision] { return time }
    try await Task.sleep(for: .microseconds(100))
  }
}
