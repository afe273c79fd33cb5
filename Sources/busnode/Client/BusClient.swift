import Foundation
import RunBus

/// A short stay on a bus: one peer for one question or one press.
struct BusClient: Sendable {
  let location: BusLocation
  let peer: Peer

  /// A visitor at a bus; it leaves nothing behind.
  ///
  /// Throws when the bus is local and nobody holds it: there is no point in waiting.
  init(
    _ location: BusLocation, device: DeviceID, topics: [Topic] = [], isOneShot: Bool = true,
    services: LocalServices = LocalServices()
  ) throws {
    self.location = location
    if location.hasOpenPort { throw Failure.openPort(location) }
    if location.isWithoutHub { throw Failure.noBus(location) }
    peer = Peer(
      configuration: PeerConfiguration(deviceID: device, role: .shell, topics: topics, isOneShot: isOneShot),
      connector: ZeroMQConnector(control: location.controlEndpoint), store: NodeStore(), loop: try Loop(),
      services: services)
  }

  /// Runs the peer for as long as `body` takes.
  func run<Value: Sendable>(_ body: @Sendable @escaping (Peer) async throws -> Value) async throws -> Value {
    try await withThrowingTaskGroup(of: Value?.self) { group in
      group.addTask {
        try await peer.run()
        return nil
      }
      group.addTask { try await body(peer) }
      guard let value = try await group.next().flatMap({ $0 }) else {
        throw RunBusError(.closed, "the connection to \(location.displayName) has ended by itself")
      }
      group.cancelAll()
      // Leaves in good order; what the peer says about being cancelled is of no interest.
      while await group.nextResult() != nil {}
      return value
    }
  }
}

extension Failure {
  /// Nobody holds this bus.
  static func noBus(_ location: BusLocation) -> Failure {
    Failure(
      code: "noBus",
      message: HubLock.obstacle(at: location)
        ?? "no bus \"\(location.displayName)\": start one with: busnode phone\(location.flag)",
      exitStatus: ExitStatus.noBus)
  }

  /// The port is for the system to choose, which only a phone can ask for.
  static func openPort(_ location: BusLocation) -> Failure {
    Failure(
      code: "usage",
      message:
        "\(location.displayName) lets a phone choose its port: give the one that it chose, as tcp://127.0.0.1:PORT",
      exitStatus: ExitStatus.usage)
  }

  /// A hub did not answer in time.
  static func noAnswer(_ location: BusLocation, within span: BusDuration) -> Failure {
    Failure(
      code: "noBus",
      message: "no hub answers on bus \"\(location.displayName)\" within \(Sentence.seconds(span))",
      exitStatus: ExitStatus.noBus)
  }
}

extension BusLocation {
  /// The bus is one of this machine, and nobody holds it: no hub can answer.
  var isWithoutHub: Bool { controlEndpoint.hasPrefix("ipc://") && HubLock.holder(of: self) == nil }

  /// How to name this bus to another `busnode`.
  var flag: String {
    if !controlEndpoint.hasPrefix("ipc://") {
      " --address \(displayName)"
    } else {
      displayName == "default" ? "" : " --bus \(displayName)"
    }
  }
}

extension DeviceID {
  /// A name for somebody who only looks on, any number of them at a time.
  static func visitor() -> DeviceID {
    DeviceID("shell-\(ProcessInfo.processInfo.processIdentifier)") ?? DeviceID.role(.shell)
  }
}
