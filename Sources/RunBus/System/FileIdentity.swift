import Foundation

/// Which file lay at a path: deleted or replaced by another one of that name it is still open here, and nobody else finds
/// what is written to it.
struct FileIdentity: Hashable, Sendable {
  let path: String
  private let device: dev_t
  private let inode: ino_t

  /// What lies at a path now; `nil` when nothing does.
  init?(path: String) {
    var info = stat()
    guard lstat(path, &info) == 0 else { return nil }
    self.init(path, info)
  }

  /// The file behind an open descriptor, which is to lie at a path.
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

  /// The path still leads to this file. A path that cannot be looked up for another reason (a disk that fails, for
  /// example) counts as one that does: the next write tells.
  var isInPlace: Bool {
    var info = stat()
    guard lstat(path, &info) == 0 else { return errno != ENOENT && errno != ENOTDIR }
    return info.st_dev == device && info.st_ino == inode
  }
}
