import Foundation
import RunBus
import Testing

@testable import RunBusWeb

@Suite("The page for operators and what a node counts")
struct OperatingPageTests {
  @Test("docs/operating.md lists each counter, and no other")
  func counters() throws {
    let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL
    let page = try String(contentsOf: root.appending(path: "docs/operating.md"), encoding: .utf8)
    let rows = page.split(separator: "\n").map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    let listed = rows.filter { $0.count == 3 && ($0[1] == "counter" || $0[1] == "histogram") }.map(\.[0])
    let kept = MeterName.allCases.map { name in
      let text = name.rawValue.replacing(".", with: "_")
      return "`\(text)\(name == .commits ? "_seconds" : "_total")`"
    }
    #expect(Set(listed) == Set(kept))
  }
}
