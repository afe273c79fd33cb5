import Foundation
import SystemC

/// A TCP socket that never blocks.
struct ProxySocket: Hashable {
  let descriptor: Int32

  /// The result of reading.
  enum Reading {
    case bytes(ArraySlice<UInt8>)
    case notNow
    /// The other side has closed normally.
    case ended
    case failed
  }

  private init(_ descriptor: Int32) {
    self.descriptor = descriptor
    // A spawned process must not inherit the socket: it would keep a connection open that is cut here.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    #if canImport(Darwin)
      set(SOL_SOCKET, SO_NOSIGPIPE, 1)
    #endif
  }

  #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue)
  #else
    private static let stream = SOCK_STREAM
  #endif
  #if canImport(Darwin)
    private static let sendFlags: Int32 = 0
  #else
    private static let sendFlags = Int32(MSG_NOSIGNAL)
  #endif

  /// Listens at an address of this machine, on a port that the system chooses.
  static func listening(at host: String) throws -> ProxySocket {
    let socket = ProxySocket(socket(AF_INET, stream, 0))
    guard socket.descriptor >= 0, withAddress(host, 0, { bind(socket.descriptor, $0, $1) }) == 0,
      listen(socket.descriptor, 128) == 0
    else { throw CocoaError(.featureUnsupported) }
    return socket
  }

  /// Starts to connect: the socket becomes writable when connected, and fails if nobody listens.
  static func connecting(to host: String, _ port: UInt16) -> ProxySocket? {
    let socket = ProxySocket(socket(AF_INET, stream, 0))
    guard socket.descriptor >= 0 else { return nil }
    guard withAddress(host, port, { connect(socket.descriptor, $0, $1) }) == 0 || errno == EINPROGRESS else {
      socket.close()
      return nil
    }
    return socket
  }

  private static func withAddress(
    _ host: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr(host)
    return withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
  }

  /// Its local port.
  var port: UInt16 {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    return UInt16(bigEndian: address.sin_port)
  }

  /// The next accepted connection.
  func accepted() -> ProxySocket? {
    let other = accept(descriptor, nil, nil)
    return other < 0 ? nil : ProxySocket(other)
  }

  func read() -> Reading {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    switch count {
    case 1...: return .bytes(buffer[..<count])
    case 0: return .ended
    default: return errno == EAGAIN || errno == EINTR ? .notNow : .failed
    }
  }

  /// The number of bytes written; `nil` if the other side is gone.
  func write(_ bytes: ArraySlice<UInt8>) -> Int? {
    let count = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Self.sendFlags) }
    if count >= 0 { return count }
    return errno == EAGAIN || errno == EINTR ? 0 : nil
  }

  /// Closes the socket, normally or with a reset, which loses data in flight.
  func close(reset: Bool = false) {
    if reset {
      var linger = linger(l_onoff: 1, l_linger: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }
    Foundation.close(descriptor)
  }

  private func set(_ level: Int32, _ option: Int32, _ value: Int32) {
    var value = value
    setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}
