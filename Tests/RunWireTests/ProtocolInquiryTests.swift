import Foundation
import TestSupport
import Testing

@Suite("The table of inquiries in docs/protocol.md")
struct ProtocolInquiryTests {
  /// The lines between two lines of a file.
  private static func lines(of path: String, from: String, to: String) throws -> [Substring] {
    let text = try String(contentsOfFile: Checkout.path(path), encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex { $0.hasPrefix(from) }, "\(path) has no \(from)")
    return Array(lines[(start + 1)...].prefix { !$0.hasPrefix(to) })
  }

  @Test("It has each inquiry of the schema, and no other")
  func inquiries() throws {
    let schema = try Self.lines(of: "Sources/RunWire/runbus.proto", from: "message Inquiry {", to: "}")
      .compactMap { $0.firstMatch(of: /^ +\w+ (\w+) = \d+;/).map { String($0.1) } }
    let rows = try Self.lines(of: "docs/protocol.md", from: "## Inquiries", to: "## ").filter { $0.hasPrefix("| `") }
    // Names of fields are in lower case; a first column may also name messages.
    let listed = rows.flatMap { row in
      row.split(separator: "|")[0].matches(of: /`([a-z_]+)`/).map { String($0.1) }
    }
    #expect(schema.count > 20)
    #expect(listed.sorted() == schema.sorted())
  }
}
