import RunCore

/// A document whose XML breaks, without what is damaged: the trackpoints that are well formed by themselves, inside the
/// tracks, laps and activities around them.
///
/// It parses nothing: it cuts the text at the tags that give both formats their shape, looks whether each piece is well formed by
/// itself, leaves out the ones that break and closes or opens what they left open. Every line stays on its number, and a
/// mark stands where something was left out, so that the reader takes the hole for no pause.
struct RecordingRepair {
  /// Fewer readable trackpoints are not worth a warning: the file is refused.
  static let pointsMin = 10
  /// The element that marks a place where something was left out.
  static let mark = "runbus-damage"
  /// With so many damaged pieces, and more of them than whole ones, the file is given up.
  private static let damagedMax = 2000
  /// Real files hold a few such pieces a lap.
  private static let otherPiecesMax = 20_000

  /// What is left, well formed.
  private(set) var document: [UInt8] = []
  /// The document stops inside a run; what followed is unknown.
  private(set) var endsEarly = false
  private var lostPointLines = LineList()
  private var lostOtherLines = LineList()
  /// How many trackpoints were left out.
  var lostPoints: Int { lostPointLines.count }

  /// How many elements of the shape stand open in `document`, from its root inward.
  private var depth = 0
  private var shape = RecordingShape.gpx
  /// Inside the planned routes of a TCX, which are no recordings.
  private var isInCourses = false
  private var checker: XMLScanner
  private var wholeCount = 0
  private var otherCount = 0

  /// Repairs a document; `nil` when too little of it is whole, or it is neither GPX nor TCX.
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

  /// What a person reads about it.
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
      // The root stays open for what may follow.
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
    // Text by itself breaks nothing and means nothing, and neither does what stands before the root.
    guard !isInCourses, slice.contains(0x3C), depth > 0 || holdsPointEnd else { return blank(piece, text) }
    otherCount += 1
    if checker.isWellFormed(piece.range), depth > 0 {
      document += slice
    } else {
      lose(piece, text, isPoint: holdsPointEnd)
    }
  }

  private mutating func begin(_ level: Int, _ piece: RecordingPiece, _ text: [UInt8]) {
    // An activity that begins among courses ends them: their own end was damaged.
    if level == 1 { isInCourses = false }
    guard !isInCourses else { return blank(piece, text) }
    // A second document behind the first: its tracks or activities are further ones of this.
    guard level > 0 || depth == 0 else {
      close(to: 1)
      return blank(piece, text)
    }
    open(to: level)
    let name = shape.levels[level]
    // An activity says what sport it is; nothing else here says anything.
    if shape.hasAttributes(level), piece.isComplete, checker.isWellFormed(piece.range, leavingOpen: 1) {
      document += text[piece.range]
    } else {
      write("<\(name)>")
      blank(piece, text)
    }
    depth += 1
    if piece.isEmptyElement { close(to: level) }
  }

  /// Opens what an element of this level needs around it, and closes what cannot be.
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
