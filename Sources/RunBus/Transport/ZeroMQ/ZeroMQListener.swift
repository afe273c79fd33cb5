#if ZeroMQ && canImport(CZMQ)
  import RunCore
  import SystemC

  /// Opens a hub's sockets over ZeroMQ: ROUTER for control, XPUB for events.
  ///
  /// A connection to an `ipc` endpoint has the identity ``RunCore/ConnectionIdentity/localOwner``, because only the
  /// hub's own user can open the directory of the socket. A connection over TCP is ``RunCore/ConnectionIdentity/anyone``.
  ///
  /// The caller holds the bus's lock: a bind silently takes over an ipc path that has no listener.
  public struct ZeroMQListener: HubListener {
    /// The endpoint for control: `ipc://PATH` or `tcp://HOST:PORT`, with port 0 or `*` for any free port.
    public var control: String
    /// The endpoint for events, likewise.
    public var events: String

    /// The keys of the connections; `nil` for connections without keys.
    var keys: ListenerKeys?
    /// Whether it publishes events.
    var publishes = true

    /// A listener on two endpoints.
    public init(control: String, events: String) {
      self.control = control
      self.events = events
      keys = nil
    }

    /// A listener that takes pairing requests of every key, and publishes nothing. A connection has the identity
    /// ``RunCore/ConnectionIdentity/candidate(_:)``.
    package init(pairing endpoint: String, own: KeyPair) {
      self.init(control: endpoint, events: "", keys: ListenerKeys(own: own, admitted: .candidates))
      publishes = false
    }

    /// A listener on two endpoints that takes connections with keys only. A connection has the identity
    /// ``RunCore/ConnectionIdentity/key(_:)`` of the key that it has proved.
    package init(control: String, events: String, keys: ListenerKeys) {
      self.control = control
      self.events = events
      self.keys = keys
    }

    /// Binds both sockets.
    ///
    /// - Throws: ``RunBusError/Code/addressInUse`` when another process listens there, ``RunBusError/Code/transport``
    ///   otherwise.
    public func listen(
      on loop: Loop, deliver: @escaping @Sendable (HubTransportEvent) -> Void
    ) throws(RunBusError) -> any HubTransport {
      for endpoint in [control, events] where SocketFile.isAlive(at: endpoint) {
        throw RunBusError(.addressInUse, "\(endpoint) is taken: another hub or program listens there")
      }
      let limit = FileDescriptorBudget.limit
      guard limit >= FileDescriptorBudget.forHub else {
        throw RunBusError(
          .transport,
          "the hub cannot listen: this process may have \(limit) files open, \(FileDescriptorBudget.forHub) are the least for "
            + "a hub: raise the limit (ulimit -n)")
      }
      do {
        return try ZeroMQHub(self, on: loop, deliver: deliver)
      } catch {
        if error.code == EADDRINUSE {
          throw RunBusError(
            .addressInUse, "\(error.endpoint ?? control) is taken: another hub or program listens there")
        }
        let why = error.shortage ?? "(\(error)): is the address right, and may you use it?"
        throw RunBusError(.transport, "the hub cannot listen: \(why)", cause: error)
      }
    }
  }

  /// The keys of a hub's listener.
  package struct ListenerKeys: Sendable {
    /// The pair of the hub.
    package var own: KeyPair
    /// The keys that are let in.
    package let admitted: AdmittedKeys

    /// The keys of a listener.
    package init(own: KeyPair, admitted: AdmittedKeys) {
      self.own = own
      self.admitted = admitted
    }
  }
#endif
