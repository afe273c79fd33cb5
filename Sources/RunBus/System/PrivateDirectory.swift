import Foundation

/// Directories that only their owner may enter.
enum PrivateDirectory {
  /// Makes a directory and its missing parents with mode 0700; one that is there is left as it is.
  static func make(_ path: String, for purpose: String, code: RunBusError.Code = .store) throws(RunBusError) {
    if mkdir(path, 0o700) == 0 { return }
    var failure = errno
    let parent = (path as NSString).deletingLastPathComponent
    if failure == ENOENT, !parent.isEmpty, parent != path {
      try make(parent, for: purpose, code: code)
      failure = mkdir(path, 0o700) == 0 ? 0 : errno
    }
    var info = stat()
    // A system may answer a missing right before it looks whether the directory is there.
    guard failure == 0 || (stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR) else {
      throw RunBusError(
        code,
        failure == EEXIST
          ? "\(purpose) \(path) is not a directory: move the file away or name another place"
          : "\(purpose) \(path) cannot be made: \(reason(failure))")
    }
  }

  /// Checks that a directory is ours and no link; one that is open to others is closed.
  static func check(_ path: String) throws(RunBusError) {
    var info = stat()
    guard lstat(path, &info) == 0 else {
      throw RunBusError(.transport, "the runtime directory \(path) cannot be read: \(reason(errno))")
    }
    guard info.st_mode & S_IFMT == S_IFDIR else {
      throw RunBusError(
        .transport, "\(path) is a link or a file where a directory must be: remove it or set XDG_RUNTIME_DIR")
    }
    guard info.st_uid == geteuid() else {
      throw RunBusError(.transport, "\(path) belongs to another user: set XDG_RUNTIME_DIR to a directory of your own")
    }
    guard info.st_mode & 0o077 == 0 || chmod(path, 0o700) == 0 else {
      throw RunBusError(.transport, "\(path) is open to others and cannot be closed: \(reason(errno))")
    }
  }

  /// A directory is there, ours, no link, and nobody else may write to it.
  static func isOurs(_ path: String) -> Bool {
    var info = stat()
    return lstat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR && info.st_uid == geteuid()
      && info.st_mode & 0o022 == 0
  }

  /// Makes what was created or renamed in a directory last, as far as the file system can.
  static func sync(_ path: String) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  /// The system's words for an error number.
  static func reason(_ code: CInt) -> String { String(cString: strerror(code)) }
}
