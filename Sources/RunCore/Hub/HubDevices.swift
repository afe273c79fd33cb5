// How many devices a hub remembers, and which of them it forgets.
extension HubCore {
  /// Devices that are known at a time, present or not: as many as have sessions.
  static let devicesMax = SessionTable.sessionsMax
  /// Devices that are gone, are owed nothing and have left nothing: beyond these the one unheard for longest is forgotten.
  /// A bus has a handful; a thousand peers are a test of ours.
  static let absentMax = 1024
  /// How many more are forgotten when one has to be.
  static let forgottenAtOnce = 63

  /// Makes room for a device that is not known; `false` when each of those that are has something here.
  mutating func makeRoom(for device: DeviceID) -> Bool {
    trimStores()
    guard devices[device] == nil else { return true }
    trimDevices()
    return devices.count < Self.devicesMax
  }

  /// Forgets devices that are gone, are owed nothing and have left nothing: those of which no stream has begun first, then
  /// those unheard for longest. Some more go than must, because looking for them takes as long as there are devices.
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

  /// A store that its device has left for another is kept while both are here, so that two nodes of one name do not disturb
  /// each other. Of those that are gone some are kept, and no more.
  private mutating func trimStores() {
    guard couriers.count > devices.count + Self.absentMax else { return }
    let present = Set(devices.values.map(\.storeID))
    for store in couriers.keys.filter({ !present.contains($0) }).sorted() where sessions.connection(of: store) == nil {
      giveUp(store)
    }
  }

  /// A shell that looked on, said nothing and is gone is no device of the bus any more.
  mutating func forgetVisitor(_ device: KnownDevice) -> Bool {
    let store = device.storeID
    let hasStreams = StreamID.Kind.allCases.contains { watermarks[StreamID(sender: store, kind: $0)] != nil }
    guard device.role == .shell, sessions.connection(of: store) == nil, !hasStreams, verdictStreams[store] == nil,
      couriers[store]?.isUnused ?? true, !hasOtherStore(device)
    else { return false }
    forget(device)
    return true
  }

  /// Another node goes by this name, with a store of its own: what is known of the name is its.
  private func hasOtherStore(_ device: KnownDevice) -> Bool {
    // By place: a courier is large, and a loop over them copies each.
    couriers.values.indices.contains {
      couriers.values[$0].device == device.deviceID && couriers.keys[$0] != device.storeID
    }
  }

  private mutating func forget(_ device: KnownDevice) {
    devices[device.deviceID] = nil
    commits.add([.forgetDevice(device.deviceID)], then: [])
    giveUp(device.storeID)
    // What was kept of the name is gone, whichever store it came from.
    let places = couriers.values.indices.filter { couriers.values[$0].device == device.deviceID }
    for store in places.map({ couriers.keys[$0] }) where sessions.connection(of: store) == nil { giveUp(store) }
  }

  /// Nothing of these streams will be heard again: their marks and what is owed by them go. A store that comes back all the
  /// same is told to begin anew.
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

  /// Forgets how far the streams of a store were taken in.
  mutating func forgetMarks(of store: StoreID) -> [StoreOperation] {
    [StreamID.Kind.commands, .samples, .messages].compactMap { kind in
      let stream = StreamID(sender: store, kind: kind)
      lastPress[stream] = nil
      unacknowledged.remove(stream)
      samples.forget(stream)
      let isKnown = watermarks.removeValue(forKey: stream) != nil
      // The mark of messages is with their courier.
      return durable.removeValue(forKey: stream) != nil || isKnown || kind == .messages ? .forgetStream(stream) : nil
    }
  }

  /// Bytes of newest values that the hub keeps of each device, whatever others have sent.
  static let valueShare = 8 << 10
  /// Bytes of newest values beyond the shares: of one device, and of all together. A device's values are settings and
  /// the like; ten devices that fill theirs leave every other its share.
  static let (valueBytesMax, valuePool) = (4 << 20, 32 << 20)

  /// How much room there is for the newest values that come from a store. They are its device's: those of the device's
  /// other stores count with them.
  func valueRoom(of store: StoreID) -> Courier.ValueRoom {
    let device = couriers[store]?.device
    var room = Courier.ValueRoom()
    var (pool, own) = (Self.valuePool, 0)
    // By place: a courier is large, and a loop over them copies each.
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
