import RunCore
import Synchronization
import SystemC
import TestSupport
import Testing

@testable import RunBus

@Suite("A group of loops")
struct LoopGroupTests {
  @Test("Many buses on two loops each judge their press")
  func buses() async throws {
    let group = try LoopGroup(loops: 2)
    defer { group.stop() }
    try await withThrowingTaskGroup(of: Void.self) { buses in
      for _ in 0..<20 {
        let (bus, loop) = (InProcessBus(), group.next())
        let hub = Hub(
          configuration: HubConfiguration(deviceID: "phone", debounce: .zero), listeners: [bus.listener],
          store: NodeStore(), loop: loop)
        let watch = Peer(
          configuration: PeerConfiguration(deviceID: "watch", role: .watch), connector: bus.connector,
          store: NodeStore(), loop: loop)
        buses.addTask {
          try await Self.press(on: hub, by: watch)
          #expect(await hub.authoritative.phase == .running)
        }
      }
      try await buses.waitForAll()
    }
  }

  @Test("Each loop comes in turn, and a group has at least one")
  func turns() throws {
    let group = try LoopGroup(loops: 2)
    defer { group.stop() }
    let loops = (0..<3).map { _ in group.next() }
    #expect(loops[0] === loops[2])
    #expect(loops[0] !== loops[1])
    let one = try LoopGroup(loops: 0)
    defer { one.stop() }
    #expect(one.next() === one.next())
  }

  #if ZeroMQ && canImport(CZMQ)
    @Test("A hub of a group ends, and another one takes its address at once")
    func sameAddress() async throws {
      let group = try LoopGroup(loops: 1)
      defer { group.stop() }
      try await withTestBus { bus in
        let (control, events) = ("ipc://\(bus.runtimeDirectory)/c", "ipc://\(bus.runtimeDirectory)/e")
        for _ in 0..<3 {
          let hub = Hub(
            configuration: HubConfiguration(deviceID: "phone", debounce: .zero),
            listeners: [ZeroMQListener(control: control, events: events)], store: NodeStore(), loop: group.next())
          let watch = Peer(
            configuration: PeerConfiguration(deviceID: "watch", role: .watch),
            connector: ZeroMQConnector(control: control), store: NodeStore(), loop: group.next())
          try await Self.press(on: hub, by: watch)
        }
      }
    }
  #endif

  /// Runs both nodes until a press of the peer has its verdict.
  private static func press(on hub: Hub, by watch: Peer) async throws {
    try await withThrowingTaskGroup(of: Void.self) { nodes in
      nodes.addTask { try await hub.run() }
      nodes.addTask { try await watch.run() }
      let verdict = try await watch.send(Command(.start, source: .watch))
      #expect(verdict.outcome == .applied)
      nodes.cancelAll()
      try await nodes.waitForAll()
    }
  }
}

@Suite("The thread of a store")
struct StoreThreadTests {
  @Test("Stores whose first jobs come from one loop of a group share a thread; others have their own")
  func shared() async throws {
    let group = try LoopGroup(loops: 2)
    defer { group.stop() }
    let (loop, other) = (group.next(), group.next())
    let threads = (0..<4).map { _ in StoreThread(name: "test.store") }
    let first = await Self.number(of: threads[0], from: loop)
    let second = await Self.number(of: threads[1], from: loop)
    let third = await Self.number(of: threads[2], from: other)
    let fourth = threads[3].run { currentThreadNumber() }
    #expect(first == second)
    let numbers: Set<UInt?> = [first, third, fourth]
    #expect(numbers.count == 3 && !numbers.contains(nil))
    for thread in threads { thread.end(after: {}) }
    #expect(threads[0].run { 1 } == nil)
  }

  @Test("A store ends after its jobs, and those of the store beside it go on")
  func end() async throws {
    let group = try LoopGroup(loops: 1)
    defer { group.stop() }
    let (first, second) = (StoreThread(name: "test.store"), StoreThread(name: "test.store"))
    _ = await (Self.number(of: first, from: group.next()), Self.number(of: second, from: group.next()))
    let log = EventLog<Int>()
    for number in 0..<100 { #expect(first.enqueue { log.append(number) }) }
    first.end(after: { log.append(100) })
    #expect(log.events == Array(0...100))
    #expect(!first.enqueue {} && first.isIdle)
    #expect(second.run { 7 } == 7)
    // A call on the shared thread itself does not wait for the end.
    let isTaken = second.run { () -> Bool in
      second.end(after: { log.append(101) })
      return true
    }
    #expect(isTaken == true)
    second.end(after: {})
    #expect(log.events.last == 101)
  }

  @Test("The stores of a thread are idle when none of their jobs waits")
  func idle() async throws {
    let group = try LoopGroup(loops: 1)
    defer { group.stop() }
    let (first, second) = (StoreThread(name: "test.store"), StoreThread(name: "test.store"))
    _ = await (Self.number(of: first, from: group.next()), Self.number(of: second, from: group.next()))
    let seen = Mutex<[Bool]>([])
    let gate = Gate()
    #expect(first.enqueue { gate.wait() })
    #expect(first.enqueue { seen.withLock { $0.append(first.isIdle) } })
    #expect(second.enqueue { seen.withLock { $0.append(first.isIdle) } })
    #expect(!first.isIdle && !second.isIdle)
    gate.open()
    #expect(second.run { 1 } == 1)
    #expect(seen.withLock { $0 }.first == false)
    for thread in [first, second] { thread.end(after: {}) }
  }

  /// Runs the first job of a store from a loop.
  private static func number(of thread: StoreThread, from loop: Loop) async -> UInt? {
    await withCheckedContinuation { continuation in
      loop.submit { continuation.resume(returning: thread.run { currentThreadNumber() }) }
    }
  }

  private final class Gate: Sendable {
    private let isOpen = Atomic<Bool>(false)
    func open() { isOpen.store(true, ordering: .releasing) }
    func wait() { while !isOpen.load(ordering: .acquiring) { usleep(1000) } }
  }
}
