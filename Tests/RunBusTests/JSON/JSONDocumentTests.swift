import Foundation
import RunBus
import TestSupport
import Testing

@Suite("docs/json.md describes the JSON form")
struct JSONDocumentTests {
  private static let folders = ["Tests/RunBusTests/JSON/Golden", "Tests/BusnodeTests/Golden"]

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

  /// The words of a set, and the row of the page that lists them. The words come from the code, so that a new one is
  /// missed here.
  private static func sets() throws -> [(section: String, key: String, words: [String])] {
    [
      ("Snapshot", "phase", RunPhase.allCases.map(\.rawValue)),
      ("Metrics", "activity", MotionActivity.allCases.map(\.rawValue)),
      ("Metrics", "stale", Metric.allCases.map(\.rawValue)),
      ("Receipt", "command", CommandKind.allCases.map(\.rawValue)),
      ("Receipt", "receipt", try words(in: "Sources/RunBus/JSON/ReceiptJSON.swift", of: "package var word: String")),
      ("Receipt", "reason", try reasons()),
      ("Lock screen", "push", LivePushKind.allCases.map(\.rawValue)),
      ("Room and cue", "stage", RoomView.Stage.allCases.map(\.rawValue)),
      ("Room and cue", "gate", RoomView.Gate.allCases.map(\.rawValue)),
      ("Room and cue", "settled", RoomView.Settled.allCases.map(\.rawValue)),
      ("Room and cue", "finish", RoomView.Outcome.allCases.map(\.rawValue)),
      ("Room and cue", "cue", RoomCue.Kind.allCases.map(\.rawValue)),
      ("Report", "stretches", DistanceSource.allCases.map(\.rawValue)),
      ("Route points", "reason", FixVerdict.allCases.filter { !$0.counts }.map(\.rawValue)),
      ("Events of a node", "sensors", SensorDemand.allCases.map(\.rawValue)),
      ("Outbox and quarantine", "outbox ls", OutboxReport.Kind.allCases.map(\.rawValue).filter { $0 != "unknown" }),
    ]
  }

  private static func reasons() throws -> [String] {
    try words(in: "Sources/RunCore/Model/Verdict.swift", of: "public var code: String")
  }

  /// The words that a `switch` over all cases returns: the compiler keeps it complete.
  private static func words(in file: String, of property: String) throws -> [String] {
    let text = try String(contentsOfFile: Checkout.path(file), encoding: .utf8)
    let start = try #require(text.range(of: property), "\(file) has no \(property)")
    let body = text[start.upperBound...].prefix(while: { $0 != "}" })
    let words = body.matches(of: /case [^:]*: "(\w+)"/).map { String($0.1) }
    #expect(words.count > 1)
    return words
  }

  private static func page() throws -> String {
    try String(contentsOfFile: Checkout.path("docs/json.md"), encoding: .utf8)
  }

  private static func section(_ title: String, of page: String) throws -> Substring {
    let start = try #require(page.range(of: "\n## \(title)\n"), "there is no section \(title)")
    let rest = page[start.upperBound...]
    return rest[..<(rest.range(of: "\n## ")?.lowerBound ?? rest.endIndex)]
  }

  @Test("Every word of a set is in the row of its key")
  func words() throws {
    let page = try Self.page()
    for (title, key, words) in try Self.sets() {
      let rows = try Self.section(title, of: page).split(separator: "\n").filter { $0.hasPrefix("| `\(key)`") }
      let row = try #require(rows.first, "\(title) has no row of \(key)")
      for word in words where !row.contains("`\(word)`") { Issue.record("\(word) of \(title), \(key)") }
    }
  }

  @Test("Every reason is read back from its word")
  func reasonsAreRead() throws {
    for word in try Self.reasons() where !["illegal", "revisionChanged"].contains(word) {
      let read = RejectionReason(plainCode: word)
      #expect(read?.code == word)
    }
  }

  @Test("Every code of an error is in the list of the page, and no other")
  func errorCodes() throws {
    let errors = try String(contentsOfFile: Checkout.path("Sources/RunBus/System/RunBusError.swift"), encoding: .utf8)
    let list = try #require(errors.firstMatch(of: /enum Value: String {([^}]*)}/)).1
    var codes = Set(list.matches(of: /\w+/).map { String($0.0) }).subtracting(["case"])
    let folder = Checkout.path("Sources/busnode")
    for file in try FileManager.default.subpathsOfDirectory(atPath: folder) where file.hasSuffix(".swift") {
      let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
      codes.formUnion(
        text.matches(of: /code: (?:[^",\n]*\? )?"(\w+)"(?: : "(\w+)")?/).flatMap { match in
          [String(match.1)] + (match.2.map { [String($0)] } ?? [])
        })
    }
    let rows = try Self.section("Errors", of: try Self.page()).split(separator: "\n").filter { $0.hasPrefix("| `") }
    let listed = Set(
      rows.flatMap { row in
        (row.split(separator: "|").first ?? "").matches(of: /`(\w+)`/).map { String($0.1) }
      })
    #expect(
      listed == codes,
      "missing: \(codes.subtracting(listed).sorted()), of nothing: \(listed.subtracting(codes).sorted())")
  }

  private static func keys(of value: JSONValue) -> Set<String> {
    switch value {
    case .object(let fields): fields.reduce(into: Set(fields.keys)) { $0.formUnion(keys(of: $1.value)) }
    case .array(let elements): elements.reduce(into: []) { $0.formUnion(keys(of: $1)) }
    case .null, .bool, .number, .string: []
    }
  }
}
