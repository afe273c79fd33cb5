import Foundation
import RunBus
import SystemC

/// A directory with one file for each record.
///
/// One export at a time writes into it. So the next one can remove what one that was killed has left: a temporary file,
/// under a name that only these exports use.
struct RecordFolder: ~Copyable {
  private static let temporary = ".busnode-all"

  let path: String
  /// Holds the lock; the kernel releases it with the process.
  private let descriptor: CInt

  /// Makes the directory if there is none, and takes it.
  ///
  /// - Throws: ``Failure`` with 74 when it cannot be made or read, and with 75 while another export writes into it.
  init(path: String) throws(Failure) {
    var code = Self.make(path)
    let descriptor = code == 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1
    if code == 0, descriptor < 0 { code = errno }
    guard descriptor >= 0 else {
      throw Failure(
        code: "notWritten", message: Tongue.say(.cannotWrite, ["path": path, "reason": Output.reason(code)]),
        exitStatus: ExitStatus.diskError)
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw Failure(
        code: "held", message: Tongue.say(.anotherExport, ["path": path]),
        exitStatus: ExitStatus.busHeld)
    }
    (self.path, self.descriptor) = (path, descriptor)
    for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    where name.hasPrefix(Self.temporary + "-") {
      unlink(file(name))
    }
  }

  deinit { close(descriptor) }

  /// The path of a file in it.
  func file(_ name: String) -> String { path.hasSuffix("/") ? path + name : "\(path)/\(name)" }

  /// Makes a file have this text: leaves one alone that has it, and replaces another one when the new one is on the
  /// disk.
  ///
  /// - Returns: Whether it was written.
  /// - Throws: ``Failure`` with 74.
  func write(_ text: String, to name: String) throws(Failure) -> Bool {
    let file = file(name)
    guard !has(file, text) else { return false }
    try OutputFile(path: file, temporary: Self.temporary, isNamedByUser: false).write(text)
    return true
  }

  private func has(_ file: String, _ text: String) -> Bool {
    var info = stat()
    // What is no file is not read: a pipe would block.
    guard lstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_size == text.utf8.count else {
      return false
    }
    return FileManager.default.contents(atPath: file) == Data(text.utf8)
  }

  /// Makes a directory and those above it; returns 0 or the `errno`.
  private static func make(_ path: String) -> CInt {
    if mkdir(path, 0o777) == 0 || errno == EEXIST { return 0 }
    let code = errno
    let above = (path as NSString).deletingLastPathComponent
    guard code == ENOENT, !above.isEmpty, above != path else { return code }
    let failed = make(above)
    if failed != 0 { return failed }
    return mkdir(path, 0o777) == 0 || errno == EEXIST ? 0 : errno
  }
}
