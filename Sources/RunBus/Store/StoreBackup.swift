import Foundation
import GRDB
package import RunCore
import SystemC

// Copies of a store in one file: made while its node runs or not, and put in its place while it does not run.
extension NodeStore {
  /// Copies the store into a new file, all batches that were given before included, and calls `completion` on a thread of
  /// the store. No commit waits for it. A file that is at the path stays as it is.
  func backUp(to path: String, completion: @escaping @Sendable (InquiryAnswer) -> Void) {
    guard directory != nil else { return completion(.failed(.noFiles)) }
    enqueueReading { engine in
      switch engine.backUp(to: path) {
      case .success: completion(.done(nil))
      case .failure(let failure): completion(.failed(failure))
      }
    } orWhenClosed: {
      completion(.failed(InquiryFailure(.store, "\(StoreFault.closed)")))
    }
  }

  /// Copies the store, as ``backUp(to:completion:)`` does.
  func backUp(to path: String) async -> InquiryAnswer {
    await withCheckedContinuation { continuation in backUp(to: path) { continuation.resume(returning: $0) } }
  }
}

/// Where a copy is while it is written.
package enum StoreCopy {
  /// The unfinished copy that gets the name of `file` once it is complete.
  package static func part(of file: String) -> String { file + ".part" }
}

/// A file that becomes the copy of a store: it has its name once it is complete and on the disk.
struct BackupFile: ~Copyable {
  private let path: String
  /// Where it is while it is written.
  let part: String

  /// - Throws: A failure with a sentence when a file is there already, or none can be made there.
  init(_ path: String) throws(InquiryFailure) {
    (self.path, part) = (path, StoreCopy.part(of: path))
    var info = stat()
    guard path.hasPrefix("/") else { throw InquiryFailure(.invalid, "\(path) is no absolute path") }
    guard lstat(path, &info) != 0 else {
      throw InquiryFailure(.invalid, "\(path) is there already: give the copy another name")
    }
    // What a copy that was interrupted has left.
    Self.remove(part)
    let descriptor = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw InquiryFailure(.store, "\(path) cannot be written: \(systemReason(errno))")
    }
    close(descriptor)
  }

  /// Seals it and gives it its name.
  consuming func finish() throws(InquiryFailure) {
    do {
      try CopySeal.seal(part)
    } catch {
      Self.remove(part)
      throw InquiryFailure(.store, "\(path) cannot be written: \(CopySeal.reason(error))")
    }
    let descriptor = open(part, O_RDONLY | O_CLOEXEC)
    defer { if descriptor >= 0 { close(descriptor) } }
    // A link is made only where no file is.
    guard descriptor >= 0, syncToDisk(descriptor) == 0, link(part, path) == 0 else {
      let code = errno
      Self.remove(part)
      throw InquiryFailure(.store, "\(path) cannot be written: \(systemReason(code))")
    }
    unlink(part)
    PrivateDirectory.sync((path as NSString).deletingLastPathComponent)
  }

  /// Leaves nothing of it.
  consuming func discard() { Self.remove(part) }

  private static func remove(_ path: String) {
    for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
  }
}

/// The end of a copy: a word and the SHA-256 of all before it. SQLite's own checks find a damaged tree, not a number that
/// has become another one. SQLite reads the pages of which the file's header tells, and leaves the end alone.
enum CopySeal {
  private static let word = Data("runbus copy 1\n".utf8)
  private static var byteCount: UInt64 { UInt64(word.count + SHA256Sum.byteCount) }

  /// Appends the seal.
  static func seal(_ path: String) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    defer { try? file.close() }
    let hash = try SHA256Sum.hash(next: .max, of: file)
    try file.seekToEnd()
    try file.write(contentsOf: word + Data(hash))
  }

  /// What is wrong with a copy; `nil` when each of its bytes is as it was written. A file of whole pages has no seal: it is
  /// that of a store that was set aside, which SQLite alone can check.
  static func flaw(of path: String) throws -> String? {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    defer { try? file.close() }
    let size = try file.seekToEnd()
    guard size % 512 != 0 else { return nil }
    guard size > byteCount else { return "it is cut short" }
    try file.seek(toOffset: size - byteCount)
    guard let end = try file.readToEnd(), end.prefix(word.count) == word else { return "its end is missing" }
    try file.seek(toOffset: 0)
    let hash = try SHA256Sum.hash(next: size - byteCount, of: file)
    return Data(hash) == end.suffix(SHA256Sum.byteCount) ? nil : "its checksum does not fit"
  }

  /// What a person is told of an error of a file.
  static func reason(_ error: any Error) -> String {
    let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError ?? error as NSError
    return cause.domain == NSPOSIXErrorDomain ? systemReason(CInt(cause.code)) : "\(error)"
  }
}

/// Puts a copy of a store in the place of the store.
package enum StoreRestoration {
  /// Replaces the store of a device that does not run, or makes it. The copy is checked first; the former store is set
  /// aside as a whole. A death in between leaves the former store or the copy.
  ///
  /// - Parameters:
  ///   - file: The copy.
  ///   - directory: The directory of the store.
  /// - Returns: Where the former store is now; `nil` when there was none.
  /// - Throws: ``RunBusError/Code/storeHeld`` while the device's node runs; ``RunBusError/Code/storeMismatch`` for a copy
  ///   of another version or role; ``RunBusError/Code/badInput`` for what is no copy, or a damaged one;
  ///   ``RunBusError/Code/store`` when the disk refuses.
  package static func restore(
    _ file: String, to directory: String, of device: DeviceID, role: StoreRole?
  ) throws(RunBusError) -> String? {
    guard let version = StoreHeader(at: file)?.version else {
      throw RunBusError(.badInput, "\(file) is no copy of a store: give a file that busnode backup has made")
    }
    guard version == StoreSchema.version else {
      throw RunBusError(
        .storeMismatch, "\(file) was written by another version of RunBus (schema \(version)): use that one")
    }
    let flaw: String?
    do {
      flaw = try CopySeal.flaw(of: file)
    } catch {
      throw RunBusError(.store, "\(file) cannot be read: \(CopySeal.reason(error))", cause: error)
    }
    if let flaw { throw RunBusError(.badInput, "\(file) is a damaged copy (\(flaw)): nothing was changed") }
    let lock = try StoreFile.lock(directory, device)
    defer { withExtendedLifetime(lock) {} }
    do {
      return try StoreFile.restore(file, to: directory, role: role)
    } catch let error as RunBusError {
      throw error
    } catch let damage as StoreFile.Damage {
      throw RunBusError(.badInput, "\(file) is a damaged copy (\(damage.what)): nothing was changed")
    } catch {
      let fault = StoreFault(error)
      if fault.isDamage {
        throw RunBusError(.badInput, "\(file) is a damaged copy (\(fault.reason)): nothing was changed")
      }
      throw RunBusError(.store, StoreFile.explain(error, directory), cause: error)
    }
  }
}
