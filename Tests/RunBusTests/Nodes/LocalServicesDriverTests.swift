import Logging
import RunCore
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
    func remove(_ id: CommandID) { keeper?.remove(id) }
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
    await node.remove(command.command.id)
    await node.close()
    #expect(!spool.exists(command.command.id))
  }
}
