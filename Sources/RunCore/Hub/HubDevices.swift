// Bounds the devices that a hub remembers, and chooses those that it forgets.
extension HubCore {
  /// The most devices that are known at a time, connected or not: as many as sessions.
  static let devicesMax = SessionTable.sessionsMax
  /// Beyond this many absent devices the hub forgets those that are owed nothing and have left nothing, the one unheard
  /// for longest first. A bus has a handful of devices; our own tests use a thousand peers.
  static let absentMax = 1024
  /// How many further devices are forgotten when one has to be.
  static let forgottenAtOnce = 63

  /// Makes room for a device that is not known; `false` if every known device is owed or has left something here.
  mutating func makeRoom(for device: DeviceID) -> Bool {
    trimStores()
    guard devices[device] == nil else { return true }
    trimDevices()
    return devices.count < Self.devicesMax
  }

  /// Forgets absent devices that are owed nothing and have left nothing: those without streams first, then those
  /// unheard for longest. It forgets some more than it must, because the search visits every device.
  private mutating func trimDevices() {
    guard devices.count >= Self.absentMax else { return }
    let present = Set(sessions.sessions.values.map(\.hello.storeID))
    let pressing = Set(unjudged.values.map(\.stream.sender)).union(claims.values.joined())
    var absent = 0
    var idle: [(hasStreams: Bool, device: KnownDevice)] = []
    // No closures here: each call of one would copy the whole hub.
    for device in devices.values where !present.contains(device.storeID) && !sessions.isReachable(device.deviceID) {
      absent += 1
      guard !pressing.contains(device.storeID), holdsNothing(device.storeID) else { continue }
      idle.append((!received(from: device.storeID).isEmpty, device))
    }
    let excess = max(absent - Self.absentMax + 1, devices.count - Self.devicesMax + 1)
    guard excess > 0 else { return }
    idle.sort {
      $0.hasStreams == $1.hasStreams
        ? ($0.device.heardAt, $0.device.deviceID) < ($1.device.heardAt, $1.device.deviceID) : $1.hasStreams
    }
    for (_, device) in idle.prefix(excess + Self.forgottenAtOnce) { forget(device) }
  }

  /// Bounds the stores that their devices have left for others. They are kept so that two nodes of one name do not
  /// disturb each other. Beyond the bound, those without a session are dropped.
  private mutating func trimStores() {
    guard couriers.count > devices.count + Self.absentMax else { return }
    let present = Set(devices.values.map(\.storeID))
    for store in couriers.keys.filter({ !present.contains($0) }).sorted() where sessions.connection(of: store) == nil {
      giveUp(store)
    }
  }

  /// Forgets a shell that has disconnected and never used a stream.
  ///
  /// - Returns: whether the shell was forgotten.
  mutating func forgetVisitor(_ device: KnownDevice) -> Bool {
    let store = device.storeID
    let hasStreams = StreamID.Kind.allCases.contains { watermarks[StreamID(sender: store, kind: $0)] != nil }
    guard device.role == .shell, sessions.connection(of: store) == nil, !hasStreams, verdictStreams[store] == nil,
      couriers[store]?.isUnused ?? true, !hasOtherStore(device)
    else { return false }
    forget(device)
    return true
  }

  /// Whether another node uses this name with a store of its own. What is known of the name then belongs to that node.
  private func hasOtherStore(_ device: KnownDevice) -> Bool {
    // By index: iterating over the values would copy each courier, which is large.
    couriers.values.indices.contains {
      couriers.values[$0].device == device.deviceID && couriers.keys[$0] != device.storeID
    }
  }

  private mutating func forget(_ device: KnownDevice) {
    devices[device.deviceID] = nil
    commits.add([.forgetDevice(device.deviceID)], then: [])
    giveUp(device.storeID)
    // Drop every store that was used under this name, not only the last one.
    let places = couriers.values.indices.filter { couriers.values[$0].device == device.deviceID }
    for store in places.map({ couriers.keys[$0] }) where sessions.connection(of: store) == nil { giveUp(store) }
  }

  /// Drops the streams of a store: its marks and what is owed to it. A store that comes back all the same is told to
  /// begin anew.
  mutating func giveUp(_ store: StoreID) {
    if let courier = couriers.removeValue(forKey: store), let heir = courier.device.flatMap({ devices[$0]?.storeID }) {
      couriers[heir]?.inherit(from: courier)
    }
    verdictStreams[store] = nil
    var operations = [StreamID.Kind.verdicts, .messages].map {
      StoreOperation.drop(OutboundStreamID(receiver: store, kind: $0))
    }
    operations += forgetMarks(of: store)
    commits.add(operations, then: [])
  }

  /// Forgets how far the streams of a store were processed, and returns the writes for that.
  mutating func forgetMarks(of store: StoreID) -> [StoreOperation] {
    [StreamID.Kind.commands, .samples, .messages].compactMap { kind in
      let stream = StreamID(sender: store, kind: kind)
      lastPress[stream] = nil
      unacknowledged.remove(stream)
      samples.forget(stream)
      let isKnown = watermarks.removeValue(forKey: stream) != nil
      // The courier holds the mark of the message stream, so its row is dropped in any case.
      return durable.removeValue(forKey: stream) != nil || isKnown || kind == .messages ? .forgetStream(stream) : nil
    }
  }

  /// Bytes of newest values that the hub keeps of each device, whatever others have sent.
  static let valueShare = 8 << 10
  /// The most bytes of newest values beyond the shares: of one device, and of all devices together. Values are settings
  /// and the like. Devices that fill the pool leave every other device its share.
  static let (valueBytesMax, valuePool) = (4 << 20, 32 << 20)

  /// How much room is left for newest values that a store sends. Values from the device's other stores count as well.
  func valueRoom(of store: StoreID) -> Courier.ValueRoom {
    let device = couriers[store]?.device
    var room = Courier.ValueRoom()
    var (pool, own) = (Self.valuePool, 0)
    // By index: iterating over the values would copy each courier, which is large.
    for place in couriers.values.indices {
      let bytes = couriers.values[place].receivedBytes
      guard bytes > 0, couriers.keys[place] != store else { continue }
      if couriers.values[place].device == device {
        own += bytes
        room.keys -= couriers.values[place].receivedCount
      } else {
        let isPresent = couriers.values[place].device.flatMap { devices[$0]?.storeID } == couriers.keys[place]
        pool -= max(0, bytes - (isPresent ? Self.valueShare : 0))
      }
    }
    room.bytes = Self.valueShare + min(Self.valueBytesMax, max(0, pool)) - own
    return room
  }

  /// Whether a store is owed nothing here and has left nothing that its device would miss.
  func holdsNothing(_ store: StoreID) -> Bool {
    !(verdictStreams[store]?.rows.contains { $0.item != nil } ?? false) && couriers[store]?.isEmpty ?? true
  }
}
