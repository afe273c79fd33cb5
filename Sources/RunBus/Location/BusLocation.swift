import Foundation
public import RunCore
import SystemC

/// Where a bus is: its sockets, its runtime directory and the state of its devices.
///
/// A bus has a name (its sockets are in a directory of this user) or a TCP address on this machine. All paths follow
/// from it and from environment variables, so that every process of the bus finds the same ones.
///
/// ```swift
/// let named = BusLocation(bus: BusName("default"))
/// let addressed = try BusLocation(address: "tcp://127.0.0.1:5570")
/// ```
///
/// | what | variable that is set | place |
/// |---|---|---|
/// | sockets, the hub's lock | `XDG_RUNTIME_DIR` | `$XDG_RUNTIME_DIR/runbus/NAME` |
/// | | else `TMPDIR` | `$TMPDIR/runbus-UID/NAME` |
/// | | neither | `/tmp/runbus-UID/NAME` |
/// | stores of the devices | `XDG_STATE_HOME` | `$XDG_STATE_HOME/runbus/NAME/DEVICE` |
/// | | not that one | `~/.local/state/runbus/NAME/DEVICE` |
///
/// Only absolute paths count: a variable that is empty or relative counts as unset. `HOME` decides what `~` is. A
/// socket's path has at most 100 bytes. If it would be longer, the sockets are in `/tmp/runbus-UID/_HASH` instead,
/// which every process derives from the same long path. RunBus makes missing directories, with access for their owner
/// only.
///
/// Two buses on a machine have two names. A test isolates its bus from all others by an environment of its own; each
/// process of that bus has to be given the same one:
///
/// ```swift
/// let isolated = BusLocation(
///   bus: "test",
///   environment: ["XDG_RUNTIME_DIR": directory.path + "/run", "XDG_STATE_HOME": directory.path + "/state"])
/// ```
///
/// On iOS and watchOS the paths are inside the app's container, where no other process finds them. Use the location for
/// ``stateDirectory(for:)`` there, and a transport of your own.
public struct BusLocation: Hashable, Sendable {
  private enum Place: Hashable, Sendable {
    case local(BusName)
    case tcp(TCPAddress)
    case paired(PairedBus)
  }
  private let place: Place
  private let paths: BusPaths

  /// A bus by its name.
  ///
  /// - Parameters:
  ///   - bus: The name.
  ///   - environment: Replaces all environment variables of the process; `nil` for those of the process.
  public init(bus: BusName, environment: [String: String]? = nil) {
    self.init(.local(bus), environment ?? ProcessInfo.processInfo.environment)
  }

  /// A bus by its address.
  ///
  /// - Parameters:
  ///   - address: `tcp://HOST:PORT` on loopback. A hub may give port `*` or 0: the system then chooses one.
  ///   - environment: Replaces all environment variables of the process; `nil` for those of the process.
  /// - Throws: ``RunBusError/Code/badInput`` for any other text and for hosts beyond loopback.
  public init(address: String, environment: [String: String]? = nil) throws(RunBusError) {
    self.init(.tcp(try TCPAddress(address)), environment ?? ProcessInfo.processInfo.environment)
  }

  /// A bus of another machine, with which this machine is paired (``join(_:as:role:sources:bus:control:eventsPort:keys:loop:show:)``). All
  /// commands and nodes with this location connect with the machine's key.
  ///
  /// - Parameters:
  ///   - name: The name that the bus was given on this machine when it joined.
  ///   - keys: Where the machine's keys are kept.
  ///   - environment: Replaces all environment variables of the process; `nil` for those of the process.
  /// - Returns: `nil` when this machine is not paired with a bus of that name.
  /// - Throws: ``RunBusError/Code/store`` when the keys cannot be read.
  public init?(
    pairedBus name: BusName, keys: any KeyStore = KeyFiles(), environment: [String: String]? = nil
  ) throws(RunBusError) {
    guard let keyring = try DeviceKeyring(name, in: keys), let enrolment = keyring.value.enrolment else { return nil }
    self.init(
      .paired(PairedBus(name: name, busID: enrolment.busID, keyring: keyring)),
      environment ?? ProcessInfo.processInfo.environment)
  }

