import Foundation
public import RunCore

/// Where a bus is: its sockets, its runtime directory and the state of its devices.
///
/// A bus has a name (sockets in a directory of this user's own) or a TCP address on this machine. All paths follow from
/// it and from the environment, so every process of the bus finds the same ones.
public struct BusLocation: Hashable, Sendable {
  private enum Place: Hashable, Sendable {
    case local(BusName)
    case tcp(TCPAddress)
  }
  private let place: Place
  private let paths: BusPaths

  /// A bus on this machine by its name; without an environment, in the process's own.
  public init(bus: BusName, environment: [String: String]? = nil) {
    self.init(.local(bus), environment ?? ProcessInfo.processInfo.environment)
  }

  /// A bus by its address, `tcp://HOST:PORT`. A hub may give port `*` (or 0): the system chooses one.
  ///
  /// Throws ``RunBusError/Code/badInput`` for anything else, and for hosts beyond loopback.
  public init(address: String, environment: [String: String]? = nil) throws(RunBusError) {
    self.init(.tcp(try TCPAddress(address)), environment ?? ProcessInfo.processInfo.environment)
  }

  /// A bus as a person names it: by flags, else by `RUNBUS_BUS` or `RUNBUS_ADDRESS`, else the one called `default`. A
  /// flag of either kind wins over both variables; empty variables count as unset.
  ///
  /// Throws ``RunBusError/Code/badInput`` when both flags or both variables are given, or the one given is wrong.
  public init(bus: String?, address: String?, environment: [String: String]) throws(RunBusError) {
    let hasFlag = bus != nil || address != nil
    func variable(_ name: String) -> String? {
      environment[name].flatMap { hasFlag || $0.isEmpty ? nil : $0 }
    }
    switch (bus ?? variable("RUNBUS_BUS"), address ?? variable("RUNBUS_ADDRESS")) {
    case (.some, .some):
      throw RunBusError(
        .badInput,
        hasFlag
          ? "a bus has a name or an address: give --bus or --address, not both"
          : "a bus has a name or an address: unset RUNBUS_BUS or RUNBUS_ADDRESS, or give --bus or --address")
    case (nil, let address?):
      try self.init(address: address, environment: environment)
    case (let name, nil):
      guard let name = BusName(name ?? "default") else {
        throw RunBusError(
          .badInput,
          "'\(name ?? "")' is no bus name: up to 32 of a-z, 0-9, '.', '_' and '-', a letter or digit first")
      }
      self.init(bus: name, environment: environment)
    }
  }

  private init(_ place: Place, _ environment: [String: String]) {
    self.place = place
    switch place {
    case .local(let name):
      paths = BusPaths(runtimeName: name.rawValue, stateName: name.rawValue, hasSockets: true, environment)
    case .tcp(let address):
      // No bus name begins with an underscore, so an address never meets a name there.
      paths = BusPaths(
        runtimeName: "_" + address.pathName, stateName: address.pathName, hasSockets: false, environment)
    }
  }

  /// What to call the bus in a sentence: its name or its address.
  public var displayName: String {
    switch place {
    case .local(let name): name.rawValue
    case .tcp(let address): address.description
    }
  }
  /// Where the hub binds its control socket and peers connect, as ZeroMQ writes it.
  public var controlEndpoint: String {
    switch place {
    case .local: "ipc://" + paths.controlSocket
    case .tcp(let address): address.description
    }
  }
  /// Where the hub binds its events socket; with TCP the system chooses the port, and the welcome names it.
  public var eventsEndpoint: String {
    switch place {
    case .local: "ipc://" + paths.eventsSocket
    case .tcp(let address): address.withAnyPort.description
    }
  }
  /// The system chooses the control port: only a hub can use such a location, its peers need the port it got.
  public var hasOpenPort: Bool {
    switch place {
    case .local: false
    case .tcp(let address): address.port == nil
    }
  }
  /// The directory of the bus's sockets and of the lock that its hub holds.
  public var runtimeDirectory: String { paths.runtimeDirectory }
  /// What a person should know about the paths.
  public var notices: [String] { paths.notices }

  /// The directory of a device's store on this bus.
  public func stateDirectory(for device: DeviceID) -> String { paths.stateDirectory + "/" + device.rawValue }
  /// The directory in which the one-shot senders of this machine keep their commands. No device has a name like it.
  public var spoolDirectory: String { paths.stateDirectory + "/_spool" }

  /// Makes the runtime directory, for this user alone.
  ///
  /// Throws ``RunBusError/Code/transport`` when it cannot be made, is a link, or belongs to another user.
  public func prepareRuntimeDirectory() throws(RunBusError) {
    try Self.prepare(paths.runtimeParent, paths.runtimeDirectory)
  }

  /// Checks, without making anything, that the runtime directory is this user's; `false` when there is none.
  func hasSafeRuntimeDirectory() -> Bool {
    PrivateDirectory.isOurs(paths.runtimeParent) && PrivateDirectory.isOurs(paths.runtimeDirectory)
  }
  /// The lock that a hub holds; `nil` where a lock says nothing, for the system gives each hub a port of its own.
  var lockFile: String? { hasOpenPort ? nil : paths.runtimeDirectory + "/hub.lock" }

  /// Where the running node of a device answers a shell on this machine, whatever the bus itself runs on. A path too long
  /// for a socket is replaced by a short one.
  public func adminEndpoint(for device: DeviceID) -> String { "ipc://" + paths.adminSocket(of: device).path }

  /// Makes the directory of a device's admin socket, and checks that no file of somebody else's would be lost there.
  func prepareAdminSocket(for device: DeviceID) throws(RunBusError) {
    let socket = paths.adminSocket(of: device)
    try Self.prepare(socket.parent, socket.directory)
    var info = stat()
    guard lstat(socket.path, &info) != 0 || info.st_mode & S_IFMT == S_IFSOCK else {
      throw RunBusError(.transport, "\(socket.path) is not a socket: move it away")
    }
  }
  /// Checks, without making anything, that the directory of a device's admin socket is this user's.
  func hasSafeAdminDirectory(for device: DeviceID) -> Bool {
    let socket = paths.adminSocket(of: device)
    return PrivateDirectory.isOurs(socket.parent) && PrivateDirectory.isOurs(socket.directory)
  }

  private static func prepare(_ parent: String, _ directory: String) throws(RunBusError) {
    for path in [parent, directory] {
      try PrivateDirectory.make(path, for: "the runtime directory", code: .transport)
      try PrivateDirectory.check(path)
    }
  }
  /// The socket files; none with TCP.
  var socketFiles: [String] {
    switch place {
    case .local: [paths.controlSocket, paths.eventsSocket]
    case .tcp: []
    }
  }
}
