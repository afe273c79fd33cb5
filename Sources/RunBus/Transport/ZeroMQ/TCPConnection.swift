import SystemC

/// A TCP connection whose file descriptor a library owns. The library may close it at any time, and the system then gives
/// the number to another one; the address of the other end tells them apart.
struct TCPConnection: Hashable {
  let descriptor: CInt
  /// The address and port of the other end, as the system writes them.
  let remote: [UInt8]

  /// A connection by its parts.
  init(descriptor: CInt, remote: [UInt8]) { (self.descriptor, self.remote) = (descriptor, remote) }

  /// The connection that has a descriptor now; `nil` if that is no TCP connection, or is not connected.
  init?(descriptor: CInt) {
    guard let remote = Self.remote(of: descriptor), Self.received(on: descriptor) != nil else { return nil }
    self.init(descriptor: descriptor, remote: remote)
  }

  /// How many bytes the system has received on it; `nil` when it is gone.
  var received: UInt64? { isOpen ? Self.received(on: descriptor) : nil }

  /// Ends it in both directions. Its owner then finds it closed by the other end.
  func cut() { if isOpen { shutdown(descriptor, CInt(SHUT_RDWR)) } }

  private var isOpen: Bool { Self.remote(of: descriptor) == remote }

  private static func remote(of descriptor: CInt) -> [UInt8]? {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) }
    }
    guard result == 0 else { return nil }
    return withUnsafeBytes(of: storage) { Array($0.prefix(Int(size))) }
  }

  #if canImport(Darwin)
    private static func received(on descriptor: CInt) -> UInt64? {
      var info = tcp_connection_info()
      var size = socklen_t(MemoryLayout<tcp_connection_info>.size)
      guard getsockopt(descriptor, CInt(IPPROTO_TCP), TCP_CONNECTION_INFO, &info, &size) == 0 else { return nil }
      return info.tcpi_rxbytes
    }
  #else
    /// Where `tcpi_bytes_received` lies in `struct tcp_info` of linux/tcp.h, since Linux 4.1. The structure of the C
    /// library ends before it.
    private static let bytesReceived = 128

    private static func received(on descriptor: CInt) -> UInt64? {
      withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { info in
        var size = socklen_t(info.count)
        guard getsockopt(descriptor, CInt(IPPROTO_TCP), TCP_INFO, info.baseAddress, &size) == 0,
          Int(size) >= bytesReceived + 8
        else { return nil }
        return info.load(fromByteOffset: bytesReceived, as: UInt64.self)
      }
    }
  #endif
}
