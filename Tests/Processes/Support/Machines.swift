import Foundation
import Testing
import TestSupport
import SystemC

/// Three machines: one for the phone, one for the watches, one for the widget. Each is a network namespace with one
/// cable to the test's own, in which the proxies are, where the system lets this user make some; else all are this
/// machine.
final class Machines: Sendable {
  /// One of the three.
  enum Place: Int, CaseIterable, Sendable {
    case phone, watches, widget
  }

  private let tag: String
  private let network: Int
  /// Whether the machines are namespaces.
  let areNamespaces: Bool

  /// Makes the namespaces.
  init() {
    let number = Int.random(in: 0..<(1 << 20))
    tag = String(number, radix: 36)
    network = 1 + number % 250
    areNamespaces = geteuid() == 0 && Self.ip != nil && Self.ip("netns", "add", "rb\(tag)0")
    guard areNamespaces else { return }
    for place in Place.allCases {
      if place != .phone { _ = Self.ip("netns", "add", name(of: place)) }
      let cable = "rb\(tag)v\(place.rawValue)"
      _ = Self.ip("link", "add", cable, "type", "veth", "peer", "name", "v0", "netns", name(of: place))
      _ = Self.ip("address", "add", "\(near(place))/30", "dev", cable)
      _ = Self.ip("link", "set", cable, "up")
      _ = Self.ip("-n", name(of: place), "address", "add", "\(host(of: place))/30", "dev", "v0")
      _ = Self.ip("-n", name(of: place), "link", "set", "v0", "up")
      _ = Self.ip("-n", name(of: place), "link", "set", "lo", "up")
    }
  }

  deinit {
    guard areNamespaces else { return }
    for place in Place.allCases { _ = Self.ip("netns", "delete", name(of: place)) }
  }

  private func name(of place: Place) -> String { "rb\(tag)\(place.rawValue)" }

  /// The machine's own address.
  func host(of place: Place) -> String { areNamespaces ? "10.91.\(network).\(place.rawValue * 4 + 2)" : "127.0.0.1" }

  /// The address of the proxies' end of its cable.
  func near(_ place: Place) -> String { areNamespaces ? "10.91.\(network).\(place.rawValue * 4 + 1)" : "127.0.0.1" }

  /// The words before a command that is to run there.
  func launcher(at place: Place) -> [String] {
    guard areNamespaces, let ip = Self.ip else { return [] }
    return [ip, "netns", "exec", name(of: place)]
  }

  private static let ip = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  private static func ip(_ arguments: String...) -> Bool {
    guard let ip else { return false }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: ip)
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    do { try process.run() } catch { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}
