package import RunCore

/// What prevents a node from starting, or a machine from being paired. A start runs these checks before it touches
/// anything, and `busnode doctor` runs the same ones: it cannot call well what a start refuses.
///
/// A check makes nothing, changes nothing and takes no lock. Whether another process holds the bus or the store is known
/// only after an attempt to lock it: ``HubLock`` and ``StoreHealth`` make it, and the latter also tells whether a store is of
/// the other role.
package enum StartChecks {
  /// What prevents a hub from starting.
  ///
  /// - Parameters:
  ///   - device: The hub's device.
  ///   - locations: The bus, and further addresses of it.
  ///   - keys: Where the hub's keys are, for one that listens for paired devices; `nil` for any other.
  package static func obstacles(
    toHub device: DeviceID, at locations: [BusLocation], keys: (any KeyStore)?
  ) -> [RunBusError] {
    guard let location = locations.first else { return [] }
    var found = MachineLimits.obstacles + locations.flatMap { $0.socketObstacles(for: device, isHub: true) }
    found += StoreFile.obstacles(in: location.stateDirectory(for: device))
    if let keys {
      found += obstacles(in: keys) { () throws(RunBusError) in
        try HubKeyring.present(location.keyName, in: keys) != nil
      }
    }
    return found
  }

  /// Why a hub that listens for paired devices does not start: devices are paired with keys that are gone. `nil` when none
  /// are, and when its store cannot be read now. Unlike the other checks it takes the lock of the store.
  ///
  /// - Throws: ``RunBusError/Code/store`` when the keys cannot be read.
  package static func lostKeys(
    ofHub device: DeviceID, at location: BusLocation, keys: any KeyStore
  ) throws(RunBusError) -> RunBusError? {
    guard try HubKeyring.present(location.keyName, in: keys) == nil,
      case .healthy(_, let paired) = StoreHealth(of: device, in: location.stateDirectory(for: device)), paired > 0
    else { return nil }
    return HubKeyring.lost(location.keyName, paired: paired)
  }

  /// What prevents a peer from starting. The keys of a paired machine were read when its location was made.
  package static func obstacles(toPeer device: DeviceID, at location: BusLocation) -> [RunBusError] {
    MachineLimits.obstacles + location.socketObstacles(for: device, isHub: false)
      + StoreFile.obstacles(in: location.stateDirectory(for: device))
  }

  /// What prevents this machine from being paired with a hub of another machine under a name.
  package static func obstacles(
    toJoining bus: BusName, keys: any KeyStore, environment: [String: String]? = nil
  ) -> [RunBusError] {
    var found = obstacles(in: keys) { () throws(RunBusError) in try DeviceKeyring(bus, in: keys) != nil }
    if let phone = HubLock.holder(of: BusLocation(bus: bus, environment: environment)) {
      found.append(
        RunBusError(
          .busHeld,
          "\(phone.description) is the phone of bus \(bus) on this machine, which no command would find any more: end it, "
            + "or give --bus ANOTHER"))
    }
    return found
  }

  /// Why no hub of its own belongs on a machine that is paired with another one under the bus's name; `nil` when it is not
  /// paired. All commands with that name go to the other hub and not to this one.
  ///
  /// - Throws: ``RunBusError/Code/store`` when the keys cannot be read.
  package static func pairing(
    of location: BusLocation, keys: any KeyStore, environment: [String: String]? = nil
  ) throws(RunBusError) -> RunBusError? {
    guard let name = location.name,
      let paired = try BusLocation(pairedBus: name, keys: keys, environment: environment),
      let device = paired.keyring?.value.enrolment?.deviceID
    else { return nil }
    return RunBusError(
      .refused,
      "this machine is paired as \(device) with the phone of bus \(name) elsewhere: a phone here is another bus, which no "
        + "command finds")
  }

  /// What is in the way of keys that are read, and written where there are none yet.
  private static func obstacles(
    in keys: any KeyStore, isThere: () throws(RunBusError) -> Bool
  ) -> [RunBusError] {
    do {
      if try isThere() { return [] }
    } catch {
      return [error]
    }
    return [(keys as? KeyFiles)?.obstacle].compactMap { $0 }
  }
}
