import Foundation
import SystemC

/// The file that was found at a path, by device and inode. A file that is deleted or replaced stays open here, but
/// other processes no longer see what is written to it: ``isInPlace`` detects that.
struct FileIdentity: Hashable, Sendable {
  let path: String
  private let device: dev_t
  private let inode: ino_t

  /// The file at a path now; `nil` when there is none.
  init?(path: String) {
    var info = stat()
    guard lstat(path, &info) == 0 else { return nil }
    self.init(path, info)
  }

  /// The file behind an open descriptor, and the path at which it should be.
  init?(descriptor: CInt, path: String) {
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { return nil }
    self.init(path, info)
  }

  private init(_ path: String, _ info: stat) {
    self.path = path
    device = info.st_dev
    inode = info.st_ino
  }

  /// Whether the path still leads to this file. When the look-up fails for another reason, such as a disk error, the
  /// answer is yes: the next write will show the error.
  var isInPlace: Bool {
    var info = stat()
    guard lstat(path, &info) == 0 else { return errno != ENOENT && errno != ENOTDIR }
    return info.st_dev == device && info.st_ino == inode
  }
}
