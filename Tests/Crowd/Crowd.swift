import ArgumentParser
import Foundation
import RunBus

@main
struct Crowd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Many peers in one process, each an actor of its own on a shared loop, as an embedder would have them.",
    discussion: """
      Obeys its standard input, one order a line, and ends with it:
        join 250   so many more join; answers {"event":"joined","peers":251} when all of them show the bus
        pause      the first of them presses (start, pause, resume, stop, lap); answers {"event":"pressed","at":...}
      A line {"event":"seen","revision":7,"first":...,"at":...} says when the first and the last of them saw a revision.
      Times are nanoseconds of the machine's monotonic clock, the same in every process.
      """)

  @Option(help: "Where the hub listens for control.") var control: String
  @Option(help: "What the names of its devices begin with.") var name = "crowd"
  @Option(help: "A directory for their stores; in memory when not given.") var stores: String?

  func run() async throws {
    let loop = try Loop()
    let tally = Tally()
    let orders = Self.orders()
    try await withThrowingTaskGroup(of: Void.self) { group in
      var first: Peer?
      for await order in orders {
        let words = order.split(separator: " ")
        switch (words.first, words.last.flatMap { Int($0) }) {
        case ("join", let count?):
          for number in tally.expect(count) {
            let peer = try peer(number, on: loop)
            first = first ?? peer
            group.addTask { try await peer.run() }
            group.addTask { for await snapshot in await peer.snapshots() { tally.see(snapshot, by: number) } }
          }
        default:
          guard let kind = CommandKind(rawValue: order), let first else { throw ValidationError("no order: \(order)") }
          let command = Command(kind, source: .watch)
          tally.say(#"{"event":"pressed","at":\#(Loop.now.nanoseconds)}"#)
          group.addTask { _ = try await first.send(command) }
        }
      }
      group.cancelAll()
      // The remaining tasks throw only because they were cancelled.
      while await group.nextResult() != nil {}
    }
    loop.stop()
  }

  private func peer(_ number: Int, on loop: Loop) throws -> Peer {
    guard let device = DeviceID("\(name)-\(number)") else { throw ValidationError("no device can be called \(name)") }
    let store = try stores.map { try NodeStore(directory: "\($0)/\(device)", device: device) } ?? NodeStore()
    return Peer(
      configuration: PeerConfiguration(deviceID: device, role: .watch),
      connector: ZeroMQConnector(control: control), store: store, loop: loop)
  }

  /// The lines of standard input; a blocking reader needs a thread of its own.
  private static func orders() -> AsyncStream<String> {
    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }
    return stream
  }
}
