import RunCore

/// The nested elements around the trackpoints of a format, from the root inward.
enum RecordingShape {
  case gpx, tcx

  /// Their names.
  var levels: [String] {
    switch self {
    case .gpx: ["gpx", "trk", "trkseg"]
    case .tcx: ["TrainingCenterDatabase", "Activity", "Lap", "Track"]
    }
  }
  /// How many elements contain a trackpoint.
  var pointLevel: Int { levels.count }
  /// Whether the attributes of the element at a level are read.
  func hasAttributes(_ level: Int) -> Bool {
    switch self {
    // The creator of the file, and the sport of an activity.
    case .gpx: level == 0
    case .tcx: level == 1
    }
  }

  fileprivate enum Landmark {
    case level(Int), point, courses
    /// An element around activities that the reader ignores.
    case frame
  }
  fileprivate func landmark(_ name: some Collection<UInt8>) -> Landmark? {
    guard (3...22).contains(name.count) else { return nil }
    switch (self, String(decoding: name, as: UTF8.self)) {
    case (.gpx, "trkpt"), (.tcx, "Trackpoint"): return .point
    case (.gpx, "trkseg"): return .level(2)
    case (.gpx, "trk"), (.tcx, "Activity"): return .level(1)
    case (.gpx, "gpx"), (.tcx, "TrainingCenterDatabase"): return .level(0)
    case (.tcx, "Lap"): return .level(2)
    case (.tcx, "Track"): return .level(3)
    case (.tcx, "Courses"), (.tcx, "Course"): return .courses
    case (.tcx, "Activities"), (.tcx, "MultiSportSession"), (.tcx, "FirstSport"), (.tcx, "NextSport"): return .frame
    default: return nil
    }
  }
}

/// A piece of a document between two positions at which it can be cut.
struct RecordingPiece {
  enum Kind {
    /// A trackpoint.
    case point
    /// The start tag of an element of this level.
    case begin(Int)
    /// Its end tag.
    case end(Int)
    /// The start (`true`) or end of planned routes.
    case courses(Bool)
    /// Anything else. `holdsPointEnd`: it contains the end tag of a trackpoint whose start tag is missing.
    case other(holdsPointEnd: Bool)
    /// A comment, or a tag that the reader ignores.
    case comment
  }
  let kind: Kind
  let range: Range<Int>
  /// The line of its first byte.
  let line: Int
  /// Whether a tag has its `>`, and a trackpoint its end tag.
  var isComplete = true
  /// Whether the tag is an empty element: `<trkseg/>`.
  var isEmptyElement = false
}

/// Cuts a document into pieces, in one pass.
struct RecordingPieces {
  private let text: [UInt8]
  private let shape: RecordingShape
  private var index = 0
  private var line = 1
  private var ready: RecordingPiece?
  private var hasNoCommentEnd = false

  init(_ text: [UInt8], _ shape: RecordingShape) {
    self.text = text
    self.shape = shape
  }

  /// The format whose trackpoints a document holds; `nil` when it holds none.
  static func shape(of text: [UInt8]) -> RecordingShape? {
    for index in text.indices where text[index] == 0x3C {
      let name = localName(text, at: index + 1)
      if name.elementsEqual("trkpt".utf8) { return .gpx }
      if name.elementsEqual("Trackpoint".utf8) { return .tcx }
    }
    return nil
  }

  /// The next piece. All pieces in order make up the document.
  mutating func next() -> RecordingPiece? {
    if let piece = ready {
      ready = nil
      return piece
    }
    let (start, startLine) = (index, line)
    var holdsPointEnd = false
    while index < text.count {
      guard text[index] == 0x3C else {
        step()
        continue
      }
      let tag = index
      if let piece = landmarkPiece(&holdsPointEnd) {
        guard tag > start else { return piece }
        ready = piece
        return RecordingPiece(kind: .other(holdsPointEnd: holdsPointEnd), range: start..<tag, line: startLine)
      }
    }
    guard index > start else { return nil }
    return RecordingPiece(kind: .other(holdsPointEnd: holdsPointEnd), range: start..<index, line: startLine)
  }

