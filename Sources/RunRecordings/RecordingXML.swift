import Foundation
import RunCore

/// Interprets the elements of one format.
protocol TrackFormat {
  /// The runs that were read so far, in file order; one at least, which may be empty.
  var runs: [RecordedTrack] { get }
  /// The names of the attributes of an element that the format needs.
  func attributes(of element: String) -> [String]
  /// An element begins; `path` ends with it.
  mutating func open(_ path: [String], _ attributes: [String: String], line: Int)
  /// An element ends, with the text directly in it; `path` ends with it.
  mutating func close(_ path: [String], text: String, line: Int)
}

/// Reads the XML of both formats by local names, whatever their prefix.
struct RecordingXML {
  /// Where and why the XML cannot be read.
  struct Failure {
    let reason: String
    let line: Int
    let column: Int
    /// Whether the document is refused. It is then not repaired.
    var isRefusal = false
  }

  private var scanner: XMLScanner
  private var format: (any TrackFormat)?
  private var path: [String] = []

  /// Reads a document up to its end or its first failure.
  ///
  /// - Parameter repaired: Whether the document was repaired. Undeclared prefixes are then not noted, because the
  ///   repair removes declarations.
  /// - Returns: The runs before the failure, none when the root belongs to neither format; and the failure.
  static func read(_ document: [UInt8], repaired: Bool = false) -> (runs: [RecordedTrack], failure: Failure?) {
    var reading = RecordingXML(document)
    let failure = reading.run()
    var runs = reading.format?.runs ?? []
    if !repaired, reading.scanner.undeclaredCount > 0, !runs.isEmpty {
      runs[0].notes.add(
        .undeclaredPrefix, line: reading.scanner.undeclaredLine, count: reading.scanner.undeclaredCount)
    }
    return (runs, failure)
  }

  private init(_ document: [UInt8]) { scanner = XMLScanner(document) }

  private mutating func run() -> Failure? {
    do {
      while let event = try scanner.next() {
        switch event {
        case .begin: try begin()
        case .end: end()
        }
      }
      return nil
    } catch {
      let place = scanner.place(of: error.index)
      return Failure(reason: error.reason, line: place.line, column: place.column, isRefusal: error.isRefusal)
    }
  }

  private mutating func begin() throws(XMLFlaw) {
    let name = scanner.name
    if path.isEmpty {
      switch name {
      case "gpx": format = GPXFormat()
      case "TrainingCenterDatabase", "Activities": format = TCXFormat()
      default:
        throw XMLFlaw(
          reason: "its root element is <\(scanner.qualifiedName.prefix(40))>, so it is neither GPX nor TCX",
          index: scanner.index - 1)
      }
    }
    path.append(name)
    var attributes: [String: String] = [:]
    if !scanner.attributes.isEmpty {
      for attribute in format?.attributes(of: name) ?? [] { attributes[attribute] = scanner.value(of: attribute) }
    }
    format?.open(path, attributes, line: scanner.line)
  }

  private mutating func end() {
    format?.close(path, text: Self.trimmed(scanner.text), line: scanner.line)
    path.removeLast()
  }

  private static func trimmed(_ text: [UInt8]) -> String {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    guard let first = text.firstIndex(where: { !isBlank($0) }), let last = text.lastIndex(where: { !isBlank($0) })
    else { return "" }
    let trimmed = String(decoding: text[first...last], as: UTF8.self)
    // Some files have blanks that are not ASCII.
    return text[first] < 0x80 && text[last] < 0x80 ? trimmed : trimmed.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
