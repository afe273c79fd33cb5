import Foundation
import SystemC

/// The system calls of a spool. Each result is checked at once: a code is an errno, or 0.
struct SpoolFiles: Sendable {
  /// The steps at which a test can make the disk fail.
  enum Step: Hashable, Sendable, CaseIterable { case create, write, sync, rename, syncDirectory, remove, open }
  /// The content of a file.
  enum Content {
    case bytes([UInt8])
    /// Another process has removed the file.
    case gone
    /// Not a spool file; the text says why.
    case foreign(String)
    /// The file cannot be read now.
    case failed(CInt)
  }

  /// A spooled command has less than a tenth of this.
  static let fileBytesMax = 16_384

  let directory: String
  /// The errno with which a step is to fail; 0 for none.
  var fault: @Sendable (Step) -> CInt = { _ in 0 }

  /// The names in the directory, sorted; those that are no UTF-8 apart, with signs in the place of what is wrong.
  func names() -> (names: [String], foreign: [String], code: CInt) {
    var (names, foreign) = ([String](), [String]())
    let code = eachName { start in
      guard let name = String(validatingCString: start) else { return foreign.append(String(cString: start)) }
      if name != ".", name != ".." { names.append(name) }
    }
    return (names.sorted(), foreign.sorted(), code)
  }

  /// How many names end with a suffix. A press pays for this each time, so it makes no strings: a thousand names take a
  /// fifth of a millisecond.
  func count(endingIn suffix: StaticString) -> Int {
    var count = 0
    _ = eachName { start in
      let length = strlen(start)
      guard length >= suffix.utf8CodeUnitCount else { return }
      if memcmp(start + (length - suffix.utf8CodeUnitCount), suffix.utf8Start, suffix.utf8CodeUnitCount) == 0 {
        count += 1
      }
    }
    return count
  }

  private func eachName(_ take: (UnsafePointer<CChar>) -> Void) -> CInt {
    guard let stream = opendir(directory) else { return errno }
    defer { closedir(stream) }
    let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
    while true {
      errno = 0
      guard let entry = readdir(stream) else { return errno }
      take((UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self))
    }
  }

  /// Writes a temporary file, syncs it, and renames it, so that readers see all of it or nothing. A failure leaves no
  /// new file behind; an existing file of that name is kept or replaced.
  func put(_ bytes: [UInt8], as name: String, aside: String) -> CInt {
    let isNew = !exists(name)
    let (place, target) = (path(aside), path(name))
    var descriptor: CInt = -1
    var code = attempt(.create) {
      descriptor = open(place, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
      return descriptor
    }
    guard code == 0 else { return code }
    code = attempt(.write) { write(bytes, to: descriptor) }
    if code == 0 { code = attempt(.sync) { syncToDisk(descriptor) } }
    // Some file systems report a full disk only here.
    if close(descriptor) != 0, code == 0, errno != EINTR { code = errno }
    if code == 0 { code = attempt(.rename) { rename(place, target) } }
    guard code == 0 else {
      unlink(place)
      return code
    }
    code = syncDirectory()
    if code != 0, isNew { unlink(target) }
    return code
  }

  /// Removes files durably, with one sync for all of them; no error when one is not there.
  ///
  /// - Returns: What the disk said of each that is still there, or may come back.
  func remove(_ names: [String]) -> [(name: String, code: CInt)] {
    var gone: [String] = []
    var failed: [(name: String, code: CInt)] = []
    for name in names {
      switch attempt(.remove, { unlink(path(name)) }) {
      case 0: gone.append(name)
      case ENOENT: break
      case let code: failed.append((name, code))
      }
    }
    let code = gone.isEmpty ? 0 : syncDirectory()
    return code == 0 ? failed : failed + gone.map { ($0, code) }
  }

  /// Reads a whole file. It never blocks on a pipe and never follows a link.
  func read(_ name: String) -> Content {
    var descriptor: CInt = -1
    let code = attempt(.open) {
      descriptor = open(path(name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      return descriptor
    }
    var info = stat()
    switch code {
    case 0: break
    case ENOENT: return .gone
    // A file of this user that is not readable now may still be a command.
    case EACCES where lstat(path(name), &info) == 0 && info.st_uid == geteuid(): return .failed(EACCES)
    case ELOOP, EACCES, ENXIO: return .foreign("it is not a file of this user's")
    default: return .failed(code)
    }
    defer { close(descriptor) }
    guard fstat(descriptor, &info) == 0 else { return .failed(errno) }
    guard info.st_mode & S_IFMT == S_IFREG else { return .foreign("it is not a file") }
    guard info.st_size <= Self.fileBytesMax else { return .foreign("it is \(info.st_size) bytes long") }
    // One byte more than the file has: it may have grown since.
    var bytes = [UInt8](repeating: 0, count: min(Int(info.st_size) + 1, Self.fileBytesMax))
    var count = 0
    while count < bytes.count {
      let step = bytes.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress! + count, $0.count - count, off_t(count))
      }
      if step == 0 { break }
      if step > 0 {
        count += step
      } else if errno != EINTR {
        return .failed(errno)
      }
    }
    return .bytes(Array(bytes[..<count]))
  }

  /// Renames a file to the first free of `<name>.damaged`, `<name>.2.damaged` …. Returns the new name; `nil` when the
  /// file is gone.
  func setAside(_ name: String) -> (name: String?, code: CInt) {
    var number = 1
    var info = stat()
    var kept = name + ".damaged"
    while lstat(path(kept), &info) == 0 {
      number += 1
      kept = "\(name).\(number).damaged"
    }
    guard rename(path(name), path(kept)) != 0 else { return (kept, 0) }
    return (nil, errno == ENOENT ? 0 : errno)
  }

  /// Removes a temporary file if it is older than this many seconds.
  func removeAbandoned(_ name: String, olderThan seconds: Double) {
    var info = stat()
    guard lstat(path(name), &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return }
    if Date().timeIntervalSince1970 - Double(info.modified.tv_sec) > seconds { unlink(path(name)) }
  }

  func exists(_ name: String) -> Bool {
    var info = stat()
    return lstat(path(name), &info) == 0
  }

  /// Makes files created, renamed or removed in the directory durable.
  private func syncDirectory() -> CInt {
    attempt(.syncDirectory) {
      let descriptor = open(directory, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
      guard descriptor >= 0 else { return -1 }
      defer { close(descriptor) }
      // A file system that does not support this needs no sync.
      return syncToDisk(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : -1
    }
  }

  private func path(_ name: String) -> String { directory + "/" + name }

  private func attempt(_ step: Step, _ call: () -> CInt) -> CInt {
    let code = fault(step)
    guard code == 0 else { return code }
    while call() < 0 {
      if errno != EINTR { return errno }
    }
    return 0
  }

  private func write(_ bytes: [UInt8], to descriptor: CInt) -> CInt {
    var count = 0
    while count < bytes.count {
      let step = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress! + count, $0.count - count, off_t(count)) }
      guard step >= 0 else { return -1 }
      count += step
    }
    return 0
  }
}

extension stat {
  /// The wall time of the last change.
  var modified: timespec {
    #if canImport(Darwin)
      st_mtimespec
    #else
      st_mtim
    #endif
  }
}
