// Dispatch sources are safe to use from any thread, but their protocols are not declared `Sendable` yet.
@preconcurrency import Dispatch
import Foundation
import SystemC

/// A stand-in for a service manager: a datagram socket at which processes say how they are.
package final class NotifySocket: Sendable {
  /// What a process finds in `NOTIFY_SOCKET`.
  package let address: String
  private let log = EventLog<String>()
  private let source: any DispatchSourceRead

  /// Binds a socket.
  ///
  /// - Parameter address: A path; with `@` as its first character, a name in Linux's abstract namespace.
  package init(_ address: String) throws {
    self.address = address
    #if canImport(Glibc)
      let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    #else
      let descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
    #endif
    // A process that a test starts must not inherit it.
    guard descriptor >= 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0
    else { throw CocoaError(.fileNoSuchFile) }
    var name = Array(address.utf8)
    if address.hasPrefix("@") { name[0] = 0 } else { name.append(0) }
    var bound = sockaddr_un()
    bound.sun_family = sa_family_t(AF_UNIX)
    let room = MemoryLayout.size(ofValue: bound.sun_path)
    withUnsafeMutableBytes(of: &bound.sun_path) { $0.copyBytes(from: name.prefix(room)) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size - room + name.count)
    let result = withUnsafePointer(to: bound) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
    }
    guard result == 0 else {
      close(descriptor)
      throw CocoaError(.fileWriteFileExists)
    }
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
    source.setEventHandler { [log] in
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { return }
        log.append(String(decoding: buffer.prefix(count), as: UTF8.self))
      }
    }
    source.setCancelHandler { close(descriptor) }
    source.activate()
  }

  deinit { source.cancel() }

  /// The lines of all messages so far.
  package var lines: [String] { log.events.flatMap(Self.lines) }

  /// Waits for a line.
  package func wait(for line: String) async throws {
    try await log.wait(for: "\(line) of the service") { messages in
      messages.contains { Self.lines($0).contains(line) } ? true : nil
    }
  }

  private static func lines(_ message: String) -> [String] { message.split(separator: "\n").map(String.init) }
}