  /// A bus as a command line names it; see ``BusChoice``.
  package init(bus: String?, address: String?, environment: [String: String]) throws(RunBusError) {
    self = try BusChoice(bus: bus, address: address, environment: environment).location
  }

  private init(_ place: Place, _ environment: [String: String]) {
    self.place = place
    switch place {
    case .local(let name):
      paths = BusPaths(runtimeName: name.rawValue, stateName: name.rawValue, hasSockets: true, environment)
    case .tcp(let address):
      // Bus names do not begin with an underscore, so the two kinds never share a directory.
      paths = BusPaths(
        runtimeName: "_" + address.pathName, stateName: address.pathName, hasSockets: false, environment)
    case .paired(let bus):
      // By its id, which neither a changed address nor another name changes.
      paths = BusPaths(
        runtimeName: "_bus-\(bus.busID)", stateName: "_bus-\(bus.busID)", hasSockets: false, environment)
    }
  }

  /// The name of a bus of this machine; `nil` for one that has an address, or is of another machine.
  package var name: BusName? { if case .local(let name) = place { name } else { nil } }

  /// Whether the bus is named by an address.
  package var isAddress: Bool { if case .tcp = place { true } else { false } }

  /// The keys with which this machine is paired with the bus; `nil` for a bus of this machine.
  package var keyring: DeviceKeyring? { if case .paired(let bus) = place { bus.keyring } else { nil } }

  /// Under which name the keys of the bus's hub are kept.
  package var keyName: BusName {
    switch place {
    case .local(let name): name
    case .tcp(let address): BusName(String(address.pathName.prefix(32))) ?? "default"
    case .paired(let bus): bus.name
    }
  }

  /// The name or the address of the bus, for messages.
  public var displayName: String {
    switch place {
    case .local(let name): name.rawValue
    case .tcp(let address): address.description
    case .paired(let bus): bus.name.rawValue
    }
  }
  /// The endpoint of the hub's control socket in ZeroMQ's notation: the hub binds it, peers connect to it.
  public var controlEndpoint: String {
    switch place {
    case .local: "ipc://" + paths.controlSocket
    case .tcp(let address): address.description
    case .paired(let bus): bus.keyring.value.knownAddresses.first ?? ""
    }
  }
  /// The endpoint at which the hub binds its events socket. With TCP the system chooses the port, and the welcome names
  /// it.
  public var eventsEndpoint: String {
    switch place {
    case .local: "ipc://" + paths.eventsSocket
    case .tcp(let address): address.withAnyPort.description
    case .paired: ""
    }
  }
  /// Whether the system chooses the control port. Only a hub can use such a location: peers need the port that was
  /// chosen.
  package var hasOpenPort: Bool {
    switch place {
    case .local, .paired: false
    case .tcp(let address): address.port == nil
    }
  }
  /// The directory of the bus's sockets and of its hub's lock.
  package var runtimeDirectory: String { paths.runtimeDirectory }
  /// The directory of the runtime directories of this user's buses.
  package var runtimeParent: String { paths.runtimeParent }
  /// The directory of the stores of the bus's devices on this machine, and of the spool.
  package var stateDirectory: String { paths.stateDirectory }
  /// Sentences for the user about the paths, such as a replaced directory.
  package var notices: [String] { paths.notices }

  /// The directory of a device's store on this bus: below `XDG_STATE_HOME`, else below `~/.local/state`, on iOS and
  /// watchOS below the app's Application Support. An extension of the app has a container, and so a store, of its own.
  ///
  /// On iOS and watchOS ``NodeStore`` excludes the directory from backups, and has its files protected until the first
  /// unlocking only, so that a node can write while the device is locked.
  public func stateDirectory(for device: DeviceID) -> String { paths.stateDirectory + "/" + device.rawValue }
  /// The directory in which senders without a store leave commands on this machine. No device can have this name.
  package var spoolDirectory: String { paths.stateDirectory + "/_spool" }

