import RunCore
import SystemC

/// The turn to write to a log: a file that one writer at a time has locked. The kernel releases it with the process.
///
/// SQLite's own locks would do for writers. But SQLite before 3.51.3 can lose pages when a commit that begins the
/// write-ahead log anew meets a checkpoint that has just begun, in another process or on another connection of the same
/// one; here both happen in one turn.
final class LogTurn: Sendable {
  private let descriptor: CInt

  /// Opens the file of the lock. The descriptor stays open, because opening it for each turn would cost more than the
  /// lock.
  init(path: String) throws(SharedLogError) {
    // O_NONBLOCK: opening a pipe would block.
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else {
      throw .unavailable(
        FileLock.isObstructed(path)
          ? "\(path) is not a file: move it away" : "\(path) cannot be written: \(systemReason(errno))")
    }
  }

  deinit { close(descriptor) }

  /// Takes the turn, or fails at once while another writer has it.
  func take() -> Bool {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EINTR else { return false }
    }
    return true
  }

  /// Takes the turn; waits for it up to `patience`.
  func take(within patience: BusDuration) -> Bool {
    let deadline = Loop.now + patience
    // A commit takes about a millisecond. Many who wait look less often.
    var pause: UInt32 = 300
    while !take() {
      guard Loop.now < deadline else { return false }
      usleep(pause)
      pause = min(pause * 3 / 2, 4000)
    }
    return true
  }

  func giveBack() { _ = flock(descriptor, LOCK_UN) }
}
