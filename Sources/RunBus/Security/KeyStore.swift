import Foundation
import SystemC

/// Where a machine keeps its keys. ``KeyFiles`` keeps them in files; on Apple's systems an app keeps them in the
/// keychain (`KeychainKeys`). An app can bring a store of its own.
///
/// A value is written whole or not at all, and is durable when ``write(_:as:)`` returns.
public protocol KeyStore: Sendable {
  /// The bytes that are kept under a name; `nil` if there are none.
  ///
  /// - Throws: ``RunBusError/Code/store`` when they cannot be read, or others could have read them.
  func read(_ name: String) throws(RunBusError) -> [UInt8]?

  /// Keeps bytes under a name, instead of those that were there.
  ///
  /// - Throws: ``RunBusError/Code/store`` when they cannot be written.
  func write(_ bytes: [UInt8], as name: String) throws(RunBusError)

  /// Removes what is kept under a name, if anything is.
  ///
  /// - Throws: ``RunBusError/Code/store`` when it cannot be removed.
  func remove(_ name: String) throws(RunBusError)
}

/// Keeps keys in files that only their owner can read: mode 0600, in a directory of mode 0700.
///
/// A file is written aside, synced and renamed. A file or directory that others may read or write is refused, with the
/// command that mends it. A process that has read keys writes no core dump, and other processes of its user cannot read
/// its memory.
public struct KeyFiles: KeyStore {
  /// The directory of the files.
  public let directory: String

  /// What the files hold, as sentences name it.
  private let contents: String
  /// Whether a process that has read a file closes its memory.
  private let closesMemory: Bool

  /// Files in a directory.
  public init(directory: String) { (self.directory, contents, closesMemory) = (directory, "the keys", true) }

  /// Files of secrets that are less than keys, such as the link of a page: the memory of who reads them stays as open
  /// as it was, for debuggers and for counting descriptors.
  package init(of contents: String, in directory: String) {
    (self.directory, self.contents, closesMemory) = (directory, contents, false)
  }

  /// The longest file that is read.
  private static let bytesMax = 64 << 10

  /// The path of the file of a name.
  package func path(of name: String) -> String { "\(directory)/\(name)" }

  /// See ``KeyStore/read(_:)``.
  public func read(_ name: String) throws(RunBusError) -> [UInt8]? {
    removeUnfinished(name)
    let path = path(of: name)
    // O_NONBLOCK: opening a pipe would wait for a writer.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    if descriptor < 0, errno == ENOENT { return nil }
    // A link is not followed, and a socket cannot be opened.
    if descriptor < 0, [ELOOP, ENXIO, EOPNOTSUPP].contains(errno) { throw Self.noFile(path) }
    guard descriptor >= 0 else { throw fault(path, errno) }
    defer { close(descriptor) }
    try PrivateDirectory.check(directory, for: .keys, code: .store)
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { throw fault(path, errno) }
    guard info.st_mode & S_IFMT == S_IFREG else { throw Self.noFile(path) }
    guard info.st_uid == geteuid() else {
      throw RunBusError(.store, "\(contents) in \(path) belong to another user: make new ones (busnode join)")
    }
    guard info.st_mode & 0o077 == 0 else {
      throw RunBusError(
        .store, "\(contents) in \(path) are open to other users; if nobody has read them: chmod 600 '\(path)'")
    }
    guard info.st_size <= Self.bytesMax else { throw RunBusError(.store, "\(path) is too long to be \(contents)") }
    if closesMemory { ProcessMemory.protect() }
    var bytes = [UInt8](repeating: 0, count: Int(info.st_size))
    var count = 0
    while count < bytes.count {
      let got = bytes.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress! + count, $0.count - count) }
      guard got > 0 else { throw fault(path, got < 0 ? errno : EIO) }
      count += got
    }
    return bytes
  }

  /// What prevents keys from being kept here; `nil` when nothing does. Makes nothing.
  var obstacle: RunBusError? {
    PrivateDirectory.obstacle(toUsing: directory, for: .keys, isPrivate: true).map { RunBusError(.store, $0) }
  }

  /// See ``KeyStore/write(_:as:)``.
  public func write(_ bytes: [UInt8], as name: String) throws(RunBusError) {
    if closesMemory { ProcessMemory.protect() }
    try PrivateDirectory.make(directory, for: .keys)
    try PrivateDirectory.check(directory, for: .keys, code: .store)
    removeUnfinished(name)
    let path = path(of: name)
    let aside = "\(directory)/.\(name).\(getpid())"
    _ = unlink(aside)
    let descriptor = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw fault(aside, errno) }
    var failure: CInt = 0
    var count = 0
    while count < bytes.count, failure == 0 {
      let put = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress! + count, $0.count - count) }
      if put > 0 { count += put } else { failure = put < 0 ? errno : EIO }
    }
    if failure == 0, syncToDisk(descriptor) != 0 { failure = errno }
    close(descriptor)
    if failure == 0, rename(aside, path) != 0 { failure = errno }
    guard failure == 0 else {
      _ = unlink(aside)
      throw fault(path, failure)
    }
    PrivateDirectory.sync(directory)
  }

  /// See ``KeyStore/remove(_:)``.
  public func remove(_ name: String) throws(RunBusError) {
    removeUnfinished(name)
    guard unlink(path(of: name)) == 0 || errno == ENOENT else { throw fault(path(of: name), errno) }
    PrivateDirectory.sync(directory)
  }

  /// Removes files that processes were writing when they died: a secret key may be in them.
  private func removeUnfinished(_ name: String) {
    let prefix = ".\(name)."
    for file in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] where file.hasPrefix(prefix) {
      guard let writer = pid_t(file.dropFirst(prefix.count)), writer > 0, kill(writer, 0) != 0, errno == ESRCH else {
        continue
      }
      _ = unlink("\(directory)/\(file)")
    }
  }

  private static func noFile(_ path: String) -> RunBusError {
    RunBusError(.store, "\(path) is not a file: move it away")
  }

  private func fault(_ path: String, _ code: CInt) -> RunBusError {
    RunBusError(.store, "\(contents) in \(path) cannot be read or written: \(systemReason(code))")
  }
}
