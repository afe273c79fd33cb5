import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

extension Recording {
  /// A longer file is no recording of a run: a day at one point per second takes about 30 MB.
  static let bytesMax = 64 << 20

  /// Reads a GPX 1.1 or TCX file; which of them it is, its content says.
  ///
  /// - Throws: ``RunBusError/Code/badInput`` with one line that says what is wrong and where, when the file cannot be
  ///   read whole. What is skipped in a readable file stands in ``warnings``.
  public static func read(contentsOf path: String) throws(RunBusError) -> Recording {
    let name = URL(fileURLWithPath: path).lastPathComponent
    return try read(contents(of: path), name: name, path: path)
  }

  /// Reads a GPX 1.1 or TCX document from memory.
  ///
  /// - Parameters:
  ///   - name: What it is called when it does not say.
  ///   - path: How messages call it; the name by default.
  /// - Throws: ``RunBusError/Code/badInput``, as ``read(contentsOf:)``.
  public static func read(_ document: [UInt8], name: String, path: String? = nil) throws(RunBusError) -> Recording {
    try read(Data(document), name: name, path: path ?? name)
  }

  private static func read(_ data: Data, name: String, path: String) throws(RunBusError) -> Recording {
    guard data.count <= bytesMax else { throw .unreadable(path, "it is larger than \(bytesMax >> 20) MB") }
    guard !data.isEmpty else { throw .unreadable(path, "it is empty") }
    // In other encodings the next check would not see what it looks for; and Foundation's parser on Linux traps on an
    // attribute that is not UTF-8.
    guard !data.prefix(4).contains(0), String(validating: data, as: UTF8.self) != nil else {
      throw .unreadable(path, "it is not UTF-8 text")
    }
    // Neither format has one, and entities are how a small file becomes a large one or reads another.
    guard data.range(of: Data("<!DOCTYPE".utf8)) == nil else {
      throw .unreadable(path, "it has a document type declaration, which neither GPX nor TCX has")
    }
    let reader = XMLReader()
    let parser = XMLParser(data: data)
    parser.shouldResolveExternalEntities = false
    parser.delegate = reader
    _ = parser.parse()
    // The parser's own verdict is not enough: it calls a file that ends early a success.
    if let failure = reader.failure {
      throw .unreadable(path, failure.reason, line: failure.line, column: failure.column)
    }
    guard let track = reader.track else { throw .unreadable(path, "it is neither GPX nor TCX") }
    do {
      return try track.recording(named: name)
    } catch {
      throw .unreadable(path, error.reason)
    }
  }

  private static func contents(of path: String) throws(RunBusError) -> Data {
    let url = URL(fileURLWithPath: path)
    do {
      let attributes = try FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)
      // A pipe would block and a device never ends.
      guard attributes[.type] as? FileAttributeType == .typeRegular else {
        throw RunBusError.unreadable(path, "it is not a file")
      }
      let file = try FileHandle(forReadingFrom: url)
      defer { try? file.close() }
      // One byte more than allowed tells a file that is too long, even if it grows meanwhile.
      return try file.read(upToCount: bytesMax + 1) ?? Data()
    } catch let error as RunBusError {
      throw error
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
      throw .unreadable(path, "there is no such file", cause: error)
    } catch {
      throw .unreadable(path, "it cannot be opened; check its permissions", cause: error)
    }
  }
}

extension RunBusError {
  fileprivate static func unreadable(
    _ path: String, _ reason: String, line: Int? = nil, column: Int? = nil, cause: (any Error)? = nil
  ) -> RunBusError {
    var place = path
    if let line { place += ":\(line)" }
    if let column { place += ":\(column)" }
    return RunBusError(.badInput, "\(place): cannot read this recording: \(reason)", cause: cause)
  }
}

/// A format's part of the reading: what its elements mean.
protocol TrackFormat {
  /// What was read so far.
  var track: RecordedTrack { get set }
  /// An element begins; `path` ends with it.
  mutating func open(_ path: [String], _ attributes: [String: String], line: Int)
  /// An element ends, with the text directly in it; `path` ends with it.
  mutating func close(_ path: [String], text: String, line: Int)
}

/// Walks the XML: local names whatever the prefix, bounded depth and text, the first error kept.
private final class XMLReader: NSObject, XMLParserDelegate {
  /// Both formats stay below 12.
  private static let depthMax = 64
  /// A number or a name is short; notes can be long and are not needed.
  private static let textBytesMax = 4096
  /// libxml2's XML_NS_ERR_*: a prefix that was never declared. The names before it are read all the same.
  private static let namespaceErrors = 200...205

  struct Failure {
    let reason: String
    let line: Int?
    let column: Int?
  }

  private(set) var failure: Failure?
  private var format: (any TrackFormat)?
  private var path: [String] = []
  private var text = ""
  private var undeclaredLines: [Int] = []

  /// What was read; `nil` when the root belongs to neither format.
  var track: RecordedTrack? {
    var track = format?.track
    for line in undeclaredLines { track?.notes.add(.undeclaredPrefix, line: line) }
    return track
  }

  func parser(
    _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName qName: String?,
    attributes: [String: String]
  ) {
    let name = elementName.split(separator: ":").last.map(String.init) ?? elementName
    if path.isEmpty {
      switch name {
      case "gpx": format = GPXFormat()
      case "TrainingCenterDatabase", "Activities": format = TCXFormat()
      default:
        fail("its root element is <\(elementName.prefix(40))>, so it is neither GPX nor TCX", parser)
        parser.abortParsing()
        return
      }
    }
    guard path.count < Self.depthMax else {
      fail("its elements are nested more than \(Self.depthMax) deep", parser)
      parser.abortParsing()
      return
    }
    path.append(name)
    text = ""
    format?.open(path, attributes, line: parser.lineNumber)
  }

  func parser(_ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?) {
    guard !path.isEmpty else { return }
    format?.close(path, text: text.trimmingCharacters(in: .whitespacesAndNewlines), line: parser.lineNumber)
    path.removeLast()
    text = ""
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) {
    if text.utf8.count + string.utf8.count <= Self.textBytesMax { text += string }
  }

  func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
    let code = (parseError as NSError).code
    if Self.namespaceErrors.contains(code) {
      undeclaredLines.append(parser.lineNumber)
    } else {
      fail(Self.explain(code), parser)
    }
  }

  private func fail(_ reason: String, _ parser: XMLParser) {
    if failure == nil { failure = Failure(reason: reason, line: parser.lineNumber, column: parser.columnNumber) }
  }

  /// libxml2's codes for what happens to real files.
  private static func explain(_ code: Int) -> String {
    switch code {
    case 4: "it is not XML"
    case 5, 77: "the XML ends in the middle: the file is incomplete"
    case 9, 81: "a character is not valid in its encoding"
    case 26: "an XML entity is not defined"
    case 76: "an XML end tag does not match its start tag"
    default: "the XML is malformed (libxml2 error \(code))"
    }
  }
}
