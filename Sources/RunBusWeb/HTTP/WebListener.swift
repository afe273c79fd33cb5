// Dispatch sources are safe to use from any thread, but their protocols are not declared `Sendable` yet.
@preconcurrency import Dispatch
import Foundation
import RunBus
import SystemC

/// Listens at a loopback address and serves each connection, a bounded number of them at a time.
///
/// `@unchecked Sendable`: what changes is only used on `queue`.
final class WebListener: @unchecked Sendable {
  /// The most connections at a time that are served.
  static let connectionsMax = 32
  /// The most others that are told to come again, at a time. What is beyond that waits in the system until one of these has
  /// ended, which takes seconds at most.
  static let turnedAwayMax = 96
  /// How much waits in the system for a browser that does not read.
  private static let sendBytesMax: Int32 = 64 << 10
  /// How long nothing is accepted when the process has no file descriptor left.
  private static let pause = DispatchTimeInterval.milliseconds(100)

  /// The port that it listens at.
  let port: UInt16
  private let descriptor: Int32
  private let queue = DispatchQueue(label: "runbus.web")

  // Used on the queue only.
  private var answer: @Sendable (WebRequest) async -> WebResponse = { _ in preconditionFailure("not running") }
  private var refuse: @Sendable (Int, String) -> WebResponse = { _, _ in preconditionFailure("not running") }
  private var source: (any DispatchSourceRead)?
  private var isResting = false
  private var connections: [Int32: WebConnection] = [:]
  /// How many of them are served: the others are turned away.
  private var servedCount = 0

