import SystemC

/// An exclusive lock on a file; the file names its holder. The kernel releases the lock when the holder dies.
///
/// It is an open-file-description lock: two openings in one process exclude each other like two processes. A process
/// can query it without acquiring it, so a query never makes another process fail.
struct FileLock: ~Copyable, Sendable {
  /// The holder of a lock as its file names it; a part that the file does not contain is `nil`.
  struct Holder: Hashable, Sendable {
    var processID: Int32?
    var name: String?

    /// For example `process 123 (watch)`.
    var description: String {
      switch (processID, name) {
      case (let processID?, let name?): "process \(processID) (\(name))"
      case (let processID?, nil): "process \(processID)"
      case (nil, _): "another process"
      }
    }
  }
  /// Why a lock was not acquired.
  enum Failure: Error {
    case held(Holder)
    /// The path leads to a directory, a pipe or a link, which cannot be locked.
    case obstructed
    case system(CInt)
  }

  /// The locked file. While it is at its path, no other process can hold the lock.
  let identity: FileIdentity
  private let descriptor: CInt

  /// Acquires the lock, or fails at once when another process holds it. Creates the file if there is none.
  init(path: String, name: String) throws(Failure) {
    // O_NONBLOCK: opening a pipe would block.
    let descriptor = retrying { open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600) }
    guard descriptor >= 0 else {
      let code = errno
      throw Self.isObstructed(path) ? .obstructed : .system(code)
    }
    guard Self.isFile(descriptor), let identity = FileIdentity(descriptor: descriptor, path: path) else {
      close(descriptor)
      throw .obstructed
    }
    var request = Self.wholeFile()
    guard retrying({ fcntl(descriptor, ofdSetLock, &request) }) == 0 else {
      let code = errno
      let holder = Self.readHolder(descriptor)
      close(descriptor)
      throw code == EAGAIN || code == EACCES ? .held(holder) : .system(code)
    }
    let text = Array("\(getpid()) \(name)\n".utf8)
    // The text is for people only: a disk too full to write it does not prevent the lock.
    _ = ftruncate(descriptor, 0)
    _ = pwrite(descriptor, text, text.count, 0)
    self.identity = identity
    self.descriptor = descriptor
  }

  // The file stays: after a removal, an old and a new file could both be locked.
  deinit {
    _ = ftruncate(descriptor, 0)
    close(descriptor)
  }

  /// The holder of the lock at a path; `nil` when it is free. The kernel knows the holder; the text in the file is
  /// not used.
  static func holder(path: String) -> Holder? {
    let descriptor = retrying { open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard isFile(descriptor) else { return nil }
    var request = wholeFile()
    guard retrying({ fcntl(descriptor, ofdGetLock, &request) }) == 0, request.l_type != Int16(F_UNLCK) else {
      return nil
    }
    return readHolder(descriptor)
  }

  /// Whether something other than a file is at a path, so that no lock can be acquired there.
  static func isObstructed(_ path: String) -> Bool {
    var info = stat()
    return lstat(path, &info) == 0 && info.st_mode & S_IFMT != S_IFREG
  }

  private static func isFile(_ descriptor: CInt) -> Bool {
    var info = stat()
    return fstat(descriptor, &info) == 0 && info.st_mode & S_IFMT == S_IFREG
  }

  private static func wholeFile() -> flock {
    var request = flock()
    request.l_type = Int16(F_WRLCK)
    request.l_whence = Int16(SEEK_SET)
    return request
  }

  /// Reads the holder from the file. The name of a process that no longer lives is left over and is ignored.
  private static func readHolder(_ descriptor: CInt) -> Holder {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count > 0 else { return Holder() }
    let words = String(decoding: bytes[..<count], as: UTF8.self).split { $0 == " " || $0 == "\n" }
    guard let first = words.first, let processID = Int32(first), processID > 0,
      kill(processID, 0) == 0 || errno == EPERM
    else { return Holder() }
    return Holder(processID: processID, name: words.dropFirst().first.map(String.init))
  }
}

#if canImport(Darwin)
  private let ofdSetLock: CInt = 90
  private let ofdGetLock: CInt = 92
#else
  private let ofdSetLock: CInt = 37
  private let ofdGetLock: CInt = 36
#endif

/// Repeats a call that a signal has interrupted.
private func retrying(_ call: () -> CInt) -> CInt {
  while true {
    let result = call()
    if result != -1 || errno != EINTR { return result }
  }
}
