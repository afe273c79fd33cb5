public import RunCore

/// Any other process on the bus.
public actor Peer: Node {
  /// A peer on a loop, with a store and a way to the hub.
  public init(configuration: PeerConfiguration, connector: any PeerConnector, store: NodeStore, loop: Loop) {}
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
  /// How it stands to its hub.
  public var reachability: Reachability { Reachability(isReachable: false) }
  /// Changes of it, the present one first.
  public func reachabilities() -> AsyncStream<Reachability> { AsyncStream { $0.finish() } }
  public func suspend() {}
  public func resume() {}
}
