import Dispatch
import Foundation
import RunBus

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// Runs a node and what uses it, until the use is over, SIGTERM arrives or the node fails.
func runUntilTerminated(_ node: some Node, _ use: @escaping @Sendable () async throws -> Void) async throws {
  signal(SIGTERM, SIG_IGN)  // the source receives it instead
  let (terminations, continuation) = AsyncStream.makeStream(of: Void.self)
  let source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
  source.setEventHandler { continuation.yield() }
  source.activate()
  defer { source.cancel() }
  try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask { try await node.run() }
    group.addTask { try await use() }
    group.addTask { for await _ in terminations { return } }
    try await group.next()  // the first of them has ended
    group.cancelAll()  // ends the node in good order
    do { try await group.waitForAll() } catch is CancellationError {}
  }
}

/// The program of the phone.
func phoneProgram() async throws {
  let phone = try Hub(
    at: BusLocation(bus: "default"), configuration: HubConfiguration(deviceID: "phone"), loop: Loop())
  try await runUntilTerminated(phone) {
    for await snapshot in await phone.snapshots() { print("the run is \(snapshot.phase)") }
  }
}

/// The program of the watch: starts a run, and stops it after a minute.
func watchProgram() async throws {
  let watch = try Peer(
    at: BusLocation(bus: "default"), configuration: PeerConfiguration(deviceID: "watch", role: .watch), loop: Loop())
  try await runUntilTerminated(watch) {
    print(try await watch.send(Command(.start, source: .watch)).message)
    try await Task.sleep(for: .seconds(60))
    print(try await watch.send(Command(.stop, source: .watch)).message)
  }
}
