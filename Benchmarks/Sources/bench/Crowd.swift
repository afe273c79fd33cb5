import ArgumentParser
import Foundation
import Histogram
import RunBus
import Synchronization

struct CrowdBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "crowd",
    abstract:
      "What many peers cost their hub: the time to join, the last peer's latency, processor time, memory (Linux).",
    discussion: """
      A hub with its store on disk, and all peers in another process, over ipc; window 0. One of the peers presses at an \
      even pace. Processor time is that of all threads, pings included.
      """)

  @Option(help: "How many peers.") var peers = 1000
  @Option(help: "How many presses are measured.") var presses = 100
  @Option(help: "Milliseconds from one press to the next.") var pace = 100
  @Option(help: "Seconds without presses, in which pings alone are measured.") var rest = 5

  func validate() throws {
    guard peers > 0, presses > 1, pace > 0, rest > 0 else { throw ValidationError("sizes are positive numbers") }
  }

  func run() async throws {
    let place = try Place.make()
    defer { place.remove() }
    let (peers, words) = (peers, ["\(peers)", "\(presses)", "\(pace)", "\(rest)"])
    print("\(peers) peers, \(presses) presses, one every \(pace) ms; load \(Machine.load) on \(Machine.cores) cores\n")
    try await withThrowingTaskGroup(of: Void.self) { group in
      let (ids, started) = AsyncStream.makeStream(of: Int32.self)
      group.addTask { try await keep(CommandLine.arguments[0], ["hub", place.directory]) { started.yield($0) } }
      for await hub in ids.prefix(1) {
        let output = try await collect(
          CommandLine.arguments[0], ["crowd-role", place.directory] + words + ["\(hub)"])
        print(output, terminator: "")
      }
      group.cancelAll()
      while let result = await group.nextResult() { if case .failure(let error as BenchError) = result { throw error } }
    }
  }
}

/// The process of the peers, which measures itself and the hub.
struct CrowdRole: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "crowd-role", shouldDisplay: false)
  @Argument var directory: String
  @Argument var peers: Int
  @Argument var presses: Int
  @Argument var pace: Int
  @Argument var rest: Int
  @Argument var hub: Int32

  func run() async throws {
    alarm(300)
    let place = Place(directory: directory)
    // The stores of all peers share a thread: a thousand threads would need most of the time to wake each other.
    let threads = try LoopGroup(loops: 1)
    defer { threads.stop() }
    let loop = threads.next()
    try await withThrowingTaskGroup(of: Void.self) { group in
      // The hub listens and has its first peer before the time of joining begins.
      let first = try peer("first", at: place, on: loop)
      group.addTask { try await first.run() }
      while await !first.reachability.isReachable { try await Task.sleep(for: .milliseconds(1)) }

      let (hubBefore, crowdBefore) = (ProcessUse(of: hub), ProcessUse(of: getpid()))
      let arrivals = Arrivals(of: peers)
      let began = monotonic()
      for number in 0..<peers {
        let peer = try peer("crowd-\(number)", at: place, on: loop)
        group.addTask { try await peer.run() }
        group.addTask { for await snapshot in await peer.snapshots() { arrivals.note(snapshot, by: number) } }
      }
      let joined = try await arrivals.all(haveSeen: 0) - began
      let (hubJoined, crowdJoined) = (ProcessUse(of: hub), ProcessUse(of: getpid()))
      print("| | |\n|---|---|")
      row("joined, s", Double(joined) / 1e9, 2)
      row("processor time of the hub to join, ms a peer", hubJoined.milliseconds(since: hubBefore) / Double(peers), 3)
      row("memory of the hub, KiB a peer", hubJoined.kibibytes(since: hubBefore) / Double(peers), 1)
      row("memory of the crowd, KiB a peer", crowdJoined.kibibytes(since: crowdBefore) / Double(peers), 1)

      var presses = Presses()
      // Begins a run, and settles.
      for _ in 0..<4 { try await press(presses.next(), by: first, arrivals) }
      try await Task.sleep(for: .seconds(2))
      let hubAtRest = ProcessUse(of: hub)
      try await Task.sleep(for: .seconds(rest))
      let (hubRested, crowdRested) = (ProcessUse(of: hub), ProcessUse(of: getpid()))
      row("processor time of the hub at rest, ms a second", hubRested.milliseconds(since: hubAtRest) / Double(rest), 2)

      var times = Histogram<UInt32>(numberOfSignificantValueDigits: .three)
      times.autoResize = true
      let clock = ContinuousClock()
      var next = clock.now
      let from = monotonic()
      for _ in 0..<self.presses {
        try await clock.sleep(until: next)
        next = max(clock.now, next + .milliseconds(pace))
        times.record(UInt64(max(0, try await press(presses.next(), by: first, arrivals))))
      }
      try await clock.sleep(until: next)
      let (hubPressed, crowdPressed) = (ProcessUse(of: hub), ProcessUse(of: getpid()))
      let (count, seconds) = (Double(self.presses), Double(monotonic() - from) / 1e9)
      let spent = hubPressed.milliseconds(since: hubRested)
      row("command to snapshot at the last peer, p50, ms", Double(times.valueAtPercentile(50)) / 1e6, 2)
      row("command to snapshot at the last peer, p99, ms", Double(times.valueAtPercentile(99)) / 1e6, 2)
      row("processor time of the hub, ms a press, pings included", spent / count, 2)
      let resting = hubRested.milliseconds(since: hubAtRest) / Double(rest) * seconds
      row("processor time of the hub, ms a press, without what it uses at rest", (spent - resting) / count, 2)
      row("of which libzmq's threads, pings included, ms", hubPressed.libzmqMilliseconds(since: hubRested) / count, 2)
      row("processor time of the crowd, ms a press", crowdPressed.milliseconds(since: crowdRested) / count, 2)
      group.cancelAll()
      while await group.nextResult() != nil {}
    }
  }

  private func peer(_ name: String, at place: Place, on loop: Loop) throws -> Peer {
    guard let device = DeviceID(name) else { throw ValidationError("no device can be called \(name)") }
    return Peer(
      configuration: PeerConfiguration(deviceID: device, role: .watch),
      connector: ZeroMQConnector(control: place.control), store: NodeStore(), loop: loop)
  }

  /// Presses, and returns the nanoseconds until the last peer shows it.
  @discardableResult
  private func press(_ command: Command, by peer: Peer, _ arrivals: Arrivals) async throws -> Int64 {
    let sentAt = monotonic()
    let verdict = try await peer.send(command)
    guard verdict.outcome == .applied else { throw ValidationError("a command was \(verdict.outcome)") }
    return try await arrivals.all(haveSeen: verdict.revision) - sentAt
  }

  private func row(_ name: String, _ value: Double, _ digits: Int) {
    print("| \(name) | \(String(format: "%.\(digits)f", value)) |")
  }
}

