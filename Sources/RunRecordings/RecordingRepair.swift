import RunCore

/// Repairs a document whose XML is damaged: keeps the trackpoints that are well formed, with the tracks, laps and
/// activities around them.
///
/// The repair cuts the text at the tags of ``RecordingShape``, checks whether each piece is well formed by itself,
/// leaves out the others, and writes the start and end tags that are missing then. Lines keep their numbers. A mark
/// replaces each piece that was left out, so that the reader does not mistake the gap for a stop.
struct RecordingRepair {
  /// A file with fewer readable trackpoints is refused.
  static let pointsMin = 10
  /// The element that is written where something was left out.
  static let mark = "runbus-damage"
  /// The repair gives up when more pieces than this are damaged, and more than half of all.
  private static let damagedMax = 2000
  /// The repair gives up after more pieces outside of trackpoints than this. Real files hold a few per lap.
  private static let otherPiecesMax = 20_000

  /// The repaired document, which is well formed.
  private(set) var document: [UInt8] = []
  /// Whether the document ends inside a track or activity, so that its end is missing.
  private(set) var endsEarly = false
  private var lostPointLines = LineList()
  private var lostOtherLines = LineList()
  /// How many trackpoints were left out.
  var lostPoints: Int { lostPointLines.count }

  /// How many elements of the shape are open in `document`.
  private var depth = 0
  private var shape = RecordingShape.gpx
  /// Whether the pieces belong to planned routes of a TCX file, which are not recordings.
  private var isInCourses = false
  private var checker: XMLScanner
  private var wholeCount = 0
  private var otherCount = 0

  /// Repairs a document; `nil` when too much is damaged, or when it holds no trackpoints of GPX or TCX.
  init?(_ damaged: [UInt8]) {
    guard let shape = RecordingPieces.shape(of: damaged) else { return nil }
    self.shape = shape
    checker = XMLScanner(damaged, isFragment: true)
    document.reserveCapacity(damaged.count + 256)
    var pieces = RecordingPieces(damaged, shape)
    while let piece = pieces.next() {
      add(piece, damaged)
      let lost = lostPointLines.count + lostOtherLines.count
      guard otherCount <= Self.otherPiecesMax, lost <= Self.damagedMax || lost <= wholeCount else { return nil }
    }
    guard wholeCount > 0 else { return nil }
    endsEarly = depth > 1
    close(to: 0)
  }

  /// The warning about the repair.
  func sentence(_ failure: RecordingXML.Failure) -> String {
    var losses: [String] = []
    if lostPoints > 0 {
      losses.append("\(lostPoints == 1 ? "1 trackpoint" : "\(lostPoints) trackpoints") skipped (\(lostPointLines))")
    }
    if lostOtherLines.count > 0 {
      let count = lostOtherLines.count
      losses.append("\(count == 1 ? "1 place" : "\(count) places") outside trackpoints skipped (\(lostOtherLines))")
    }
    if endsEarly { losses.append("the file ends early, and what followed is missing") }
    if losses.isEmpty { losses.append("no trackpoint was lost") }
    return "damaged at line \(failure.line), column \(failure.column) (\(failure.reason)): "
      + losses.joined(separator: "; ")
  }

  private mutating func add(_ piece: RecordingPiece, _ text: [UInt8]) {
    switch piece.kind {
    case .point: addPoint(piece, text)
    case .comment: blank(piece, text)
    case .other(let holdsPointEnd): addOther(piece, text, holdsPointEnd: holdsPointEnd)
    case .courses(let begin):
      isInCourses = begin
      close(to: 1)
      blank(piece, text)
    case .begin(let level): begin(level, piece, text)
    case .end(let level):
      // The root stays open, because more may follow.
      if !isInCourses { close(to: max(1, level)) }
      blank(piece, text)
    }
  }

  private mutating func addPoint(_ point: RecordingPiece, _ text: [UInt8]) {
    guard !isInCourses else { return blank(point, text) }
    if point.isComplete, checker.isWellFormed(point.range) {
      open(to: shape.pointLevel)
      document += text[point.range]
      wholeCount += 1
    } else {
      lose(point, text, isPoint: true)
    }
  }

  private mutating func addOther(_ piece: RecordingPiece, _ text: [UInt8], holdsPointEnd: Bool) {
    let slice = text[piece.range]
    // Leave out text without tags, and everything before the root: both mean nothing.
    guard !isInCourses, slice.contains(0x3C), depth > 0 || holdsPointEnd else { return blank(piece, text) }
    otherCount += 1
    if checker.isWellFormed(piece.range), depth > 0 {
      document += slice
    } else {
      lose(piece, text, isPoint: holdsPointEnd)
    }
  }

  private mutating func begin(_ level: Int, _ piece: RecordingPiece, _ text: [UInt8]) {
    // An activity that begins inside courses ends them, because their end tag must have been damaged.
    if level == 1 { isInCourses = false }
    guard !isInCourses else { return blank(piece, text) }
    // A second root is another document after the first: read its tracks or activities as further ones.
    guard level > 0 || depth == 0 else {
      close(to: 1)
      return blank(piece, text)
    }
    open(to: level)
    let name = shape.levels[level]
    // Few attributes are needed; the other start tags are written anew.
    if shape.hasAttributes(level), piece.isComplete, checker.isWellFormed(piece.range, leavingOpen: 1) {
      document += text[piece.range]
    } else {
      write("<\(name)>")
      blank(piece, text)
    }
    depth += 1
    if piece.isEmptyElement { close(to: level) }
  }

  /// Closes or opens elements until exactly `level` elements are open.
  private mutating func open(to level: Int) {
    close(to: level)
    while depth < level {
      write("<\(shape.levels[depth])>")
      depth += 1
    }
  }
  private mutating func close(to level: Int) {
    while depth > level {
      depth -= 1
      write("</\(shape.levels[depth])>")
    }
  }

  private mutating func lose(_ piece: RecordingPiece, _ text: [UInt8], isPoint: Bool) {
    if isPoint { lostPointLines.add(piece.line) } else { lostOtherLines.add(piece.line) }
    if depth > 0 { write("<\(Self.mark)/>") }
    blank(piece, text)
  }
  private mutating func blank(_ piece: RecordingPiece, _ text: [UInt8]) {
    for byte in text[piece.range] where byte == 0x0A { document.append(byte) }
  }
  private mutating func write(_ tag: String) { document += tag.utf8 }
}
