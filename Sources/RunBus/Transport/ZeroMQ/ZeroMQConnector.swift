#if ZeroMQ && canImport(CZMQ)
  import RunCore

  /// Connects to a hub over ZeroMQ: DEALER for control, SUB for events.
  public struct ZeroMQConnector: PeerConnector {
    /// The hub's control endpoint: `ipc://PATH` or `tcp://HOST:PORT`.
    public var control: String
    /// The keys of the connection; `nil` for one without keys.
    let keys: ConnectorKeys?

    /// A connector to an endpoint.
    public init(control: String) {
      self.control = control
      keys = nil
    }

    /// A connector to a hub that takes connections with keys only.
    package init(control: String, keys: ConnectorKeys) {
      self.control = control
      self.keys = keys
    }

    /// Where this peer receives events: at the port that the welcome names, on the host that the peer was given. A hub
    /// cannot make its peers connect to other machines, and need not know by which address it is reached.
    ///
    /// - Returns: the endpoint; `nil` for one that this peer does not connect to.
    func eventsEndpoint(named: String) -> String? {
      let scheme = "tcp://"
      guard control.hasPrefix(scheme) else { return named.hasPrefix("ipc://") ? named : nil }
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