  /// Makes the runtime directory with access for this user only.
  ///
  /// - Throws: ``RunBusError/Code/transport`` when it cannot be made, is a link, belongs to another user, or is open to
  ///   others.
  package func prepareRuntimeDirectory() throws(RunBusError) {
    try Self.prepare(paths.runtimeParent, paths.runtimeDirectory)
  }

  /// Whether the runtime directory exists and belongs to this user. Makes nothing.
  func hasSafeRuntimeDirectory() -> Bool {
    PrivateDirectory.isOurs(paths.runtimeParent) && PrivateDirectory.isOurs(paths.runtimeDirectory)
  }
  /// The file that a hub locks; `nil` where the system gives each hub a port of its own, so that no two can collide.
  var lockFile: String? { hasOpenPort ? nil : paths.runtimeDirectory + "/hub.lock" }

  /// The endpoint of a device's admin socket on this machine, for buses of either kind. A path that is too long for a
  /// socket is replaced by a short one.
  package func adminEndpoint(for device: DeviceID) -> String { "ipc://" + paths.adminSocket(of: device).path }

  /// Makes the directory of a device's admin socket, and checks that binding would not replace a file that is no
  /// socket.
  func prepareAdminSocket(for device: DeviceID) throws(RunBusError) {
    let socket = paths.adminSocket(of: device)
    try Self.prepare(socket.parent, socket.directory)
    if let obstacle = Self.obstacle(toSocketAt: socket.path) { throw obstacle }
  }

  /// What prevents a device's node from using the directories and socket files of this machine; empty when nothing does.
  /// Makes nothing.
  ///
  /// - Parameter isHub: Whether the node also binds the sockets of the bus, and locks it.
  func socketObstacles(for device: DeviceID, isHub: Bool) -> [RunBusError] {
    let admin = paths.adminSocket(of: device)
    let places = [[paths.runtimeParent, paths.runtimeDirectory], [admin.parent, admin.directory]]
    // A parent that cannot be used says all about the directory in it.
    var found = (isHub ? Set(places) : [places[1]]).sorted { $0[1] < $1[1] }.compactMap { place -> RunBusError? in
      place.lazy.compactMap { PrivateDirectory.obstacle(toUsing: $0, for: .runtime, isPrivate: true) }.first
        .map { RunBusError(.transport, $0) }
    }
    if isHub, let obstruction = HubLock.obstacle(at: self) { found.append(RunBusError(.transport, obstruction)) }
    return found + ((isHub ? socketFiles : []) + [admin.path]).compactMap(Self.obstacle(toSocketAt:))
  }

  /// What is in the way of a socket file; a socket that a dead node has left is not.
  static func obstacle(toSocketAt path: String) -> RunBusError? {
    var info = stat()
    guard lstat(path, &info) == 0, info.st_mode & S_IFMT != S_IFSOCK else { return nil }
    return RunBusError(.transport, "\(path) is not a socket: move it away")
  }
  /// The directories of the bus's sockets and locks on this machine.
  var socketDirectories: [String] { paths.socketDirectories }
  /// Whether the directory of a device's admin socket exists and belongs to this user. Makes nothing.
  func hasSafeAdminDirectory(for device: DeviceID) -> Bool {
    let socket = paths.adminSocket(of: device)
    return PrivateDirectory.isOurs(socket.parent) && PrivateDirectory.isOurs(socket.directory)
  }

  private static func prepare(_ parent: String, _ directory: String) throws(RunBusError) {
    for path in [parent, directory] {
      try PrivateDirectory.make(path, for: .runtime, code: .transport)
      try PrivateDirectory.check(path, for: .runtime, code: .transport)
    }
  }
  /// The files of the bus's sockets; none with TCP.
  var socketFiles: [String] {
    switch place {
    case .local: [paths.controlSocket, paths.eventsSocket]
    case .tcp, .paired: []
    }
  }
}

/// A bus with which this machine is paired. Two are equal if they are the same bus under the same name.
private struct PairedBus: Hashable, Sendable {
  let name: BusName
  let busID: BusID
  let keyring: DeviceKeyring

  static func == (left: Self, right: Self) -> Bool { left.name == right.name && left.busID == right.busID }

  func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(busID)
  }
}
