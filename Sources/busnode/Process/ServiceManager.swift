import Foundation
import SystemC

/// The service manager that has started this process and wants to hear of it, by the protocol of systemd's
/// `sd_notify`: lines in datagrams to a socket that the environment names.
struct ServiceManager: Hashable, Sendable {
  /// The variables by which a manager makes itself known.
  private static let variables = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]
  /// How long a manager may keep a message waiting. It reads all the time; one that hangs must not hold up a node.
  private static let patienceSeconds = 1
  /// No more often than this, whatever the manager wishes.
  private static let beatMin = Duration.milliseconds(10)

  /// The manager of this process; `nil` for a process that is no service. The first use takes the variables out of the
  /// environment: what the process starts is no service of that manager.
  static let ofThisProcess: ServiceManager? = {
    let manager = ServiceManager(ProcessInfo.processInfo.environment, processID: getpid())
    for name in variables { unsetenv(name) }
    return manager
  }()

  /// The path of the socket; with `@` as its first character, a name in Linux's abstract namespace.
  let address: String
  /// How often the process tells that it lives: twice in the time after which the manager ends a silent one. `nil` when
  /// the manager does not watch.
  let beat: Duration?

  /// - Parameters:
  ///   - environment: The variables of the process.
  ///   - processID: The process, for which `WATCHDOG_PID` may not be meant.
  /// - Returns: `nil` when no manager is named, or one by an address of another kind.
  init?(_ environment: [String: String], processID: Int32) {
    guard let address = environment["NOTIFY_SOCKET"], address.count > 1,
      address.hasPrefix("/") || address.hasPrefix("@")
    else { return nil }
    self.address = address
    let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(processID)" } ?? true
    let limit = environment["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap { isMeant && $0 > 0 ? $0 : nil }
    beat = limit.map { max(.microseconds($0 / 2), Self.beatMin) }
  }

  /// Sends lines such as `READY=1`. A manager that is not there, or does not read, hears nothing, and nothing comes of
  /// it here.
  func tell(_ lines: String...) {
    let descriptor = socket(AF_UNIX, Self.datagram, 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    // A `timeval`: two words on every system with 64 bits.
    var patience = (seconds: Self.patienceSeconds, microseconds: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout.size(ofValue: patience)))
    let bytes = Array(lines.joined(separator: "\n").utf8)
    withSocketAddress { _ = sendto(descriptor, bytes, bytes.count, 0, $0, $1) }
  }

  /// Calls `body` with the address as the system takes it; does not for one that is too long.
  private func withSocketAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Void) {
    var name = Array(address.utf8)
    let isAbstract = name.first == UInt8(ascii: "@")
    // A path ends with a zero. An abstract name begins with one and has no end.
    if isAbstract { name[0] = 0 } else { name.append(0) }
    var socketAddress = sockaddr_un()
    socketAddress.sun_family = sa_family_t(AF_UNIX)
    let room = MemoryLayout.size(ofValue: socketAddress.sun_path)
    guard name.count <= room else { return }
    withUnsafeMutableBytes(of: &socketAddress.sun_path) { $0.copyBytes(from: name) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size - room + name.count)
    withUnsafePointer(to: socketAddress) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
    }
  }

  #if canImport(Glibc)
    private static let datagram = Int32(SOCK_DGRAM.rawValue)
  #else
    private static let datagram = SOCK_DGRAM
  #endif
}
