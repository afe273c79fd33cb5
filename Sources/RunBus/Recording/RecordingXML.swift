import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// A format's part of the reading: what its elements mean.
protocol TrackFormat {
  /// What was read so far.
  var track: RecordedTrack { get set }
  /// An element begins; `path` ends with it.
  mutating func open(_ path: [String], _ attributes: [String: String], line: Int)
  /// An element ends, with the text directly in it; `path` ends with it.
  mutating func close(_ path: [String], text: String, line: Int)
}

/// The XML of both formats, as Foundation parses it.
enum RecordingXML {
  /// Both formats stay below 12.
  static let depthMax = 64

  /// Where and why the XML breaks.
  struct Failure {
    let reason: String
    let line: Int
    let column: Int
  }

  /// What a document holds up to where it breaks, and where that is.
  ///
  /// - Parameter repaired: It was repaired; its undeclared prefixes are of the repair's making.
  static func read(_ document: [UInt8], repaired: Bool = false) -> (track: RecordedTrack?, failure: Failure?) {
    let walker = Walker(notesUndeclared: !repaired)
    run(document, walker)
    // The parser's own verdict is not enough: it calls a file that ends early a success.
    return (walker.track, walker.failure)
  }

  /// Whether elements can stand in a document as they are.
  static func isWellFormed(_ elements: some Collection<UInt8>) -> Bool {
    let check = Check()
    run(Array("<r>".utf8) + elements + Array("</r>".utf8), check)
    return !check.hasFailed
  }

  private static let wholeMax = 1 << 20

  private static func run(_ document: [UInt8], _ delegate: any XMLParserDelegate) {
    // A large one from a stream, because Foundation hands over data whole and libxml2 then gives up at 10 MB. Others are
    // read several times when they are damaged, and a stream has a large buffer each time.
    let data = Data(document)
    let parser = document.count < wholeMax ? XMLParser(data: data) : XMLParser(stream: InputStream(data: data))
    parser.shouldResolveExternalEntities = false
    parser.delegate = delegate
    _ = parser.parse()
  }

  /// libxml2's XML_NS_ERR_*: a prefix that was never declared. The names before it are read all the same.
  fileprivate static func isUndeclaredPrefix(_ error: any Error) -> Bool {
    (200...205).contains((error as NSError).code)
  }

  /// libxml2's codes for what happens to real files.
  fileprivate static func explain(_ error: any Error) -> String {
    let code = (error as NSError).code
    return switch code {
    case 4: "it is not XML"
    case 5, 77: "the XML ends in the middle: the file is incomplete"
    case 9, 81: "a character is not valid in its encoding"
    case 23, 26, 68: "an & or a name is not what XML allows there"
    case 76: "an XML end tag does not match its start tag"
    default: "the XML is malformed (libxml2 error \(code))"
    }
  }
}

/// Walks a whole document: local names whatever the prefix, bounded depth and text, the first error kept.
private final class Walker: NSObject, XMLParserDelegate {
  /// A number or a name is short; notes can be long and are not needed.
  private static let textBytesMax = 4096

  private(set) var failure: RecordingXML.Failure?
  private var format: (any TrackFormat)?
  private var path: [String] = []
  private var text = ""
  private var undeclaredLines: [Int] = []
  private let notesUndeclared: Bool

  init(notesUndeclared: Bool) { self.notesUndeclared = notesUndeclared }

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
    guard path.count < RecordingXML.depthMax else {
      fail("its elements are nested more than \(RecordingXML.depthMax) deep", parser)
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
    if RecordingXML.isUndeclaredPrefix(parseError) {
      if notesUndeclared { undeclaredLines.append(parser.lineNumber) }
    } else {
      fail(RecordingXML.explain(parseError), parser)
    }
  }

  private func fail(_ reason: String, _ parser: XMLParser) {
    if failure == nil {
      failure = RecordingXML.Failure(reason: reason, line: parser.lineNumber, column: parser.columnNumber)
    }
  }
}

/// Only looks whether it breaks.
private final class Check: NSObject, XMLParserDelegate {
  private(set) var hasFailed = false
  private var depth = 0

  func parser(
    _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName qName: String?,
    attributes: [String: String]
  ) {
    depth += 1
    if depth > RecordingXML.depthMax / 2 {
      hasFailed = true
      parser.abortParsing()
    }
  }

  func parser(_ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?) {
    depth -= 1
  }

  func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
    if !RecordingXML.isUndeclaredPrefix(parseError) { hasFailed = true }
  }
}
