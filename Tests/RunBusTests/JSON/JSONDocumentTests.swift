import Foundation
import TestSupport
import Testing

@Suite("docs/json.md describes the JSON form")
struct JSONDocumentTests {
  private static let folders = ["Tests/RunBusTests/JSON/Golden", "Tests/Processes/Golden"]

  @Test("Every key of the golden files is in the document")
  func keys() throws {
    let text = try String(contentsOf: Checkout.root.appending(path: "docs/json.md"), encoding: .utf8)
    var keys: [String: String] = [:]
    for folder in Self.folders {
      for name in try FileManager.default.contentsOfDirectory(atPath: Checkout.path(folder)) {
        let file = try String(contentsOfFile: Checkout.path("\(folder)/\(name)"), encoding: .utf8)
        for line in file.split(separator: "\n") {
          let value = try #require(JSONValue(text: line), "\(name) has a line that is not JSON")
          for key in Self.keys(of: value) { keys[key] = name }
        }
      }
    }
    #expect(keys.count > 100)
    for (key, name) in keys.sorted(by: { $0.key < $1.key }) where !text.contains("`\(key)`") {
      Issue.record("\(key) of \(name)")
    }
  }

  private static func keys(of value: JSONValue) -> Set<String> {
    switch value {
    case .object(let fields): fields.reduce(into: Set(fields.keys)) { $0.formUnion(keys(of: $1.value)) }
    case .array(let elements): elements.reduce(into: []) { $0.formUnion(keys(of: $1)) }
    case .null, .bool, .number, .string: []
    }
  }
}
