import Foundation
import SystemC

/// What the processes of one measurement share: sockets, stores, and the times at which the observer saw what.
struct Place: Sendable {
  let directory: String

  var control: String { "ipc://\(directory)/c" }
  var events: String { "ipc://\(directory)/e" }

  /// A directory of its own under the temporary folder.
  static func make() throws -> Place {
    var template = Array((NSTemporaryDirectory() + "/bench-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else { throw POSIXError(.EIO) }
    return Place(directory: String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
  }

  func remove() { try? FileManager.default.removeItem(atPath: directory) }

  /// The size of a store's log in bytes.
  func logSize(of store: String) -> Int? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: "\(directory)/\(store)-wal")
    return attributes?[.size] as? Int
  }
}

/// The time at which the observer saw each revision, in a file: eight bytes each, zero for not yet. One process
/// writes it and another reads it, at the same cost in Swift and in C.
struct Observed: Sendable {
  private let file: CInt

  init(_ place: Place) throws {
    file = open("\(place.directory)/observed", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
  }

  func set(_ revision: UInt64, _ time: Int64) {
    var time = time
    _ = pwrite(file, &time, 8, off_t(revision * 8))
  }

  subscript(revision: UInt64) -> Int64? {
    var time: Int64 = 0
    return pread(file, &time, 8, off_t(revision * 8)) == 8 && time != 0 ? time : nil
  }
}

/// The clock that all processes share, in nanoseconds.
func monotonic() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
