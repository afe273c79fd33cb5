import Foundation
package import RunCore

/// The line that a hub prints and a device reads: `runbus://HOST:PORT/?k=KEY&t=TOKEN`. It is a secret until the token is
/// used.
package struct PairingLine: Sendable {
  /// The hub's host and pairing port: `HOST:PORT`, an IPv6 host in brackets.
  package let authority: String
  /// The public key of the hub.
  package let hubKey: KeyFingerprint
  /// The token, 16 bytes.
  package let token: [UInt8]

  /// A line from its parts.
  package init(authority: String, hubKey: KeyFingerprint, token: [UInt8]) {
    self.authority = authority
    self.hubKey = hubKey
    self.token = token
  }

  /// Where the hub takes pairing requests.
  package var endpoint: String { "tcp://\(authority)" }

  /// The line.
  package var text: String {
    "runbus://\(authority)/?k=\(Self.encoded(hubKey.bytes))&t=\(Self.encoded(token))"
  }

  /// Reads a line.
  ///
  /// - Throws: ``RunBusError/Code/badInput``, without the line itself.
  package init(_ text: String) throws(RunBusError) {
    let wrong = RunBusError(
      .badInput, "that is no line of busnode pair: it is runbus://HOST:PORT/?k=…&t=…; copy all of it")
    guard text.utf8.count < 512,
      let parts = URLComponents(string: text.trimmingCharacters(in: .whitespacesAndNewlines)),
      parts.scheme == "runbus", let host = parts.host, !host.isEmpty, let port = parts.port,
      (1...65_535).contains(port), parts.path == "/" || parts.path.isEmpty, parts.user == nil, parts.fragment == nil
    else { throw wrong }
    let items = parts.queryItems ?? []
    func bytes(_ name: String, _ count: Int) -> [UInt8]? {
      items.first { $0.name == name }?.value.flatMap(Self.decoded).flatMap { $0.count == count ? $0 : nil }
    }
    guard let key = bytes("k", KeyFingerprint.byteCount).flatMap({ KeyFingerprint($0) }), !key.isOfSmallOrder,
      let token = bytes("t", PairingRequest.tokenByteCount)
    else { throw wrong }
    let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    authority = (bare.contains(":") ? "[\(bare)]" : bare) + ":\(port)"
    hubKey = key
    self.token = token
  }

  /// Base64 for URLs, without padding.
  private static func encoded(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  private static func decoded(_ text: String) -> [UInt8]? {
    let plain = text.replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
    return Data(base64Encoded: plain + padding).map { Array($0) }
  }
}

/// The line is a secret, so it is not shown in a log.
extension PairingLine: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "runbus://\(authority)/?k=\(Self.encoded(hubKey.bytes))&t=…" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: ["line": description]) }
}
