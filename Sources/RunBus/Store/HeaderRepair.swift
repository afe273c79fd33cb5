import Foundation
import SystemC

/// Rebuilds the header of a store's file before SQLite reads it.
///
/// SQLite believes its header. One wrong byte there makes a file unreadable, or makes it one that nothing can be written
/// to, though all of its pages are whole. What is the same in every store is known, and the size can be seen.
struct HeaderRepair {
  /// The places of the bytes that are wrong, in order.
  let places: [Int]
  private let path: String
  private let original: StoreHeader
  private let rebuilt: StoreHeader

  /// `nil` when the header is as it should be, or when the file is not known to be a store of this version.
  init?(of path: String) {
    guard let header = StoreHeader(at: path), header.isRebuildable else { return nil }
    var rebuilt = header
    var info = stat()
    guard stat(path, &info) == 0 else { return nil }
    rebuilt.setConstants(hasTables: info.st_size > StoreSchema.pageSize)
    if let pages = Self.pages(of: path, bytes: Int(info.st_size)) { rebuilt.pages = pages }
    guard rebuilt != header else { return nil }
    self.path = path
    original = header
    self.rebuilt = rebuilt
    places = header.bytes.indices.filter { header.bytes[$0] != rebuilt.bytes[$0] }
  }

  /// Writes the header, durably.
  ///
  /// - Throws: ``RunBusError/Code/store`` when the file cannot be written.
  func write() throws { try write(rebuilt) }

  /// Writes the header once more, with the size that it had.
  func undoSize() throws {
    guard original.pages != rebuilt.pages else { return }
    var header = rebuilt
    header.pages = original.pages
    try write(header)
  }

  private func write(_ header: StoreHeader) throws {
    let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw RunBusError(.store, "\(path) cannot be written: \(systemReason(errno))") }
    defer { close(descriptor) }
    guard pwrite(descriptor, header.bytes, header.bytes.count, 0) == header.bytes.count, fsync(descriptor) == 0
    else { throw RunBusError(.store, "\(path) cannot be written: \(systemReason(errno))") }
  }

  /// What was damaged, for people.
  func damage(in directory: String) -> String {
    let list = places.map(String.init).joined(separator: ", ")
    return "the header of the store in \(directory) was damaged at byte\(places.count == 1 ? "" : "s") \(list)"
  }

  /// How many pages the file has, if its header has to say the same: the file ends with a whole page, and no newer first
  /// page waits in the log.
  private static func pages(of path: String, bytes: Int) -> UInt32? {
    guard bytes.isMultiple(of: StoreSchema.pageSize), !logHasFirstPage(path + "-wal") else { return nil }
    return UInt32(exactly: bytes / StoreSchema.pageSize)
  }

  /// Whether a frame of the log is one of the first page. A log is a header of 32 bytes and frames, each with a header of
  /// 24 bytes that begins with the number of its page.
  private static func logHasFirstPage(_ path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var place: off_t = 32
    var number = [UInt8](repeating: 0, count: 4)
    while pread(descriptor, &number, 4, place) == 4 {
      if number == [0, 0, 0, 1] { return true }
      place += off_t(24 + StoreSchema.pageSize)
    }
    return false
  }
}

extension StoreHeader {
  /// `nil` for a file that does not exist, cannot be read, or is shorter than a header.
  init?(at path: String) {
    // O_NONBLOCK: opening a pipe would block.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: Self.size)
    guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count else { return nil }
    self.init(bytes)
  }
}
