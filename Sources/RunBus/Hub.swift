public import RunCore

/// The node that holds the authoritative run: exactly one per bus.
public actor Hub: Node {
  /// A hub on a loop, with a store and a way to be reached.
  public init(configuration: HubConfiguration, listener: any HubListener, store: NodeStore, loop: Loop) {}
  public func run() async throws(RunBusError) {}
  public func send(_ command: Command) async throws(RunBusError) -> Verdict { throw RunBusError(.closed, "") }
  public func receipts(for id: CommandID) -> AsyncStream<Receipt> { AsyncStream { $0.finish() } }
  public func record(_ sample: Sample) throws(RunBusError) {}
  public func snapshots() -> AsyncStream<Snapshot> { AsyncStream { $0.finish() } }
  public func events() -> AsyncStream<BusEvent> { AsyncStream { $0.finish() } }
  public var authoritative: Snapshot { .none }
  public var predicted: RunPhase { .idle }
  public var busNow: BusTime? { nil }
  public var speed: BusSpeed { .realTime }
  public func suspend() {}
  public func resume() {}
}
