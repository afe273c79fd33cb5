package import RunBus

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The secret in the link of a page. A file with mode 0600 in the directory of the device's store holds it, so that a
/// saved link still works after a restart of the server.
package struct SavedLink: Sendable {
  /// What a page gets.
  package struct Secret: Hashable, Sendable {
    /// The token of the link: 128 bits as 32 hexadecimal digits.
    package let token: String
    /// Whether the file holds it.
    package let isSaved: Bool
    /// What the person should know, in one line; `nil` when the file did as it should.
    package let notice: String?
  }

  private static let name = "page-link"
  private static let digits = 32
  private let files: KeyFiles

  /// The link of the page of a device on this machine.
  package init(of device: DeviceID, on location: BusLocation) {
    files = KeyFiles(of: "the secrets of the page", in: location.stateDirectory(for: device))
  }

  /// The file.
  package var path: String { files.path(of: Self.name) }

  /// Reads the secret, or makes and stores a new one. A file that is damaged or open to others is replaced, so that the
  /// page is served all the same, with a new link.
  ///
  /// - Parameter isNew: Whether links that were saved before are to end.
  package func secret(isNew: Bool) -> Secret {
    var notice: String?
    if !isNew {
      do {
        if let bytes = try files.read(Self.name) {
          if let token = Self.token(bytes) { return Secret(token: token, isSaved: true, notice: nil) }
          notice = "the saved link in \(path) is damaged: the page has a new one, and older links do not open it"
        }
      } catch {
        notice =
          "the saved link in \(path) is no file of this user alone: the page has a new one, "
          + "and older links do not open it"
      }
    }
    let token = Self.newToken()
    do {
      try files.write(Array((token + "\n").utf8), as: Self.name)
      return Secret(token: token, isSaved: true, notice: notice)
    } catch {
      return Secret(
        token: token, isSaved: false,
        notice: "the link ends with this page, because it cannot be saved: \(error.message)")
    }
  }

  /// 128 random bits.
  static func newToken() -> String {
    let words = [UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max)]
    return words.map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// The token of a file's bytes; `nil` unless they are what ``secret(isNew:)`` writes.
  private static func token(_ bytes: [UInt8]) -> String? {
    guard bytes.count == digits + 1, bytes.last == UInt8(ascii: "\n") else { return nil }
    let token = bytes.dropLast()
    guard token.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }) else { return nil }
    return String(decoding: token, as: UTF8.self)
  }
}
