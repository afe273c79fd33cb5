import Foundation
import RunCore
import SystemC

/// The paths of a bus by the XDG base directory specification, which says that relative values are ignored.
/// ``DefaultDirectories`` says where files go that the environment has no path for.
struct BusPaths: Hashable, Sendable {
  /// The directory that contains the runtime directories of all buses of this user.
  let runtimeParent: String
  let runtimeDirectory: String
  let stateDirectory: String
  let notices: [String]

  var controlSocket: String { runtimeDirectory + "/control.sock" }
  var eventsSocket: String { runtimeDirectory + "/events.sock" }

  /// A socket's path may have 108 bytes on Linux and 104 on Darwin, including the final zero; 100 fits both.
  private static let socketPathMax = 100

  /// - Parameter defaults: Where files go that the environment has no place for; without it, this system's.
  init(
    runtimeName: String, stateName: String, hasSockets: Bool, _ environment: [String: String],
    defaults: DefaultDirectories? = nil
  ) {
    func absolute(_ name: String) -> String? { Self.absolute(name, environment) }
    let user = geteuid()
    let defaults = defaults ?? .ofThisSystem(home: absolute("HOME") ?? NSHomeDirectory())
    stateDirectory = Self.stateRoot(environment, defaults) + "/" + stateName

    let temporary = absolute("TMPDIR") ?? defaults.temporary
    let parent = absolute("XDG_RUNTIME_DIR").map { $0 + "/runbus" } ?? temporary + "/runbus-\(user)"
    let directory = parent + "/" + runtimeName
    guard hasSockets, defaults.hasSockets, (directory + "/control.sock").utf8.count > Self.socketPathMax else {
      runtimeParent = parent
      runtimeDirectory = directory
      notices = []
      return
    }
    runtimeParent = Self.shortParent
    runtimeDirectory = Self.shortDirectory(for: directory)
    notices = [
      "\(directory) is too long a path for a socket: the sockets of this bus are in \(runtimeDirectory)"
    ]
  }

  private static func absolute(_ name: String, _ environment: [String: String]) -> String? {
    guard let value = environment[name], value.hasPrefix("/") else { return nil }
    let path = value.trimmingSuffix("/")
    return path.isEmpty ? nil : path
  }

  /// The directory of the states of all buses of this user.
  private static func stateRoot(_ environment: [String: String], _ defaults: DefaultDirectories) -> String {
    (absolute("XDG_STATE_HOME", environment) ?? defaults.state) + "/runbus"
  }

  /// The directory of the keys of this user's buses. No bus has its name.
  static func keyDirectory(_ environment: [String: String]) -> String {
    stateRoot(environment, .ofThisSystem(home: absolute("HOME", environment) ?? NSHomeDirectory())) + "/_keys"
  }

  /// The file of a device's admin socket, its directory and that directory's parent. It is beside the bus's own sockets
  /// unless the device's name makes the path too long.
  func adminSocket(of device: DeviceID) -> (parent: String, directory: String, path: String) {
    let name = "/\(device).door"
    guard (runtimeDirectory + name).utf8.count > Self.socketPathMax else {
      return (runtimeParent, runtimeDirectory, runtimeDirectory + name)
    }
    let directory = Self.shortDirectory(for: runtimeDirectory)
    return (Self.shortParent, directory, directory + name)
  }

  /// The directories of all sockets, those of devices with long names included.
  var socketDirectories: [String] { [runtimeDirectory, Self.shortDirectory(for: runtimeDirectory)] }

  /// The parent of the directories that replace too long ones.
  private static var shortParent: String { "/tmp/runbus-\(geteuid())" }
  /// A short directory that every process derives from the same long path.
  private static func shortDirectory(for directory: String) -> String { shortParent + "/_" + hash(directory) }

  /// FNV-1a with 64 bits: the same in every process, which Swift's own hash is not.
  private static func hash(_ text: String) -> String {
    let value = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// Where a system lets a process keep its files.
struct DefaultDirectories: Hashable, Sendable {
  /// Holds what outlives a process, and is not cleaned up by the system.
  let state: String
  /// Holds what a running process needs.
  let temporary: String
  /// Processes of this system can meet at a socket file, whose path has to be short.
  let hasSockets: Bool

  /// An app on a phone or watch of Apple's may write in its container only, and not at the container's root: the state
  /// is in Application Support there, which the app's user does not see and the system does not clean up.
  static func ofThisSystem(home: String) -> DefaultDirectories {
    #if os(iOS) || os(watchOS)
      DefaultDirectories(
        state: URL.applicationSupportDirectory.path, temporary: FileManager.default.temporaryDirectory.path,
        hasSockets: false)
    #else
      DefaultDirectories(state: home + "/.local/state", temporary: "/tmp", hasSockets: true)
    #endif
  }
}

extension String {
  fileprivate func trimmingSuffix(_ character: Character) -> String {
    var text = self[...]
    while text.last == character { text.removeLast() }
    return String(text)
  }
}
