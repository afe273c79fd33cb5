import Synchronization
import SystemC

/// Loops for many nodes in one process, such as a simulator with a bus for each of its runners. Its nodes share a few
/// threads, where each would have some of its own: loops, one thread for the stores of each loop, and the thread of
/// libzmq for all hubs.
///
/// ```swift
/// let group = try LoopGroup()
/// for number in 0..<100 {
///   let (bus, loop) = (InProcessBus(), group.next())
///   let hub = Hub(
///     configuration: HubConfiguration(deviceID: "phone"), listeners: [bus.listener], store: NodeStore(), loop: loop)
///   let watch = Peer(
///     configuration: PeerConfiguration(deviceID: "watch", role: .watch), connector: bus.connector,
///     store: NodeStore(), loop: loop)
///   ...
/// }
/// ```
///
/// Nodes of one group wait for each other: one that is busy, or whose disk is slow, delays those of its loop. An app with
/// one bus gives its node a ``Loop`` of its own.
public final class LoopGroup: Sendable {
  private let loops: [Loop]
  private let count = Atomic<Int>(0)

  /// Starts the threads of the loops.
  ///
  /// - Parameter loops: How many; as many as the machine has processors when not stated.
  /// - Throws: ``RunBusError/Code/transport`` when the system provides no thread or no pipe.
  public init(loops: Int? = nil) throws(RunBusError) {
    let hubs = SharedThings()
    var made: [Loop] = []
    for _ in 0..<max(1, loops ?? sysconf(CInt(_SC_NPROCESSORS_ONLN))) {
      made.append(try Loop(steeredBy: nil, sharing: LoopShare(things: SharedThings(), groupThings: hubs)))
    }
    self.loops = made
  }

  deinit { stop() }

  /// A loop of the group, each of them in turn. The nodes of one bus go on one loop: then they need not wake each other's
  /// thread.
  public func next() -> Loop {
    loops[(count.add(1, ordering: .relaxed).oldValue & Int.max) % loops.count]
  }

  /// Ends the loops as ``Loop/stop()`` does. Idempotent.
  public func stop() { for loop in loops { loop.stop() } }
}

/// What a loop of a group shares.
struct LoopShare: Sendable {
  /// What the nodes of one loop share.
  let things: SharedThings
  /// What all nodes of the group share.
  let groupThings: SharedThings

  private static let byThread = Mutex<[UInt: LoopShare]>([:])

  /// What the loop shares on whose thread the caller is; `nil` on other threads and on a loop of its own.
  static var current: LoopShare? { byThread.withLock { $0[currentThreadNumber()] } }

  /// Runs the body of a loop's thread.
  func run(_ body: () -> Void) {
    let number = currentThreadNumber()
    Self.byThread.withLock { $0[number] = self }
    body()
    Self.byThread.withLock { $0[number] = nil }
  }
}

/// Objects that nodes share, one of each type. Rooms above this one put them here.
final class SharedThings: Sendable {
  private let things = Mutex<[ObjectIdentifier: any AnyObject & Sendable]>([:])

  /// The object of a type, made when there is none.
  func get<Thing: AnyObject & Sendable, Failure: Error>(
    _ type: Thing.Type = Thing.self, _ make: () throws(Failure) -> Thing
  ) throws(Failure) -> Thing {
    try things.withLock { things throws(Failure) in
      if let thing = things[ObjectIdentifier(type)] as? Thing { return thing }
      let thing = try make()
      things[ObjectIdentifier(type)] = thing
      return thing
    }
  }
}
