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
    guard mail.devices[device] == nil else { return true }
    trimDevices()
    return mail.devices.count < Self.devicesMax
  }

  /// Forgets absent devices that are owed nothing and have left nothing: those of unknown senders first, then those
  /// without streams, then those unheard for longest. It forgets some more than it must, because the search visits every
  /// device.
  private mutating func trimDevices() {
    guard mail.devices.count >= Self.absentMax else { return }
    let present = Set(sessions.sessions.values.map(\.hello.storeID))
    let pressing = book.stores
    var absent = 0
    var idle: [(rank: Int, device: KnownDevice)] = []
    // No closures here: each call of one would copy the whole hub.
    for device in mail.devices.values where !present.contains(device.storeID) && !sessions.isReachable(device.deviceID)
    {
      absent += 1
      guard !pressing.contains(device.storeID), holdsNothing(device.storeID) else { continue }
      let hasStreams = !received(from: device.storeID).isEmpty
      idle.append(((device.identity == .anyone ? 0 : 2) + (hasStreams ? 1 : 0), device))
    }
    let excess = max(absent - Self.absentMax + 1, mail.devices.count - Self.devicesMax + 1)
    guard excess > 0 else { return }
    idle.sort {
      ($0.rank, $0.device.heardAt, $0.device.deviceID) < ($1.rank, $1.device.heardAt, $1.device.deviceID)
    }
    for (_, device) in idle.prefix(excess + Self.forgottenAtOnce) { forget(device) }
  }

  /// Bounds the stores that their devices have left for others. They are kept so that two nodes of one name do not
  /// disturb each other. Beyond the bound, those without a session are dropped.
  private mutating func trimStores() {
    guard mail.storeCount > mail.devices.count + Self.absentMax else { return }
    let present = mail.presentStores
    for store in mail.stores where !present.contains(store) && sessions.connection(of: store) == nil { giveUp(store) }
  }

  /// Forgets a shell that has disconnected and never used a stream.
  ///
  /// - Returns: whether the shell was forgotten.
  mutating func forgetVisitor(_ device: KnownDevice) -> Bool {
    let store = device.storeID
    let hasStreams = StreamID.Kind.allCases.contains { marks.hasBegun(StreamID(sender: store, kind: $0)) }
    // With another store the name is used by another node, and what is known of the name belongs to that node.
    let hasOtherStore = mail.stores(of: device.deviceID).contains { $0 != store }
    guard device.role == .shell, sessions.connection(of: store) == nil, !hasStreams, !verdicts.hasStream(store),
      mail.isUnused(store), !hasOtherStore
    else { return false }
    forget(device)
    return true
  }

  private mutating func forget(_ device: KnownDevice) {
    mail.forget(device.deviceID)
    commits.add([.forgetDevice(device.deviceID)], then: [])
    giveUp(device.storeID)
    // Drop every store that was used under this name, not only the last one.
    for store in mail.stores(of: device.deviceID) where sessions.connection(of: store) == nil { giveUp(store) }
  }

  /// Drops the streams of a store: its marks and what is owed to it. A store that comes back all the same is told to
  /// begin anew.
  mutating func giveUp(_ store: StoreID) {
    commits.add([verdicts.drop(store), mail.drop(store)] + forgetMarks(of: store) + mail.disown(store), then: [])
  }

  /// Forgets how far the streams of a store were processed, and returns the writes for that.
  mutating func forgetMarks(of store: StoreID) -> [StoreOperation] {
    [StreamID.Kind.commands, .samples, .messages].compactMap { kind in
      let stream = StreamID(sender: store, kind: kind)
      book.forget(stream)
      samples.forget(stream)
      // The courier holds the mark of the message stream, so its row is dropped in any case.
      return marks.forget(stream) || kind == .messages ? .forgetStream(stream) : nil
    }
  }

  /// Whether a store is owed nothing here and has left nothing that its device would miss.
  func holdsNothing(_ store: StoreID) -> Bool { verdicts.waitingCount(of: store) == 0 && mail.isEmpty(store) }
}
