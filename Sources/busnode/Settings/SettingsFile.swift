import Foundation
import RunBus
import SystemC

/// The file of settings of this user.
struct SettingsFile: Hashable, Sendable {
  let path: String

  /// A larger file is none that a person has written.
  private static let bytesMax = 1 << 20

  /// `$XDG_CONFIG_HOME/runbus/config.json`, by the XDG base directory specification, which ignores relative values.
  init(_ environment: [String: String]) {
    func absolute(_ name: String) -> String? {
      environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil }.map { ($0 as NSString).standardizingPath }
    }
    let home = absolute("HOME") ?? NSHomeDirectory()
    path = (absolute("XDG_CONFIG_HOME") ?? home + "/.config") + "/runbus/config.json"
  }

  /// What is in the file, not checked; empty when there is none.
  ///
  /// - Throws: ``Failure`` with 78 when it cannot be read or is no JSON.
  func tree() throws(Failure) -> SettingsTree {
    var info = stat()
    if stat(path, &info) != 0, errno == ENOENT { return .empty }
    let data: Data
    do {
      data = try InputFile.contents(of: path, as: "configuration", bytesMax: Self.bytesMax)
    } catch {
      throw Failure(
        code: "configuration", message: Tongue.say(.mendThat, ["reason": error.message]),
        exitStatus: ExitStatus.configuration)
    }
    do {
      return try SettingsTree(data)
    } catch {
      throw failure(error)
    }
  }

  /// What is in the file, checked.
  func checked() throws(Failure) -> SettingsTree {
    let tree = try tree()
    do {
      try tree.check()
    } catch {
      throw failure(error)
    }
    return tree
  }

  private func failure(_ flaw: SettingsFlaw) -> Failure {
    let remedy =
      if let remedy = flaw.remedy { "busnode \(remedy)" } else { Tongue.say(.mendIt) }
    return Failure(
      code: "configuration", message: "\(path): \(flaw.reason) (\(remedy))", exitStatus: ExitStatus.configuration)
  }

  /// Changes what is in the file, and replaces it when the new one is complete. A new file is its user's alone. One
  /// process at a time does so.
  ///
  /// - Parameter change: Gets what is there, and throws to leave it so.
  /// - Throws: ``Failure`` with 78 when the file is no JSON, with 74 when it cannot be written.
  func change(_ change: (inout SettingsTree) throws(Failure) -> Void) throws(Failure) {
    let directory = (path as NSString).deletingLastPathComponent
    do {
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw Failure(
        code: "notWritten",
        message: Tongue.say(.cannotMake, ["path": directory, "reason": error.localizedDescription]),
        exitStatus: ExitStatus.diskError)
    }
    let lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { if lock >= 0 { _ = close(lock) } }
    // Without the lock, as on some network disks, one of two changes at the same moment may be lost.
    if lock >= 0 { _ = flock(lock, LOCK_EX) }
    var tree = try tree()
    guard case .object = tree else { throw failure(SettingsFlaw(Tongue.say(.flawNoObject))) }
    try change(&tree)
    try OutputFile(path: path, newMode: 0o600).write(String(decoding: tree.data, as: UTF8.self) + "\n")
  }
}
