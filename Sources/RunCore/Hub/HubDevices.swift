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
  mutating func makeRoom(for device: DeviceID, in turn: inout Turn) -> Bool {
    trimStores(in: &turn)
    guard mail.devices[device] == nil else { return true }
    // The search visits every device. A crowd that is here needs none: the new device is reachable, and not known yet.
    let absentAtMost = mail.devices.count - (sessions.reachableCount - (sessions.isReachable(device) ? 1 : 0))
    if absentAtMost >= Self.absentMax || mail.devices.count >= Self.devicesMax { trimDevices(in: &turn) }
    return mail.devices.count < Self.devicesMax
  }

  /// Forgets absent devices that are owed nothing and have left nothing: those of unknown senders first, then those
  /// without streams, then those unheard for longest. It forgets some more than it must, because the search visits every
  /// device.
  private mutating func trimDevices(in turn: inout Turn) {
    let present = Set(sessions.sessions.values.map(\.hello.storeID))
    let pressing = commands.waitingStores
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
    for (_, device) in idle.prefix(excess + Self.forgottenAtOnce) { forget(device, in: &turn) }
  }

  /// Bounds the stores that their devices have left for others. They are kept so that two nodes of one name do not
  /// disturb each other. Beyond the bound, those without a session are dropped.
  private mutating func trimStores(in turn: inout Turn) {
    guard mail.storeCount > mail.devices.count + Self.absentMax else { return }
    let present = mail.presentStores
    for store in mail.stores where !present.contains(store) && sessions.connection(of: store) == nil {
      giveUp(store, in: &turn)
    }
  }

  /// How long an absent shell is remembered, in real time: one that has never used a stream, and one that has. It may
  /// have gone while the hub was down, and then says no goodbye; what it is owed waits for as long.
  private static let (visitorAge, pressingVisitorAge) = (BusDuration.seconds(600), BusDuration.seconds(48 * 3600))

  /// Forgets a shell that has disconnected and is owed nothing, if it cannot come back or has never used a stream.
  ///
  /// - Parameter isGone: Whether it has ended, and its store with it.
  /// - Returns: whether the shell was forgotten.
  mutating func forgetVisitor(_ device: KnownDevice, isGone: Bool, in turn: inout Turn) -> Bool {
    guard isAbsentVisitor(device), isGone || !hasUsedStreams(device), isOwedNothing(device) else { return false }
    forget(device, in: &turn)
    return true
  }

  private func hasUsedStreams(_ device: KnownDevice) -> Bool {
    let store = device.storeID
    return commands.hasBegun(store) || run.hasBegun(store) || commands.hasVerdicts(for: store) || !mail.isUnused(store)
  }

  /// Whether a device is a shell without a session, and no paired device of that role, which may be paired again after it
  /// was revoked. With another store its name is used by another node, and what is known of the name belongs to that node.
  private func isAbsentVisitor(_ device: KnownDevice) -> Bool {
    device.role == .shell && sessions.connection(of: device.storeID) == nil
      && !members.list.devices.contains { $0.deviceID == device.deviceID }
      && !mail.stores(of: device.deviceID).contains { $0 != device.storeID }
  }

  /// Whether nothing waits for a device, and no press of its is still to be judged.
  private func isOwedNothing(_ device: KnownDevice) -> Bool {
    holdsNothing(device.storeID) && !commands.waitingStores.contains(device.storeID)
  }

  /// When an absent shell is forgotten, with what it is owed.
  func goneAt(_ device: KnownDevice) -> BusTime {
    let age = hasUsedStreams(device) ? Self.pressingVisitorAge : Self.visitorAge
    return max(device.heardAt, incarnation.beganAt) + settings.clock.speed.bus(fromReal: age)
  }

  /// Forgets the shells that have been absent for long enough, and plans the next look.
  mutating func forgetVisitors(in turn: inout Turn) {
    for device in mail.beginVisitorCheck() where isAbsentVisitor(device) {
      let due = goneAt(device)
      if due <= turn.now { forget(device, in: &turn) } else { mail.checkVisitors(by: due) }
    }
  }

  private mutating func forget(_ device: KnownDevice, in turn: inout Turn) {
    mail.forget(device.deviceID)
    turn.write([.forgetDevice(device.deviceID)], then: [])
    giveUp(device.storeID, in: &turn)
    // Drop every store that was used under this name, not only the last one.
    for store in mail.stores(of: device.deviceID) where sessions.connection(of: store) == nil {
      giveUp(store, in: &turn)
    }
  }

  /// Drops the streams of a store: its marks and what is owed to it. A store that comes back all the same is told to
  /// begin anew.
  mutating func giveUp(_ store: StoreID, in turn: inout Turn) {
    turn.write(
      [commands.dropVerdicts(of: store), mail.drop(store)] + forgetMarks(of: store) + mail.disown(store), then: [])
  }

  /// Whether a store is owed nothing here and has left nothing that its device would miss.
  func holdsNothing(_ store: StoreID) -> Bool { commands.waitingCount(of: store) == 0 && mail.isEmpty(store) }
}