/// Which revision each peer of a crowd shows, and when the last of them came to it.
private final class Arrivals: Sendable {
  private struct State {
    /// What each peer shows; `nil` before its first snapshot.
    var revisions: [UInt64?]
    /// How many peers have come to each revision, and when the last of them did.
    var counts: [UInt64: (count: Int, at: Int64)] = [:]
    var waiting: (revision: UInt64, continuation: CheckedContinuation<Int64, Never>)?
  }
  private let state: Mutex<State>
  private let peers: Int

  init(of peers: Int) {
    self.peers = peers
    state = Mutex(State(revisions: Array(repeating: nil, count: peers)))
  }

  func note(_ snapshot: Snapshot, by number: Int) {
    let now = monotonic()
    let revision = snapshot.order.revision
    let resumed = state.withLock { state -> CheckedContinuation<Int64, Never>? in
      let first = state.revisions[number].map { $0 + 1 } ?? 0
      guard first <= revision else { return nil }
      state.revisions[number] = revision
      // A slow reader gets only the newest snapshot, which stands for those in between.
      for passed in first...revision { state.counts[passed] = ((state.counts[passed]?.count ?? 0) + 1, now) }
      guard let waiting = state.waiting, state.counts[waiting.revision]?.count == peers else { return nil }
      state.waiting = nil
      return waiting.continuation
    }
    resumed?.resume(returning: now)
  }

  /// Waits until all peers show a revision or a later one.
  ///
  /// - Returns: When the last of them did.
  func all(haveSeen revision: UInt64) async throws -> Int64 {
    await withCheckedContinuation { continuation in
      let at = state.withLock { state -> Int64? in
        if let (count, at) = state.counts[revision], count == peers { return at }
        state.waiting = (revision, continuation)
        return nil
      }
      if let at { continuation.resume(returning: at) }
    }
  }
}

/// What all threads of a process have used so far, and its memory.
struct ProcessUse {
  private let threads: [Int32: ThreadUse]
  private let memory: Int

  /// Of nothing.
  init() { (threads, memory) = ([:], 0) }

  init(of process: Int32) {
    threads = ThreadUse.all(of: process)
    let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    memory = line?.split(separator: " ").dropFirst(1).first.flatMap { Int($0) } ?? 0
  }

  var threadCount: Int { threads.count }

  func kibibytes(since earlier: ProcessUse) -> Double { Double(memory - earlier.memory) }

  func milliseconds(since earlier: ProcessUse) -> Double { Self.sum(threads.map { ($0, $1) }, earlier) }

  func libzmqMilliseconds(since earlier: ProcessUse) -> Double {
    Self.sum(threads.filter(\.value.isLibzmq).map { ($0, $1) }, earlier)
  }

  private static func sum(_ threads: [(Int32, ThreadUse)], _ earlier: ProcessUse) -> Double {
    threads.reduce(0) { $0 + Double($1.1.since(earlier.threads[$1.0]).cpuNanoseconds) / 1e6 }
  }
}
