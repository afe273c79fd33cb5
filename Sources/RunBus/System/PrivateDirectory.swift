import Foundation
import SystemC

/// Makes and checks directories that only their owner may enter.
package enum PrivateDirectory {
  /// What a directory is for, as sentences name it.
  package enum Purpose: String, Sendable, CustomStringConvertible {
    case runtime = "the runtime directory"
    case state = "the state directory"
    case store = "the store directory"
    case keys = "the directory of keys"
    case spool = "the spool"
    case rooms = "the directory of rooms"

    package var description: String { rawValue }

    /// The commands that name a directory of this user's own instead.
    fileprivate var elsewhere: String {
      let (folder, variable) =
        self == .runtime ? ("runbus-run", "XDG_RUNTIME_DIR") : ("runbus-state", "XDG_STATE_HOME")
      // Without a home that can be written `~` is of no use.
      let home = access(NSHomeDirectory(), W_OK | X_OK) == 0 ? "~" : "/tmp"
      return "mkdir -m 700 \(home)/\(folder) && export \(variable)=\(home)/\(folder)"
    }
  }

  /// Makes a directory and its missing parents with mode 0700. An existing directory is not changed.
  static func make(_ path: String, for purpose: Purpose, code: RunBusError.Code = .store) throws(RunBusError) {
    if mkdir(path, 0o700) == 0 { return }
    var failure = errno
    let parent = (path as NSString).deletingLastPathComponent
    if failure == ENOENT, !parent.isEmpty, parent != path {
      try make(parent, for: purpose, code: code)
      failure = mkdir(path, 0o700) == 0 ? 0 : errno
    }
    var info = stat()
    // Some systems report a missing right before they report that the directory exists.
    guard failure == 0 || (stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR) else {
      throw RunBusError(
        code,
        failure == EEXIST
          ? "\(purpose) \(path) is not a directory: move the file away or name another place"
          : "\(purpose) \(path) cannot be made: \(systemReason(failure))")
    }
  }

  /// Checks that a directory belongs to this user, is no link, and is closed to all others.
  ///
  /// - Throws: ``RunBusError`` with one line: what is wrong, and the command that mends it.
  static func check(_ path: String, for purpose: Purpose, code: RunBusError.Code) throws(RunBusError) {
    guard let complaint = complaint(about: path, for: purpose) else { return }
    throw RunBusError(code, complaint)
  }

  /// What is wrong with a directory, and the command that mends it; `nil` if it is this user's and closed to all others.
  package static func complaint(about path: String, for purpose: Purpose) -> String? {
    var info = stat()
    guard lstat(path, &info) == 0 else { return "\(purpose) \(path) cannot be read: \(systemReason(errno))" }
    guard info.st_mode & S_IFMT == S_IFDIR else {
      return "\(purpose) \(path) is a link or a file and must be a directory; run: mv '\(path)' '\(path).old'"
    }
    guard info.st_uid == geteuid() else {
      return "\(purpose) \(path) belongs to another user (\(info.st_uid)); use one of your own, for example: "
        + purpose.elsewhere
    }
    guard info.st_mode & 0o077 == 0 else {
      return "\(purpose) \(path) is open to other users; run: chmod 700 '\(path)'"
    }
    return nil
  }

  /// Whether a directory exists, belongs to this user, is no link, and is closed to all others.
  static func isOurs(_ path: String) -> Bool { complaint(about: path, for: .runtime) == nil }

  /// What prevents this user from making files in a directory, which is there or would be made with its missing parents;
  /// `nil` when nothing does. Makes nothing.
  ///
  /// - Parameter isPrivate: Whether the directory must also be closed to other users.
  package static func obstacle(toUsing path: String, for purpose: Purpose, isPrivate: Bool = false) -> String? {
    var info = stat()
    // `lstat`: a link that leads nowhere is in the way, too.
    guard lstat(path, &info) == 0 else { return obstacle(toMaking: path, for: purpose, because: errno) }
    if isPrivate, let complaint = complaint(about: path, for: purpose) { return complaint }
    guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else {
      return "\(purpose) \(path) is not a directory: move the file away or name another place"
    }
    guard access(path, W_OK | X_OK) == 0 else {
      return "\(purpose) \(path) cannot be written: \(systemReason(errno)); use one of your own, for example: "
        + purpose.elsewhere
    }
    return nil
  }

  /// Names the first directory that is missing, so that all that would be in it have one sentence.
  private static func obstacle(toMaking path: String, for purpose: Purpose, because code: CInt) -> String? {
    var (missing, code) = (path, code)
    var info = stat()
    while code == ENOENT {
      let place = (missing as NSString).deletingLastPathComponent
      if stat(place, &info) != 0 {
        code = errno
        guard code == ENOENT, place != "/", !place.isEmpty else { break }
        missing = place
      } else if info.st_mode & S_IFMT != S_IFDIR {
        code = ENOTDIR
      } else {
        guard access(place, W_OK | X_OK) != 0 else { return nil }
        code = errno
        break
      }
    }
    return "the directory \(missing) cannot be made: \(systemReason(code)); use one of your own, for example: "
      + purpose.elsewhere
  }

  /// Makes files created or renamed in a directory durable, as far as the file system can.
  ///
  /// - Returns: Whether they are: `false` after an error of the disk. A file system that syncs no directories has done
  ///   what it can.
  @discardableResult
  static func sync(_ path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return syncToDisk(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP
  }

  /// Sets backup and protection of a store's or spool's directory on iOS and watchOS; does nothing elsewhere.
  ///
  /// Files that are made in it can be written while the device is locked, from its first unlocking on: a run goes on in
  /// a pocket. Backups leave it out: a store that comes back from one is an older copy, which no node recognises.
  static func adaptToDevice(_ path: String) {
    #if os(iOS) || os(watchOS)
      // Not every file system has these attributes, a simulator's for example. Nothing depends on them there.
      try? FileManager.default.setAttributes(
        [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: path)
      var url = URL(fileURLWithPath: path, isDirectory: true)
      var values = URLResourceValues()
      values.isExcludedFromBackup = true
      try? url.setResourceValues(values)
    #endif
  }
}
