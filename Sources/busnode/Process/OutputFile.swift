import Foundation
import RunBus
import SystemC

/// A file that is written under a name from the user.
///
/// A regular file is replaced as a whole or left as it was; a symbolic link to one stays a link. Pipes and character
/// devices are written to, as a shell's `>` does. Anything else is refused.
struct OutputFile {
  let path: String
  /// How the name of the temporary file begins.
  var temporary = ".busnode"
  /// The mode of a new file; `nil` for that of the process.
  var newMode: mode_t?
  /// Whether the name is the user's choice. Under a name that others can guess, a link of theirs would choose which file of
  /// the user is written, and a pipe would block: only a regular file is replaced then.
  var isNamedByUser = true

  /// Writes the text. A regular file is durable on return.
  ///
  /// - Throws: ``Failure`` with 74.
  func write(_ text: String) throws(Failure) {
    var info = stat()
    guard isNamedByUser else {
      let isThere = lstat(path, &info) == 0
      guard !isThere || info.st_mode & S_IFMT == S_IFREG else { throw failure(Tongue.say(.isNoPlainFile)) }
      guard !isThere || access(path, W_OK) == 0 else { throw failure(errno) }
      // A link that is put there now is replaced, not followed.
      return try replace(path, mode: isThere ? info.st_mode & 0o7777 : newMode, with: text)
    }
    guard stat(path, &info) == 0 else {
      guard errno == ENOENT else { throw failure(errno) }
      guard lstat(path, &info) != 0 else { throw failure(Tongue.say(.danglingLink)) }
      return try replace(path, mode: newMode, with: text)
    }
    switch info.st_mode & S_IFMT {
    case S_IFREG:
      // Replacing needs rights on the directory only. So check the file's own rights: do not replace a read-only file.
      guard access(path, W_OK) == 0, let target = realpath(path, nil) else { throw failure(errno) }
      defer { free(target) }
      try replace(String(cString: target), mode: info.st_mode & 0o7777, with: text)
    case S_IFIFO, S_IFCHR: try pour(text)
    case S_IFDIR: throw failure(Tongue.say(.isDirectory))
    default: throw failure(Tongue.say(.isNoFile))
    }
  }

  /// Writes a temporary file beside the target and renames it to the target when it is complete.
  private func replace(_ target: String, mode: mode_t?, with text: String) throws(Failure) {
    let directory = (target as NSString).deletingLastPathComponent
    let number = String(UInt64.random(in: .min ... .max), radix: 16)
    let aside = (directory.isEmpty ? "." : directory) + "/\(temporary)-\(number).tmp"
    let descriptor = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw failure(errno) }
    var code = Output.write(Array(text.utf8), to: descriptor).error ?? 0
    if code == 0, let mode, fchmod(descriptor, mode) != 0 { code = errno }
    if code == 0, syncToDisk(descriptor) != 0 { code = errno }
    if close(descriptor) != 0, code == 0 { code = errno }
    if code == 0, rename(aside, target) != 0 { code = errno }
    guard code == 0 else {
      unlink(aside)
      throw failure(code)
    }
  }

  private func pour(_ text: String) throws(Failure) {
    let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw failure(errno) }
    var code = Output.write(Array(text.utf8), to: descriptor).error ?? 0
    if close(descriptor) != 0, code == 0 { code = errno }
    guard code == 0 else { throw failure(code) }
  }

  private func failure(_ code: CInt) -> Failure { failure(Output.reason(code)) }

  private func failure(_ reason: String) -> Failure {
    Failure(
      code: "notWritten", message: Tongue.say(.cannotWrite, ["path": path, "reason": reason]),
      exitStatus: ExitStatus.diskError)
  }
}
