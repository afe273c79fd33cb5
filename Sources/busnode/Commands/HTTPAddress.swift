import ArgumentParser

/// A loopback address and a port, as an option gives it.
struct HTTPAddress: Hashable, Sendable {
  let host: String
  let port: UInt16

  /// Reads an address, such as `127.0.0.1:8080` or `[::1]:8080`.
  ///
  /// - Parameter option: The option that gives it, for the error.
  init(_ text: String, option: String, example: Int) throws {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
      throw ValidationError(Tongue.say(.noAddressWithPort, ["option": option, "text": text, "port": example]))
    }
    var host = String(text[..<colon])
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    (self.host, self.port) = (host, port)
  }
}
