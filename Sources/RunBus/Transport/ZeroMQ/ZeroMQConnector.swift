#if ZeroMQ && canImport(CZMQ)
  import RunCore

  /// Connects to a hub over ZeroMQ: DEALER for control, SUB for events.
  public struct ZeroMQConnector: PeerConnector {
    /// The hub's control endpoint: `ipc://PATH` or `tcp://HOST:PORT`. With keys, the first of those that are tried.
    public var control: String
    /// The ways to the hub with keys, which can change while a peer runs; `nil` for a connection without keys.
    let ways: ConnectorWays?

    /// A connector to an endpoint.
    public init(control: String) {
      self.control = control
      ways = nil
    }

    /// A connector to a hub that takes connections with keys only.
    package init(control: String, keys: ConnectorKeys) {
      self.control = control
      ways = .fixed(CurveRoute(control: control, own: keys.own, hub: keys.hub))
    }

    /// A connector for a paired device. It tries every address and key of the hub that the device knows.
    package init(_ keyring: DeviceKeyring) {
      control = keyring.value.knownAddresses.first ?? ""
      ways = .known(keyring)
    }

    /// Where this peer receives events: at the port that the welcome names, on the host that the peer was given. A hub
    /// cannot make its peers connect to other machines, and need not know by which address it is reached.
    ///
    /// - Parameter control: The control endpoint to which it is connected.
    /// - Returns: the endpoint; `nil` for one that this peer does not connect to.
    func eventsEndpoint(named: String, at control: String) -> String? {
      let scheme = "tcp://"
      guard control.hasPrefix(scheme) else { return named.hasPrefix("ipc://") ? named : nil }
      if let port = ways?.eventsPort, let gap = control.lastIndex(of: ":") { return "\(control[...gap])\(port)" }
      guard named.hasPrefix(scheme), let gap = control.lastIndex(of: ":"), let end = named.lastIndex(of: ":"),
        let port = UInt16(named[named.index(after: end)...]), port > 0
      else { return nil }
      return "\(control[...gap])\(port)"
    }

    /// Starts to connect.
    ///
    /// - Throws: ``RunBusError/Code/badInput`` for an invalid address, ``RunBusError/Code/transport`` otherwise.
    public func connect(
      on loop: Loop, deliver: @escaping @Sendable (PeerTransportEvent) -> Void
    ) throws(RunBusError) -> any PeerTransport {
      do {
        return try ZeroMQPeer(self, on: loop, deliver: deliver)
      } catch {
        throw error.isAboutAddress
          ? RunBusError(
            .badInput, "\(control) is no address to connect to: ipc://PATH or tcp://HOST:PORT is", cause: error)
          : RunBusError(.transport, "cannot connect to \(control): \(error.shortage ?? "\(error)")", cause: error)
      }
    }
  }

  /// How a peer reaches a hub with keys.
  enum ConnectorWays: Sendable {
    case fixed(CurveRoute)
    case known(DeviceKeyring)

    /// The ways at present, in the order in which they are tried; never empty.
    var routes: [CurveRoute] {
      switch self {
      case .fixed(let route): [route]
      case .known(let keyring): keyring.value.routes
      }
    }

    /// The port for events that the user has given.
    var eventsPort: UInt16? { if case .known(let keyring) = self { keyring.value.eventsPort } else { nil } }
  }

  /// The keys of a connection to a hub.
  package struct ConnectorKeys: Sendable {
    /// The pair of this machine.
    package let own: KeyPair
    /// The public key of the hub. No other hub is accepted.
    package let hub: KeyFingerprint

    /// The keys of a connection.
    package init(own: KeyPair, hub: KeyFingerprint) {
      self.own = own
      self.hub = hub
    }
  }
#endif
