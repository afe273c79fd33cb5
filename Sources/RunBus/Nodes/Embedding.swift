#if ZeroMQ && canImport(CZMQ)
  public import RunCore

  // Convenience initializers: a node over ZeroMQ with its store in the usual directory.
  extension Hub {
    /// Makes the hub of a named bus or address: acquires the bus's lock and opens the device's store. Blocks for up to
    /// ``NodeStore/visitorPatience`` while another process holds the store.
    ///
    /// - Parameters:
    ///   - location: The bus. The hub's store is there, and its admin socket: a socket file at which it answers the
    ///     package's command `busnode` on this machine.
    ///   - others: Further addresses at which peers of this machine reach the same hub.
    ///   - remote: Where paired devices of other machines reach it. Keys are made when there are none.
    ///   - keys: Where the hub's keys are kept.
    ///   - makesNewKeys: Whether to make keys also when devices are paired with keys that are gone.
    ///   - configuration: How the hub is set up.
    ///   - loop: The thread that the hub runs on; several nodes may share it.
    /// - Throws: ``RunBusError/Code/busHeld`` or ``RunBusError/Code/storeHeld``, which name the process that holds the
    ///   bus or the store;
    ///   ``RunBusError/Code/storeMismatch`` when the store is a peer's or of another version;
    ///   ``RunBusError/Code/store`` or ``RunBusError/Code/transport`` when a directory cannot be used;
    ///   ``RunBusError/Code/store`` also when devices are paired and the keys are gone.
    public init(
      at location: BusLocation, alsoAt others: [BusLocation] = [], remote: [RemoteListener] = [],
      keys: any KeyStore = KeyFiles(), makesNewKeys: Bool = false, configuration: HubConfiguration, loop: Loop
    ) throws(RunBusError) {
      let device = configuration.deviceID
      let locations = [location] + others
      for obstacle in StartChecks.obstacles(toHub: device, at: locations, keys: remote.isEmpty ? nil : keys) {
        throw obstacle
      }
      // The locks are acquired first and released last: no other hub may bind while a socket of this one is open.
      var locks: [HubLock] = []
      for location in locations { locks.append(try HubLock.acquire(location, device: device)) }
      let store = try NodeStore(
        directory: location.stateDirectory(for: device), device: device, patience: NodeStore.visitorPatience,
        role: .hub, options: StoreOptions())
      if !remote.isEmpty, !makesNewKeys, try HubKeyring.present(location.keyName, in: keys) == nil {
        let paired = try store.history().members.devices.count { !$0.isRevoked }
        guard paired == 0 else { throw HubKeyring.lost(location.keyName, paired: paired) }
      }
      let access = remote.isEmpty ? nil : try HubRemote(remote, of: location.keyName, keys)
      // From now on a press that does not reach the hub is kept for it. If the directory cannot be made, the hub logs
      // that when it has started.
      for location in locations { try? location.setMet() }
      self.init(
        configuration: configuration,
        listeners: locations.map { ZeroMQListener(control: $0.controlEndpoint, events: $0.eventsEndpoint) }
          + (access.map { access in remote.map { ZeroMQListener($0, access.keyring) } } ?? []),
        store: store, loop: loop, locks: locks, services: LocalServices(at: location, alsoAt: others, device: device),
        remote: access)
    }
  }

  extension HubRemote {
    /// Reads or makes the keys of a bus's hub.
    init(_ listeners: [RemoteListener], of bus: BusName, _ keys: any KeyStore) throws(RunBusError) {
      let makePair: @Sendable () throws(RunBusError) -> KeyPair = { () throws(RunBusError) in try KeyPair() }
      self.init(
        keyring: try HubKeyring(bus, in: keys, makePair: makePair),
        addresses: { listeners.flatMap(\.addresses) }, pairingAddresses: { listeners.flatMap(\.pairingAddresses) },
        pairingListeners: { own in listeners.map { ZeroMQListener(pairing: $0.pairingEndpoint, own: own) } },
        makePair: makePair)
    }
  }

  extension ZeroMQListener {
    /// A listener for paired devices.
    init(_ remote: RemoteListener, _ keyring: HubKeyring) {
      self.init(
        control: remote.controlEndpoint, events: remote.eventsEndpoint,
        keys: ListenerKeys(own: keyring.value.own, admitted: keyring.admitted))
    }
  }

  extension Peer {
    /// Makes a peer of a named bus or address and opens the device's store. Blocks for up to
    /// ``NodeStore/visitorPatience`` while another process holds the store.
    ///
    /// - Parameters:
    ///   - location: The bus. The peer's store and its admin socket are there, as for a hub.
    ///   - configuration: How the peer is set up.
    ///   - loop: The thread that the peer runs on; several nodes may share it.
    /// - Throws: ``RunBusError/Code/storeHeld``, which names the process that holds the store;
    ///   ``RunBusError/Code/storeMismatch`` when the store is a hub's or of another version;
    ///   ``RunBusError/Code/store`` when it cannot be used.
    public init(at location: BusLocation, configuration: PeerConfiguration, loop: Loop) throws(RunBusError) {
      let device = configuration.deviceID
      for obstacle in StartChecks.obstacles(toPeer: device, at: location) { throw obstacle }
      self.init(
        configuration: configuration, connector: ZeroMQConnector(to: location),
        store: try NodeStore(
          directory: location.stateDirectory(for: device), device: device, patience: NodeStore.visitorPatience,
          role: .peer, options: StoreOptions()),
        loop: loop, services: LocalServices(at: location, device: device), keyring: location.keyring)
    }
  }

  extension Requester {
    /// Makes a requester for the hub of a named bus or address.
    ///
    /// - Parameters:
    ///   - location: The bus.
    ///   - loop: The thread on which the requests run; nodes and requesters may share it.
    public init(at location: BusLocation, loop: Loop) {
      self.init(connector: ZeroMQConnector(to: location), loop: loop)
    }
  }

  extension ZeroMQConnector {
    /// A connector to the hub of a bus: with keys if this machine is paired with it.
    package init(to location: BusLocation) {
      if let keyring = location.keyring {
        self.init(keyring)
      } else {
        self.init(control: location.controlEndpoint)
      }
    }
  }

  extension LocalServices {
    /// The usual services of a device: the spools of its bus, and an admin socket in the bus's runtime directory.
    init(at location: BusLocation, alsoAt others: [BusLocation] = [], device: DeviceID) {
      self.init(
        spools: ([location] + others).map(\.spool),
        adminSocket: ZeroMQAdminSocketOpener(location: location, device: device))
    }
  }
#endif

extension Identifier {
  /// Makes a random identifier.
  public static func random() -> Self {
    // Do not pass a `SystemRandomNumberGenerator` with `using:`: the struct is empty and has no address, which the
    // thread sanitizer cannot handle.
    Self(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
  }
}
