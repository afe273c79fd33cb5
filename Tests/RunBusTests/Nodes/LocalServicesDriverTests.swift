import Logging
import RunCore
import Synchronization
import TestSupport
import Testing

@testable import RunBus

@Suite("A node reads the spool of its machine")
struct LocalServicesDriverTests {
  /// Runs the driver on its loop's thread and notes what it finds; commands are removed only when the test says so.
  actor Node {
    nonisolated let loop: Loop
    nonisolated let found = EventLog<[CommandID]>()
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var keeper: LocalServicesDriver?

    init() throws { loop = try Loop() }

    func open(_ spool: SpoolDirectory) throws {
      keeper = LocalServicesDriver(
        LocalServices(spools: [spool]), loop: loop, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        lookEvery: .milliseconds(1),
        spooled: { [found] in found.append($0.map(\.command.id)) }, inquire: { _, _ in })
      try keeper?.open()
    }
    func remove(_ ids: [CommandID]) { for id in ids { keeper?.remove(id) } }
    func close() { keeper?.close() }
  }

  // Once broken: A press that a shell left in the spool while the phone's store was full went out only after the next
  // press, because the directory had not changed.
  @Test("A command in the spool is found again until it has its verdict")
  func again() async throws {
    let scratch = try ScratchDirectory()
    let spool = SpoolDirectory(path: scratch.file("bus/_spool"))
    let command = SpooledCommand.now(
      Command(id: CommandID(high: 1, low: 1), kind: .pause, source: .shell), on: DeviceID("shell"))
    try spool.write(command)
    let node = try Node()
    try await node.open(spool)
    // Nothing in the directory has changed since the first time.
    try await node.found.wait(for: "the press three times") { $0.count >= 3 ? true : nil }
    await node.remove([command.command.id])
    await node.close()
    #expect(!spool.exists(command.command.id))
  }

  private func lap(_ number: UInt64) -> SpooledCommand {
    .now(Command(id: CommandID(high: 1, low: number), kind: .lap, source: .shell), on: DeviceID("shell"))
  }

  // Once broken: A node read every file of the spool at every look, so each press cost as much as all that waited.
  @Test("A look reads the new files only")
  func readsOnce() async throws {
    let scratch = try ScratchDirectory()
    let (opened, path) = (Counter(), scratch.file("bus/_spool"))
    let spool = SpoolDirectory(path: path) { step in
      if step == .open { opened.add() }
      return 0
    }
    for number in 1...20 as ClosedRange<UInt64> { try spool.write(lap(number)) }
    let node = try Node()
    try await node.open(spool)
    try await node.found.wait(for: "the presses three times") { $0.count >= 3 ? true : nil }
    #expect(opened.count == 20)
    try spool.write(lap(21))
    try await node.found.wait(for: "the last press") { $0.last?.count == 21 ? true : nil }
    #expect(opened.count == 21)
    await node.close()
  }

  // Once broken: The disk synced the spool once for each press that was judged.
  @Test("Presses that are judged together leave the spool with two syncs at most")
  func removesTogether() async throws {
    let scratch = try ScratchDirectory()
    let (synced, path) = (Counter(), scratch.file("bus/_spool"))
    let spool = SpoolDirectory(path: path) { step in
      if step == .syncDirectory { synced.add() }
      return 0
    }
    let presses = (1...20).map { lap($0) }
    for press in presses { try spool.write(press) }
    let node = try Node()
    try await node.open(spool)
    try await node.found.wait(for: "the presses") { $0.last?.count == presses.count ? true : nil }
    let before = synced.count
    await node.remove(presses.map(\.command.id))
    await node.close()
    #expect(spool.list().commands == [])
    #expect((1...2).contains(synced.count - before))
  }

  /// Counts what happens on several threads.
  private final class Counter: Sendable {
    private let value = Mutex(0)
    var count: Int { value.withLock { $0 } }
    func add() { value.withLock { $0 += 1 } }
  }
}
