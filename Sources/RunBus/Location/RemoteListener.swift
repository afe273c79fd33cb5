import Foundation
import SystemC

/// Where a hub listens for paired devices beyond its own machine: a TCP address with keys (CURVE) and three ports.
///
/// ```swift
/// let everywhere = try RemoteListener("tcp://*:7070")           // 7070 control, 7071 events, 7072 pairing
/// let wifi = try RemoteListener("tcp://192.168.1.7:7070", eventsPort: 7171)
/// ```
public struct RemoteListener: Hashable, Sendable {
  /// An address of this machine, the name of a network interface, or `*` for all interfaces, IPv6 included.
  public let host: String
  /// The port for control.
  public let port: UInt16
  /// The port for events.
  public let eventsPort: UInt16
  /// The port for pairing requests. The hub listens there only while pairing is open.
  public let pairingPort: UInt16

  /// A listener from its address.
  ///
  /// - Parameters:
  ///   - address: `tcp://HOST:PORT`, an IPv6 host in brackets.
  ///   - eventsPort: The port for events; `nil` for the one after `PORT`.
  ///   - pairingPort: The port for pairing requests; `nil` for the second one after `PORT`.
  /// - Throws: ``RunBusError/Code/badInput`` for any other text, and when two ports are equal.
  public init(_ address: String, eventsPort: UInt16? = nil, pairingPort: UInt16? = nil) throws(RunBusError) {
    guard let (host, port) = Self.parts(of: address) else {
      throw RunBusError(
        .badInput, "'\(address)' is no address to listen at: write tcp://HOST:PORT, such as tcp://*:7070")
    }
    guard port <= 65_533 || (eventsPort != nil && pairingPort != nil) else {
      throw RunBusError(.badInput, "\(address) leaves no room for the next two ports: give a port up to 65533")
    }
    self.host = host
    self.port = port
    self.eventsPort = eventsPort ?? port + 1
    self.pairingPort = pairingPort ?? port + 2
    guard Set([self.port, self.eventsPort, self.pairingPort]).count == 3 else {
      throw RunBusError(.badInput, "control, events and pairing need three ports, not one twice")
    }
  }

  /// The host and the port of `tcp://HOST:PORT`; `nil` for any other text.
  package static func parts(of address: String) -> (host: String, port: UInt16)? {
    guard address.hasPrefix("tcp://"), address.utf8.count <= 200, let colon = address.lastIndex(of: ":") else {
      return nil
    }
    let hostStart = address.index(address.startIndex, offsetBy: 6)
    guard hostStart < colon, let port = UInt16(address[address.index(after: colon)...]), port > 0 else { return nil }
    var host = String(address[hostStart..<colon])
    if host.hasPrefix("[") {
      guard host.hasSuffix("]") else { return nil }
      host = String(host.dropFirst().dropLast())
      var parsed = in6_addr()
      guard inet_pton(AF_INET6, String(host.prefix { $0 != "%" }), &parsed) == 1 else { return nil }
    } else {
      guard !host.isEmpty, host.utf8.allSatisfy({ Self.isOfName($0) }) else { return nil }
    }
    return (host, port)
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
      UInt8(ascii: "*"):
      true
    default: false
    }
  }

  private func endpoint(_ host: String, _ port: UInt16) -> String {
    "tcp://\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }

  /// What is bound where, in ZeroMQ's notation.
  package var endpoints: [(what: String, endpoint: String)] {
    [("control", controlEndpoint), ("events", eventsEndpoint), ("pairing", pairingEndpoint)]
  }

  /// Where control is bound, in ZeroMQ's notation.
  var controlEndpoint: String { endpoint(host, port) }
  /// Where events are bound.
  var eventsEndpoint: String { endpoint(host, eventsPort) }
  /// Where pairing requests are taken.
  var pairingEndpoint: String { endpoint(host, pairingPort) }

  /// The hosts by which devices reach this listener: itself, or the addresses of the interfaces that it stands for.
  private var hosts: [String] {
    let isAll = host == "*" || host == "0.0.0.0" || host == "::"
    let found = NetworkAddresses.present.filter { isAll ? !$0.isLoopback : $0.interface == host }.map(\.address)
    let suited = host == "0.0.0.0" ? found.filter { !$0.contains(":") } : found
    if isAll { return suited.isEmpty ? ["127.0.0.1"] : suited }
    return suited.isEmpty ? [host] : suited
  }

  /// Where devices reach control: `tcp://HOST:PORT` each.
  var addresses: [String] { hosts.map { endpoint($0, port) } }
  /// Where devices reach pairing.
  var pairingAddresses: [String] { hosts.map { endpoint($0, pairingPort) } }
}

extension RemoteListener: CustomStringConvertible {
  /// `tcp://HOST:PORT`.
  public var description: String { controlEndpoint }
}

/// The addresses of this machine's network interfaces.
enum NetworkAddresses {
  struct Entry: Hashable {
    let interface: String
    let address: String
    let isLoopback: Bool
  }

  /// The addresses of all interfaces that are up, IPv4 first; IPv6 addresses of a link only are left out.
  static var present: [Entry] {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else { return [] }
    defer { freeifaddrs(first) }
    var entries: [Entry] = []
    var place = first
    while let entry = place?.pointee {
      place = entry.ifa_next
      guard let address = entry.ifa_addr, entry.ifa_flags & UInt32(IFF_UP) != 0 else { continue }
      let family = CInt(address.pointee.sa_family)
      guard family == AF_INET || family == AF_INET6 else { continue }
      let size = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      guard getnameinfo(address, socklen_t(size), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
        continue
      }
      let host = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      guard !host.contains("%") else { continue }
      entries.append(
        Entry(
          interface: String(cString: entry.ifa_name), address: host,
          isLoopback: entry.ifa_flags & UInt32(IFF_LOOPBACK) != 0))
    }
    return entries.filter { !$0.address.contains(":") } + entries.filter { $0.address.contains(":") }
  }
}
