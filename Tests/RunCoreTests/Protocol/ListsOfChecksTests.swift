import Foundation
import Testing

@Suite("Lists of checks in docs/protocol.md")
struct ListsOfChecksTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// The names of the checks in comments such as `// 1. Version.` or `// 8. Press time, and 9. acceptance: …`.
  private static func checks(in source: String) -> [String] {
    let comments = source.split(separator: "\n").map { $0.trimmingPrefix(while: \.isWhitespace) }
      .filter { $0.hasPrefix("// ") }
    return comments.flatMap { comment in
      comment.matches(of: /\b[0-9]+\. ([A-Za-z' ]+)/).map { match in String(match.1).lowercased() }
    }
  }

  /// The bold names of the first numbered list below a line.
  private static func items(of page: String, below line: String) throws -> [String] {
    let start = try #require(page.firstRange(of: line))
    let list = page[start.upperBound...].split(separator: "\n", omittingEmptySubsequences: false)
      .drop { !$0.hasPrefix("1. ") }.prefix { !$0.isEmpty }
    return list.compactMap { line in
      line.firstMatch(of: /^[0-9]+\. \*\*([^*]+)\*\*/).map { $0.1.lowercased() }
    }
  }

  @Test(
    "The checks of a hello and of a command are those of the page, in its order",
    arguments: [
      ("HubSessions.swift", "The hub checks a hello in this order:", 11),
      ("HubAdmission.swift", "Each command is checked in this order", 9),
    ])
  func lists(file: String, line: String, count: Int) throws {
    let code = Self.checks(in: try Self.text("Sources/RunCore/Hub/\(file)"))
    let page = try Self.items(of: try Self.text("docs/protocol.md"), below: line)
    #expect(page.count == count && code.count == count, "\(code) and \(page)")
    for (own, stated) in zip(code, page) { #expect(own.hasPrefix(stated), "\(own), and the page: \(stated)") }
  }
}
