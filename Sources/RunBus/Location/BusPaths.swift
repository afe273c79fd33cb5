import Foundation
import RunCore

/// The paths of a bus by the XDG base directory specification, which says that relative values are ignored.
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

  init(runtimeName: String, stateName: String, hasSockets: Bool, _ environment: [String: String]) {
    func absolute(_ name: String) -> String? {
      guard let value = environment[name], value.hasPrefix("/") else { return nil }
      let path = value.trimmingSuffix("/")
      return path.isEmpty ? nil : path
    }
    let user = geteuid()
    let home = absolute("HOME") ?? NSHomeDirectory()
    stateDirectory = (absolute("XDG_STATE_HOME") ?? home + "/.local/state") + "/runbus/" + stateName

    let parent =
      absolute("XDG_RUNTIME_DIR").map { $0 + "/runbus" } ?? (absolute("TMPDIR") ?? "/tmp") + "/runbus-\(user)"
    let directory = parent + "/" + runtimeName
    guard hasSockets, (directory + "/control.sock").utf8.count > Self.socketPathMax else {
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

extension String {
  fileprivate func trimmingSuffix(_ character: Character) -> String {
    var text = self[...]
    while text.last == character { text.removeLast() }
    return String(text)
  }
}
