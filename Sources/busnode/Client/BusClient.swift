import Foundation
import RunBus

/// A peer that joins a bus for the time of one command that follows what happens there.
struct BusClient: Sendable {
  let location: BusLocation
  let peer: Peer
  /// The name of the visitor on the bus.
  let deviceID = DeviceID.visitor()

  /// Makes a peer with a store in memory, so that it leaves nothing on this machine.
  ///
  /// - Throws: ``Failure`` as ``BusLocation/checkForHub()``.
  init(_ location: BusLocation, topics: [Topic]) throws {
    self.location = location
    try location.checkForHub()
    peer = Peer(
      configuration: PeerConfiguration(deviceID: deviceID, role: .shell, topics: topics),
      connector: ZeroMQConnector(to: location), store: NodeStore(), loop: try Loop())
  }

  /// Runs the peer until `body` returns.
  ///
  /// - Throws: ``RunBusError/Code/closed`` when the peer ends first, and whatever the peer or `body` throws.
  func run<Value: Sendable>(_ body: @Sendable @escaping (Peer) async throws -> Value) async throws -> Value {
    try await withThrowingTaskGroup(of: Value?.self) { group in
      group.addTask {
        try await peer.run()
        return nil
      }
      group.addTask { try await body(peer) }
      guard let value = try await group.next().flatMap({ $0 }) else {
        throw RunBusError(.closed, Tongue.say(.connectionEnded, ["bus": location.displayName]))
      }
      group.cancelAll()
      // Wait until the peer has said goodbye. Its cancellation error does not matter.
      while await group.nextResult() != nil {}
      return value
    }
  }
}

extension Failure {
  /// No hub of this bus runs on this machine.
  static func noBus(_ location: BusLocation) -> Failure {
    let isKnown = (try? LocalDevices(location: location).all())?.isEmpty == false
    let what =
      isKnown
      ? Tongue.say(.phoneNotRunning, ["bus": location.displayName, "flag": location.flag])
      : Tongue.say(.noBus, ["bus": location.displayName, "flag": location.flag])
    return Failure(
      code: "noBus",
      message: HubLock.obstacle(at: location) ?? what,
      exitStatus: ExitStatus.noBus)
  }

  /// The location lets the system choose the port, which only a hub can use.
  static func openPort(_ location: BusLocation) -> Failure {
    Failure(
      code: "usage",
      message:
        Tongue.say(.openPort, ["bus": location.displayName]),
      exitStatus: ExitStatus.usage)
  }

  /// A hub did not answer in time.
  static func noAnswer(_ location: BusLocation, within span: BusDuration) -> Failure {
    Failure(
      code: "noBus",
      message: Tongue.say(.noHubAnswers, ["bus": location.displayName, "time": Sentence.seconds(span)])
        + (location.keyring == nil ? "" : Tongue.say(.hubAwayOrKey)),
      exitStatus: ExitStatus.noBus)
  }
}

extension BusLocation {
  /// Asks the hub, or sends it commands, without joining the bus.
  ///
  /// - Throws: ``Failure`` as ``checkForHub()``.
  func requester() throws -> Requester {
    try checkForHub()
    return Requester(at: self, loop: try Loop())
  }

  /// Asks the hub one question.
  ///
  /// - Throws: ``Failure`` with 69 when no hub answers within `patience`.
  func ask<Answer: Sendable>(_ question: Question<Answer>, within patience: BusDuration) async throws -> Answer {
    let requester = try requester()
    guard let answer = try await within(Duration(patience), { try await requester.ask(question) }) else {
      throw Failure.noAnswer(self, within: patience)
    }
    return answer
  }

  /// Checks that a hub can be there.
  ///
  /// - Throws: ``Failure`` with 64 when the location has no fixed port, and with 69 when the bus is local and no hub
  ///   runs: waiting would be pointless.
  func checkForHub() throws(Failure) {
    if hasOpenPort { throw Failure.openPort(self) }
    if isWithoutHub { throw Failure.noBus(self) }
  }

  /// Whether the bus is local and no hub holds its lock, so that none can answer.
  var isWithoutHub: Bool { controlEndpoint.hasPrefix("ipc://") && HubLock.holder(of: self) == nil }

  /// The option that names this bus to another `busnode`, after a blank; empty for the default bus.
  var flag: String {
    if isAddress {
      " --address \(displayName)"
    } else {
      displayName == "default" ? "" : " --bus \(displayName)"
    }
  }
}

extension DeviceID {
  /// A name for a client that only listens. It contains the process id, so that any number of them can run at once.
  static func visitor() -> DeviceID {
    DeviceID("shell-\(ProcessInfo.processInfo.processIdentifier)") ?? DeviceID.role(.shell)
  }
}
