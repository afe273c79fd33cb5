#if ZeroMQ
  public import RunCore

  // The short way onto a bus over ZeroMQ, with a store in the usual place.
  extension Hub {
    /// A hub on a named bus or address: takes the bus's lock and opens the device's store.
    ///
    /// Throws ``RunBusError/Code/busHeld`` naming who holds the bus or the store, and ``RunBusError/Code/store`` or
    /// ``RunBusError/Code/transport`` when a directory cannot be used.
    public init(at location: BusLocation, configuration: HubConfiguration, loop: Loop) throws(RunBusError) {
      // The lock comes first and goes last: nobody else binds while anything of ours is open.
      let lock = try HubLock.acquire(location, device: configuration.deviceID)
      let device = configuration.deviceID
      let store = try NodeStore(directory: location.stateDirectory(for: device), device: device)
      self.init(
        configuration: configuration,
        listener: ZeroMQListener(control: location.controlEndpoint, events: location.eventsEndpoint), store: store,
        loop: loop, lock: lock)
    }
  }

  extension Peer {
    /// A peer of a named bus or address: opens the device's store.
    ///
    /// Throws ``RunBusError/Code/busHeld`` naming who holds the store, ``RunBusError/Code/store`` when it cannot be used.
    public init(at location: BusLocation, configuration: PeerConfiguration, loop: Loop) throws(RunBusError) {
      let device = configuration.deviceID
      self.init(
        configuration: configuration, connector: ZeroMQConnector(control: location.controlEndpoint),
        store: try NodeStore(directory: location.stateDirectory(for: device), device: device), loop: loop)
    }
  }
#endif

extension Command {
  /// A press of a button now: its id is drawn, and a start mints the id of its run.
  public init(_ kind: CommandKind, source: ControlSource) {
    var generator = SystemRandomNumberGenerator()
    self.init(
      id: CommandID(using: &generator), kind: kind, source: source,
      runID: kind == .start ? RunID(using: &generator) : nil)
  }
}