  /// Binds an address and listens; nothing is accepted before ``run(answer:refuse:)``.
  ///
  /// - Parameters:
  ///   - host: A numeric loopback address of IPv4 or IPv6.
  ///   - port: The port; 0 lets the system choose.
  /// - Throws: ``RunBus/RunBusError`` when the address is in use or cannot be bound.
  ///   - option: The option of `busnode` that gives the address, for errors.
  init(host: String, port: UInt16, option: String = "--http") throws(RunBusError) {
    let isIPv6 = host.contains(":")
    #if canImport(Darwin)
      let kind = SOCK_STREAM
    #else
      let kind = Int32(SOCK_STREAM.rawValue)
    #endif
    descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, kind, 0)
    let isBound =
      descriptor >= 0 && Self.bind(descriptor, host, port, isIPv6: isIPv6) && listen(descriptor, 128) == 0
      && Self.prepare(descriptor)
    guard isBound, let bound = Self.port(of: descriptor) else {
      let code = errno
      if descriptor >= 0 { close(descriptor) }
      throw Self.failure(code, host, port, option)
    }
    self.port = bound
  }

  private static func failure(_ code: Int32, _ host: String, _ port: UInt16, _ option: String) -> RunBusError {
    guard code == EADDRINUSE else {
      return RunBusError(.transport, "nothing can listen at \(host):\(port): \(String(cString: strerror(code)))")
    }
    return RunBusError(
      .addressInUse, "\(host):\(port) is in use: choose another port with \(option) \(host):PORT, or 0 for any")
  }

  /// Serves until the task is cancelled; then every connection ends.
  ///
  /// - Parameters:
  ///   - answer: Answers a request.
  ///   - refuse: The answer to what is no request, and to a connection too many: status and reason.
  func run(
    answer: @escaping @Sendable (WebRequest) async -> WebResponse,
    refuse: @escaping @Sendable (Int, String) -> WebResponse
  ) async {
    await withCheckedContinuation { (started: CheckedContinuation<Void, Never>) in
      // The first timer of a process opens a file descriptor: it must have one before there is none left.
      queue.asyncAfter(deadline: .now() + .milliseconds(1)) { [self] in
        (self.answer, self.refuse) = (answer, refuse)
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { [self] in accept() }
        self.source = source
        source.activate()
        started.resume()
      }
    }
    // The stream has no elements: it ends when the task is cancelled.
    for await _ in AsyncStream<Never>.makeStream().stream {}
    await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
      queue.async { [self] in
        for connection in connections.values { connection.cut() }
        // A source that sleeps runs no cancel handler, and must not be released.
        goOn()
        source?.setCancelHandler { [self] in
          close(descriptor)
          ended.resume()
        }
        source?.cancel()
        source = nil
      }
    }
  }

  private func accept() {
    while true {
      guard connections.count < Self.connectionsMax + Self.turnedAwayMax else { return rest() }
      let client = SystemCall.accept(descriptor)
      guard client >= 0 else {
        switch errno {
        case EINTR, ECONNABORTED: continue
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: return rest()
        default: return
        }
      }
      guard Self.prepare(client) else {
        close(client)
        continue
      }
      serve(client)
    }
  }

  /// Serves a connection, or reads its request and turns it away.
  private func serve(_ client: Int32) {
    let (answer, refuse) = (answer, refuse)
    let isServed = servedCount < Self.connectionsMax
    servedCount += isServed ? 1 : 0
    let turnAway: @Sendable (WebRequest) async -> WebResponse = { _ in
      refuse(503, "too many requests at a time: try again")
    }
    let connection = WebConnection(
      client, on: queue, answer: isServed ? answer : turnAway, refuse: refuse
    ) { [weak self] in
      self?.connections[client] = nil
      self?.servedCount -= isServed ? 1 : 0
    }
    connections[client] = connection
    connection.start()
  }

  /// Accepts nothing for a moment, and then goes on.
  private func rest() {
    guard !isResting else { return }
    isResting = true
    source?.suspend()
    queue.asyncAfter(deadline: .now() + Self.pause) { [self] in goOn() }
  }

  private func goOn() {
    guard isResting else { return }
    isResting = false
    source?.resume()
  }

  // MARK: Sockets

  private static func bind(_ descriptor: Int32, _ host: String, _ port: UInt16, isIPv6: Bool) -> Bool {
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    if isIPv6 {
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      guard inet_pton(AF_INET6, host, &address.sin6_addr) == 1 else { return false }
      return withBytes(of: &address) { SystemCall.bind(descriptor, $0, $1) }
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else { return false }
    return withBytes(of: &address) { SystemCall.bind(descriptor, $0, $1) }
  }

  private static func withBytes<Address>(
    of address: inout Address, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Bool
  ) -> Bool {
    withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, socklen_t(MemoryLayout<Address>.size)) }
    }
  }

  private static func port(of descriptor: Int32) -> UInt16? {
    var address = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    // The port is at the same place in both kinds of address.
    return result == 0 ? UInt16(bigEndian: address.sin6_port) : nil
  }

  /// Makes a socket non-blocking, closed in child processes and, where that is an option, silent when its peer has gone.
  private static func prepare(_ descriptor: Int32) -> Bool {
    #if canImport(Darwin)
      var yes: Int32 = 1
      setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
    #endif
    // A viewer that does not read is noticed when this buffer is full.
    var room = sendBytesMax
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &room, socklen_t(MemoryLayout<Int32>.size))
    return fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0
      && fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
  }
}

/// Calls under names that the listener does not use itself.
private enum SystemCall {
  static func accept(_ descriptor: Int32) -> Int32 {
    #if canImport(Glibc)
      Glibc.accept(descriptor, nil, nil)
    #elseif canImport(Musl)
      Musl.accept(descriptor, nil, nil)
    #else
      Darwin.accept(descriptor, nil, nil)
    #endif
  }

  static func bind(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Bool {
    #if canImport(Glibc)
      Glibc.bind(descriptor, address, length) == 0
    #elseif canImport(Musl)
      Musl.bind(descriptor, address, length) == 0
    #else
      Darwin.bind(descriptor, address, length) == 0
    #endif
  }
}