  /// The piece that begins with the `<` at `index`. When the document is not cut there, returns `nil` after a step.
  private mutating func landmarkPiece(_ holdsPointEnd: inout Bool) -> RecordingPiece? {
    let (start, startLine) = (index, line)
    if isHere("<!--"), skip(past: "-->") {
      return RecordingPiece(kind: .comment, range: start..<index, line: startLine)
    }
    if isHere("<![CDATA["), skip(past: "]]>") { return nil }
    let isEnd = start + 1 < text.count && text[start + 1] == 0x2F
    guard let landmark = shape.landmark(Self.localName(text, at: start + (isEnd ? 2 : 1))) else {
      step()
      return nil
    }
    if case .point = landmark, isEnd {
      holdsPointEnd = true
      step()
      return nil
    }
    let isComplete = skipTag()
    // An incomplete end tag at the end of the file shows that the file was cut off; it closes nothing.
    if !isComplete, isEnd, index == text.count { return nil }
    let isEmptyElement = isComplete && !isEnd && text[index - 2] == 0x2F
    var piece: RecordingPiece
    switch landmark {
    case .point: return point(from: start, startLine, isClosed: isEmptyElement)
    case .frame: piece = RecordingPiece(kind: .comment, range: start..<index, line: startLine)
    case .courses:
      piece = RecordingPiece(kind: .courses(!isEnd && !isEmptyElement), range: start..<index, line: startLine)
    case .level(let level):
      piece = RecordingPiece(kind: isEnd ? .end(level) : .begin(level), range: start..<index, line: startLine)
    }
    piece.isComplete = isComplete
    piece.isEmptyElement = isEmptyElement
    return piece
  }

  /// The rest of a trackpoint: up to its end tag, or up to the next element of the shape.
  private mutating func point(from start: Int, _ startLine: Int, isClosed: Bool) -> RecordingPiece {
    var isClosed = isClosed
    while index < text.count, !isClosed {
      guard text[index] == 0x3C else {
        step()
        continue
      }
      let isEnd = index + 1 < text.count && text[index + 1] == 0x2F
      if let landmark = shape.landmark(Self.localName(text, at: index + (isEnd ? 2 : 1))) {
        guard case .point = landmark, isEnd else { break }
        isClosed = skipTag()
        break
      }
      step()
    }
    return RecordingPiece(kind: .point, range: start..<index, line: startLine, isComplete: isClosed)
  }

  private mutating func step() {
    if text[index] == 0x0A { line += 1 }
    index += 1
  }
  /// Moves behind the `>` of the tag. When there is none before the next `<`, returns `false` and stays there.
  private mutating func skipTag() -> Bool {
    step()
    while index < text.count, text[index] != 0x3C {
      let byte = text[index]
      step()
      if byte == 0x3E { return true }
    }
    return false
  }
  private func isHere(_ characters: StaticString) -> Bool {
    characters.withUTF8Buffer { text[index...].starts(with: $0) }
  }
  /// Moves behind the next `end`. When there is none, returns `false` and stays; later calls do not search again, so
  /// that the scan stays linear.
  private mutating func skip(past end: StaticString) -> Bool {
    guard !hasNoCommentEnd else { return false }
    let (start, startLine) = (index, line)
    while index < text.count {
      if text[index] == 0x3E || text[index] == 0x2D || text[index] == 0x5D, isHere(end) {
        index += end.utf8CodeUnitCount
        return true
      }
      step()
    }
    (index, line, hasNoCommentEnd) = (start, startLine, true)
    return false
  }

  /// The name that begins at `start`, without its prefix.
  private static func localName(_ text: [UInt8], at start: Int) -> ArraySlice<UInt8> {
    var first = start
    var end = start
    while end < text.count, end - start < 64 {
      switch text[end] {
      case 0x20, 0x09, 0x0A, 0x0D, 0x2F, 0x3C, 0x3E: return text[min(first, text.count)..<end]
      case 0x3A: first = end + 1
      default: break
      }
      end += 1
    }
    return text[min(first, end)..<end]
  }
}

/// A list of line numbers for people: the first few ranges, and how many more there are.
struct LineList: CustomStringConvertible {
  private static let rangesMax = 5
  private var ranges: [ClosedRange<Int>] = []
  private var others = 0
  /// How often a line was added.
  private(set) var count = 0

  mutating func add(_ line: Int) {
    count += 1
    if let last = ranges.last, line <= last.upperBound + 1, others == 0 {
      ranges[ranges.count - 1] = last.lowerBound...max(line, last.upperBound)
    } else if ranges.count < Self.rangesMax {
      ranges.append(line...line)
    } else {
      others += 1
    }
  }

  var description: String {
    let shown = ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)" }
    let isOne = shown.count == 1 && ranges.first?.count == 1 && others == 0
    return (isOne ? "line " : "lines ") + shown.joined(separator: ", ") + (others > 0 ? " and \(others) more" : "")
  }
}
