#if ZeroMQ && canImport(CZMQ)
  import SystemC

  /// The file of an ipc endpoint that was bound here. libzmq leaves it behind. ``remove()`` deletes it, unless another
  /// process has bound the path since.
  struct SocketFile {
    private static let scheme = "ipc://"
    private let path: String
    private let device: dev_t
    private let inode: ino_t

    /// The file at a bound endpoint; `nil` when there is none, as with TCP.
    init?(boundTo endpoint: String) {
      guard endpoint.hasPrefix(Self.scheme) else { return nil }
      path = String(endpoint.dropFirst(Self.scheme.count))
      var status = stat()
      guard lstat(path, &status) == 0 else { return nil }
      device = status.st_dev
      inode = status.st_ino
    }

    func remove() {
      var status = stat()
      guard lstat(path, &status) == 0, status.st_dev == device, status.st_ino == inode else { return }
      unlink(path)
    }

    /// Whether a process listens at an ipc endpoint. A bind would silently take over its path.
    static func isAlive(at endpoint: String) -> Bool {
      guard endpoint.hasPrefix(scheme) else { return false }
      let path = Array(endpoint.dropFirst(scheme.count).utf8)
      var address = sockaddr_un()
      guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
      #if canImport(Glibc)
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
      #else
        let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
      #endif
      guard descriptor >= 0 else { return false }
      defer { close(descriptor) }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      // Not blocking: EAGAIN means a listener whose queue is full, which is alive, too.
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 || errno == EAGAIN
        }
      }
    }
  }
#endif
