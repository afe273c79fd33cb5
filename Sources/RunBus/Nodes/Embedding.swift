#if ZeroMQ
  public import RunCore

  // The short way onto a bus over ZeroMQ, with a store in the usual place.
  extension Hub {
    /// A hub on a named bus or address: takes the bus's lock and opens the device's store. Blocks for up to
    /// ``NodeStore/visitorPatience`` while another process holds the store.
    ///
    /// Throws ``RunBusError/Code/busHeld`` naming who holds the bus or the store, and ``RunBusError/Code/store`` or
    /// ``RunBusError/Code/transport`` when a directory cannot be used.
    public init(at location: BusLocation, configuration: HubConfiguration, loop: Loop) throws(RunBusError) {
      // The lock comes first and goes last: nobody else binds while anything of ours is open.
      let lock = try HubLock.acquire(location, device: configuration.deviceID)
      let device = configuration.deviceID
      let store = try NodeStore(
        directory: location.stateDirectory(for: device), device: device, patience: NodeStore.visitorPatience)
      self.init(
        configuration: configuration,
        listener: ZeroMQListener(control: location.controlEndpoint, events: location.eventsEndpoint), store: store,
        loop: loop, lock: lock, services: LocalServices(at: location, device: device))
    }
  }

  extension Peer {
    /// A peer of a named bus or address: opens the device's store. Blocks for up to
    /// ``NodeStore/visitorPatience`` while another process holds the store.
    ///
    /// Throws ``RunBusError/Code/busHeld`` naming who holds the store, ``RunBusError/Code/store`` when it cannot be used.
    public init(at location: BusLocation, configuration: PeerConfiguration, loop: Loop) throws(RunBusError) {
      let device = configuration.deviceID
      self.init(
        configuration: configuration, connector: ZeroMQConnector(control: location.controlEndpoint),
        store: try NodeStore(
          directory: location.stateDirectory(for: device), device: device, patience: NodeStore.visitorPatience),
        loop: loop,
        services: LocalServices(at: location, device: device))
    }
  }

  extension LocalServices {
    /// The usual place of a device's node: the spool of its bus on this machine, and a door beside the bus's sockets.
    init(at location: BusLocation, device: DeviceID) {
      self.init(spool: location.spool, adminSocket: ZeroMQAdminSocketOpener(location: location, device: device))
    }
  }
#endif

extension Identifier {
  /// Draws an identifier.
  public static func random() -> Self {
    // Without a system generator of our own: it has no size and so no address, which the thread sanitizer does not bear.
    Self(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
  }
}

extension AppMessage {
  /// A message to be sent now: its id is drawn.
  public init(name: String, body: [UInt8]) {
    self.init(id: .random(), name: name, body: body)
  }
}

extension Command {
  /// A press of a button now: its id is drawn, and a start mints the id of its run.
  public init(_ kind: CommandKind, source: ControlSource) {
    self.init(id: .random(), kind: kind, source: source, runID: kind == .start ? .random() : nil)
  }
}
