import Foundation
import SystemC

/// A TCP address on this machine. Different spellings of one address (`localhost`, `127.0.0.1`) are equal.
struct TCPAddress: Hashable, Sendable, CustomStringConvertible {
  /// `127.x.y.z` or `::1`.
  let host: String
  /// `nil` when the system is to choose one.
  let port: UInt16?

  /// Parses an address.
  ///
  /// - Throws: ``RunBusError/Code/badInput`` unless the text is `tcp://HOST:PORT` on loopback.
  init(_ text: String) throws(RunBusError) {
    let malformed = RunBusError(
      .badInput, "'\(text)' is no address: write tcp://HOST:PORT, such as tcp://127.0.0.1:5570")
    guard text.hasPrefix("tcp://"), let colon = text.lastIndex(of: ":") else { throw malformed }
    let hostStart = text.index(text.startIndex, offsetBy: 6)
    guard hostStart < colon else { throw malformed }
    let hostText = text[hostStart..<colon]
    let portText = text[text.index(after: colon)...]

    if portText == "*" {
      port = nil
    } else {
      guard !portText.isEmpty, portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(portText)
      else { throw RunBusError(.badInput, "'\(portText)' in '\(text)' is no port: give a number from 0 to 65535") }
      port = number == 0 ? nil : number
    }
    guard let host = try Self.host(hostText, malformed) else {
      throw RunBusError(
        .badInput,
        "\(text) is beyond this machine, where TCP needs keys: give 127.0.0.1, or let a phone --listen there for paired "
          + "devices")
    }
    self.host = host
  }

  private init(host: String, port: UInt16?) {
    self.host = host
    self.port = port
  }

  /// The host in its canonical spelling; `nil` when it is not loopback.
  private static func host(_ text: Substring, _ malformed: RunBusError) throws(RunBusError) -> String? {
    if text == "localhost" { return "127.0.0.1" }
    if text.hasPrefix("[") {
      var address = in6_addr()
      guard text.hasSuffix("]"), inet_pton(AF_INET6, String(text.dropFirst().dropLast()), &address) == 1 else {
        throw malformed
      }
      let bytes = withUnsafeBytes(of: address) { Array($0) }
      return bytes == [UInt8](repeating: 0, count: 15) + [1] ? "::1" : nil
    }
    guard !text.contains(":"), !text.contains("/"), !text.contains(where: \.isWhitespace) else { throw malformed }
    var address = in_addr()
    // Host names and `*` are refused: what they stand for cannot be known from the text.
    guard inet_pton(AF_INET, String(text), &address) == 1 else { return nil }
    return UInt32(bigEndian: address.s_addr) >> 24 == 127 ? String(text) : nil
  }

  /// The same host with a port that the system chooses.
  var withAnyPort: TCPAddress { TCPAddress(host: host, port: nil) }
  /// In ZeroMQ's notation.
  var description: String { "tcp://\(host.contains(":") ? "[\(host)]" : host):\(port.map(String.init) ?? "*")" }
  /// As a component of a path: `tcp-127.0.0.1-5570`, `tcp-__1-5570`.
  var pathName: String { "tcp-\(host.replacing(":", with: "_"))-\(port.map(String.init) ?? "0")" }
}
