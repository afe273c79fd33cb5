import ArgumentParser
import Foundation
import RunBus
import Synchronization

struct Enqueue: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Messages made durable in the outbox, beside a C program that writes the same rows to SQLite.",
    discussion: """
      Both sides play in turns, in this one run and on the same file system, each in a process and a store of its own; \
      who begins changes. A cell is the median over the rounds, with the smallest and the largest. The ratio is taken \
      round by round: 1 is as fast as C.
      """)

  @Option(help: "The C program (Benchmarks/run builds it).") var reference: String
  @Option(help: "Rounds of each side.") var rounds = 9
  @Option(help: "Commits of one row in a round.") var commits = 1000
  @Option(help: "Commits of a batch in a round.") var batches = 60
  @Option(help: "Messages in a batch.") var rows = 1000
  @Option(help: "Bytes in a message's body.") var body = 256

  func validate() throws {
    guard rounds > 0, commits > 0, batches > 0, rows > 1, (0...AppMessage.bodyMax).contains(body) else {
      throw ValidationError("sizes are positive numbers, a batch is more than one message")
    }
  }

  func run() async throws {
    let rounds = rounds
    print("\(rounds) rounds a side, bodies of \(body) bytes; load \(Machine.load) on \(Machine.cores) cores\n")
    print("| | RunBus | C | RunBus/C |\n|---|---|---|---|")
    for waiting in Waiting.allCases {
      let single = try await compare(commits, 1, waiting)
      row("one message per commit, the caller \(waiting.rawValue), median, µs", single, 0) {
        Double($0.median) / 1000
      }
      row("one message per commit, the caller \(waiting.rawValue), messages/s", single, 0, isRate: true) {
        $0.rate(1)
      }
    }
    let batch = try await compare(batches, rows, .sleeps)
    row("\(rows) messages per commit, messages/s", batch, 0, isRate: true) { [rows] in $0.rate(rows) }
  }

  private func row(
    _ title: String, _ times: [(ours: Times, theirs: Times)], _ digits: Int, isRate: Bool = false,
    _ value: (Times) -> Double
  ) {
    let (ours, theirs) = (times.map { value($0.ours) }, times.map { value($0.theirs) })
    // A ratio of rates; of times it is inverted.
    let ratio = zip(ours, theirs).map { isRate ? $0 / $1 : $1 / $0 }
    print("| \(title) | \(Spread(ours).text(digits)) | \(Spread(theirs).text(digits)) | \(Spread(ratio).text(2)) |")
  }

  private func compare(
    _ commits: Int, _ rows: Int, _ waiting: Waiting
  ) async throws -> [(ours: Times, theirs: Times)] {
    var results: [(ours: Times, theirs: Times)] = []
    for round in 0..<rounds {
      let order = round % 2 == 0 ? Side.allCases : Side.allCases.reversed()
      var times: [Side: Times] = [:]
      for side in order { times[side] = try await play(side, commits, rows, waiting) }
      guard let ours = times[.runBus], let theirs = times[.reference] else { return [] }
      results.append((ours, theirs))
    }
    return results
  }

  private func play(_ side: Side, _ commits: Int, _ rows: Int, _ waiting: Waiting) async throws -> Times {
    let place = try Place.make()
    defer { place.remove() }
    let sizes = [place.directory, "\(commits)", "\(rows)", "\(body)"]
    let output =
      switch side {
      case .runBus: try await collect(CommandLine.arguments[0], ["enqueuer"] + sizes + ["--waiting", waiting.rawValue])
      case .reference: try await collect(reference, sizes)
      }
    let times = Times(nanoseconds: output.split(separator: "\n").compactMap { Int64($0) })
    guard times.nanoseconds.count == commits else {
      throw BenchError(description: "\(side.rawValue) made \(times.nanoseconds.count) of \(commits) commits")
    }
    return times
  }
}

/// How our caller waits for its commit. The C program commits on the calling thread.
enum Waiting: String, ExpressibleByArgument, CaseIterable {
  /// Sleeps, as a node's loop would; the time to wake it is included.
  case sleeps
  /// Polls, so that only the cost of the store is left.
  case looks
}

/// The duration of each commit of a round.
private struct Times {
  let nanoseconds: [Int64]

  var median: Int64 { nanoseconds.sorted()[nanoseconds.count / 2] }
  func rate(_ rows: Int) -> Double {
    Double(rows * nanoseconds.count) / (Double(nanoseconds.reduce(0, +)) / 1e9)
  }
}

/// Our side of a round: a plain thread that makes one commit after the other and waits for each.
struct EnqueuerRole: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "enqueuer", shouldDisplay: false)
  /// Commits until the log is overwritten instead of growing, which is cheaper.
  private var warmUp: Int { rows > 1 ? 20 : 1100 }

  @Argument var directory: String
  @Argument var commits: Int
  @Argument var rows: Int
  @Argument var body: Int
  @Option var waiting: Waiting

  func run() throws {
    alarm(300)
    let store = try NodeStore(directory: directory + "/store")
    let stream = OutboundStreamID(receiver: StoreID(high: 1, low: 1), kind: .messages)
    let bytes = [UInt8](repeating: 0, count: body)
    let done = Completion(waiting)
    var sequence: UInt64 = 0
    var times: [Int64] = []
    for number in -warmUp..<commits {
      let operations = (0..<rows).map { _ in
        sequence += 1
        let message = AppMessage(id: MessageID(high: 0, low: sequence), name: "gel", body: bytes)
        let since = BusTime(nanoseconds: Int64(sequence) * 1_000_000_000)
        return StoreOperation.enqueue(
          OutboxRow(stream: stream, sequence: sequence, item: .message(message), since: since))
      }
      let start = monotonic()
      store.commit(operations) { result in
        if case .failure(let fault) = result { fatalError(fault.description) }
        done.signal()
      }
      done.wait()
      if number >= 0 { times.append(monotonic() - start) }
    }
    print(times.map(String.init).joined(separator: "\n"))
    store.close()
  }
}

/// The completion of one commit, signalled by the store's thread.
private final class Completion: Sendable {
  private let waiting: Waiting
  private let semaphore = DispatchSemaphore(value: 0)
  private let isDone = Atomic(false)

  init(_ waiting: Waiting) { self.waiting = waiting }

  func signal() {
    switch waiting {
    case .sleeps: semaphore.signal()
    case .looks: isDone.store(true, ordering: .releasing)
    }
  }
  func wait() {
    switch waiting {
    case .sleeps: semaphore.wait()
    case .looks: while !isDone.exchange(false, ordering: .acquiring) {}
    }
  }
}
