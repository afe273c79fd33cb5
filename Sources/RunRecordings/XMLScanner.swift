import RunCore

/// The reason why a document is not valid XML, and where.
struct XMLFlaw: Error {
  let reason: String
  /// The index of the byte at which the scanner stopped.
  let index: Int
  /// Whether the document exceeds a limit of the scanner. It is then refused and not repaired.
  var isRefusal = false
}

/// Reads XML in one pass, as far as GPX and TCX need it: elements, attributes, text and the five entities.
///
/// The scanner never goes back, so its time is linear in the size of the document. It keeps the open elements, the
/// attributes of one tag, the beginning of one text and the names that have occurred. It refuses document types, which
/// could declare entities that expand a small document to a huge one.
///
/// Two things are accepted that XML forbids, because they do no harm: `--` in a comment and `]]>` in a text.
struct XMLScanner {
  enum Event {
    /// An element begins; `name` and `attributes` describe it.
    case begin
    /// An element ends; `name` and `text` describe it.
    case end
  }

  struct Attribute {
    fileprivate let name: Int
    fileprivate let value: Range<Int>
  }

  /// How deep elements may be nested; files of both formats stay below 12.
  static let depthMax = 64
  /// The longest tag, far longer than any in files of both formats.
  static let tagBytesMax = 64 << 10
  /// How much of a text is kept. Numbers and names are short; a longer note is cut off.
  static let textBytesMax = 4096

  private let bytes: [UInt8]
  private let isFragment: Bool
  /// The next byte to read.
  private(set) var index: Int
  private var end: Int
  /// The line of `index`, from 1.
  private(set) var line = 1

  private var names = XMLNames()
  private var open: [(spelling: Range<Int>, name: Int)] = []
  /// How many elements of a fragment may stay open at its end.
  private var openAtEnd = 0
  private var hasRoot = false
  private var isEmptyElement = false
  private var current = 0

  /// The attributes of the element that begins.
  private(set) var attributes: [Attribute] = []
  /// The text between the last tag and the one before it.
  private(set) var text: [UInt8] = []

  private var tagCount = 0
  /// For each attribute name the number of the last tag with it, to find attributes that are repeated in a tag.
  private var tagOfAttribute: [Int: Int] = [:]
  /// For each prefix how many open elements declare it.
  private var declarations: [String: Int] = ["xml": 1, "xmlns": 1]
  private var scopes: [(depth: Int, prefix: String)] = []
  /// How often a prefix occurred that was not declared. Names with such a prefix are read all the same.
  private(set) var undeclaredCount = 0
  /// The line of the first one.
  private(set) var undeclaredLine = 0

  /// Makes a scanner of a document.
  ///
  /// - Parameter isFragment: Whether it only checks pieces of the document, see ``isWellFormed(_:leavingOpen:)``.
  init(_ bytes: [UInt8], isFragment: Bool = false) {
    self.bytes = bytes
    self.isFragment = isFragment
    index = bytes.startIndex
    end = bytes.endIndex
  }

  /// The local name of the element that begins or ends.
  var name: String { names[current].local }
  /// Its name as it is written.
  var qualifiedName: String { names[current].qualified }

  /// The line and column of a byte, from 1; columns count characters.
  func place(of index: Int) -> (line: Int, column: Int) {
    let before = bytes[..<index]
    let start = before.lastIndex(of: .newline).map { $0 + 1 } ?? 0
    return (before.count { $0 == .newline } + 1, before[start...].count { $0 & 0xC0 != 0x80 } + 1)
  }

  /// Whether a piece of a document is well formed as the content of an element.
  ///
  /// - Parameter openAtEnd: How many elements must be open at the end of the piece.
  mutating func isWellFormed(_ piece: Range<Int>, leavingOpen openAtEnd: Int = 0) -> Bool {
    (index, end, isEmptyElement, self.openAtEnd) = (piece.lowerBound, piece.upperBound, false, openAtEnd)
    while !open.isEmpty { close() }
    do {
      while try next() != nil { if open.count > Self.depthMax / 2 { return false } }
      return true
    } catch {
      return false
    }
  }

  /// Reads up to the next tag; `nil` at the end of the document.
  mutating func next() throws(XMLFlaw) -> Event? {
    text.removeAll(keepingCapacity: true)
    if isEmptyElement {
      isEmptyElement = false
      close()
      return .end
    }
    while index < end {
      guard bytes[index] == .lessThan else {
        try readText()
        continue
      }
      switch byte(at: index + 1) {
      case .exclamation: try readMarkup()
      case .question:
        index += 2
        try skip(past: "?>", into: nil)
      case .slash:
        try readEndTag()
        return .end
      default:
        try readStartTag()
        return .begin
      }
    }
    guard open.count == openAtEnd else { throw cutOff }
    guard isFragment || hasRoot else { throw outside }
    return nil
  }

  /// The byte at an index; zero after the end.
  private func byte(at index: Int) -> UInt8 { index < end ? bytes[index] : 0 }
  private func isHere(_ characters: StaticString) -> Bool {
    characters.utf8CodeUnitCount <= end - index
      && characters.withUTF8Buffer { $0.elementsEqual(bytes[index..<index + $0.count]) }
  }
  private var cutOff: XMLFlaw { XMLFlaw(reason: "the XML ends in the middle: the file is incomplete", index: end) }
  private var damagedTag: XMLFlaw { XMLFlaw(reason: "an XML tag is malformed", index: index) }
}

// Text, comments, CDATA and processing instructions.
extension XMLScanner {
  private mutating func readText() throws(XMLFlaw) {
    while index < end, bytes[index] != .lessThan {
      if bytes[index] == .ampersand {
        let reference = try reference(at: index)
        if open.isEmpty, !isFragment { throw outside }
        add(reference.character.utf8)
        index = reference.end
      } else {
        let start = index
        while index < end, bytes[index] != .lessThan, bytes[index] != .ampersand {
          if open.isEmpty, !isFragment, !bytes[index].isBlank { throw outside }
          step()
        }
        addLines(start..<index)
      }
    }
  }

  private var outside: XMLFlaw {
    XMLFlaw(reason: hasRoot ? "something follows the end of the XML" : "it is not XML", index: index)
  }

  private mutating func readMarkup() throws(XMLFlaw) {
    if isHere("<!--") {
      index += 4
      try skip(past: "-->", into: nil)
    } else if isHere("<![CDATA["), !open.isEmpty || isFragment {
      index += 9
      let start = index
      try skip(past: "]]>", into: start)
    } else if isHere("<!DOCTYPE") {
      // Entities could expand a small file to a huge one, or read other files.
      throw XMLFlaw(
        reason: "it has a document type declaration, which neither GPX nor TCX has", index: index, isRefusal: true)
    } else {
      throw damagedTag
    }
  }

  /// Moves behind the next `mark`. What lies between `start` and the mark is added to the text, unless `start` is
  /// `nil`.
  private mutating func skip(past mark: StaticString, into start: Int?) throws(XMLFlaw) {
    while index < end {
      if bytes[index] == mark.utf8Start.pointee, isHere(mark) {
        if let start { addLines(start..<index) }
        index += mark.utf8CodeUnitCount
        return
      }
      step()
    }
    throw cutOff
  }

  private mutating func step() {
    if bytes[index] == .newline { line += 1 }
    index += 1
  }

  private mutating func add(_ characters: some Collection<UInt8>) {
    text += characters.prefix(max(0, Self.textBytesMax - text.count))
  }
  /// Adds bytes to the text, with every kind of line end as a line feed.
  private mutating func addLines(_ range: Range<Int>) {
    var piece = bytes[range].prefix(max(0, Self.textBytesMax - text.count))
    // Do not cut in the middle of a character.
    while piece.endIndex < range.upperBound, bytes[piece.endIndex] & 0xC0 == 0x80 { piece.removeLast() }
    guard piece.contains(.carriageReturn) else {
      text += piece
      return
    }
    for index in piece.indices where piece[index] != .carriageReturn || byte(at: index + 1) != .newline {
      text.append(piece[index] == .carriageReturn ? .newline : piece[index])
    }
  }

  /// The character of a reference such as `&amp;`, and the index after the reference.
  private func reference(at start: Int) throws(XMLFlaw) -> (character: String, end: Int) {
    var index = start + 1
    let flaw = XMLFlaw(reason: "an & or a name is not valid XML here", index: start)
    while byte(at: index) != .semicolon {
      guard index < end, index - start < 16, bytes[index] > .space, bytes[index] < 0x80 else { throw flaw }
      index += 1
    }
    let name = String(decoding: bytes[start + 1..<index], as: UTF8.self)
    let entities = ["lt": "<", "gt": ">", "amp": "&", "apos": "'", "quot": "\""]
    if let character = entities[name] { return (character, index + 1) }
    let code =
      name.hasPrefix("#x") ? UInt32(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
    guard let code, let scalar = Unicode.Scalar(code), code >= 0x20 || [0x09, 0x0A, 0x0D].contains(code),
      code & 0xFFFE != 0xFFFE || code > 0xFFFF
    else { throw flaw }
    return (String(Character(scalar)), index + 1)
  }
}

// Tags.
extension XMLScanner {
  private mutating func readStartTag() throws(XMLFlaw) {
    let start = index
    guard !hasRoot || !open.isEmpty || isFragment else { throw outside }
    index += 1
    let spelling = try readName(of: start)
    let element = try name(spelling)
    attributes.removeAll(keepingCapacity: true)
    tagCount += 1
    while true {
      let hasBlank = skipBlanks()
      switch byte(at: index) {
      case .greaterThan:
        index += 1
        return try begin(element, spelling)
      case .slash where byte(at: index + 1) == .greaterThan:
        index += 2
        isEmptyElement = true
        return try begin(element, spelling)
      default:
        guard index < end else { throw cutOff }
        guard hasBlank else { throw damagedTag }
        try readAttribute(of: start)
      }
    }
  }

  private mutating func readAttribute(of tag: Int) throws(XMLFlaw) {
    let name = try name(readName(of: tag))
    guard tagOfAttribute.updateValue(tagCount, forKey: name) != tagCount else { throw damagedTag }
    _ = skipBlanks()
    guard byte(at: index) == .equals else { throw index < end ? damagedTag : cutOff }
    index += 1
    _ = skipBlanks()
    let quote = byte(at: index)
    guard quote == .quote || quote == .apostrophe else { throw index < end ? damagedTag : cutOff }
    index += 1
    let start = index
    while byte(at: index) != quote {
      guard index < end else { throw cutOff }
      switch bytes[index] {
      case .lessThan: throw damagedTag
      case .ampersand: index = try reference(at: index).end
      default: step()
      }
    }
    attributes.append(Attribute(name: name, value: start..<index))
    index += 1
    try refuseLongTag(tag)
  }

  private mutating func readEndTag() throws(XMLFlaw) {
    let start = index
    index += 2
    let spelling = try readName(of: start)
    _ = skipBlanks()
    guard byte(at: index) == .greaterThan else { throw index < end ? damagedTag : cutOff }
    index += 1
    guard let element = open.last, bytes[element.spelling] == bytes[spelling] else {
      throw XMLFlaw(reason: "an XML end tag does not match its start tag", index: index)
    }
    close()
  }

  private mutating func readName(of tag: Int) throws(XMLFlaw) -> Range<Int> {
    let start = index
    while index < end, bytes[index].isInName { index += 1 }
    try refuseLongTag(tag)
    guard index > start, !bytes[start].isOnlyInsideName else { throw index < end ? damagedTag : cutOff }
    return start..<index
  }

  private func refuseLongTag(_ start: Int) throws(XMLFlaw) {
    guard index - start <= Self.tagBytesMax else {
      throw XMLFlaw(reason: "one of its tags is longer than 64 kB", index: start, isRefusal: true)
    }
  }

  private mutating func name(_ spelling: Range<Int>) throws(XMLFlaw) -> Int {
    guard let name = names.number(of: bytes[spelling]) else {
      throw XMLFlaw(
        reason: "its elements and attributes have more than \(XMLNames.countMax) different names",
        index: spelling.lowerBound, isRefusal: true)
    }
    return name
  }

  private mutating func skipBlanks() -> Bool {
    let start = index
    while index < end, bytes[index].isBlank { step() }
    return index > start
  }

  private mutating func begin(_ element: Int, _ spelling: Range<Int>) throws(XMLFlaw) {
    guard open.count < Self.depthMax else {
      throw XMLFlaw(reason: "its elements are nested more than \(Self.depthMax) deep", index: index)
    }
    hasRoot = true
    current = element
    open.append((spelling, element))
    for attribute in attributes {
      guard let prefix = names[attribute.name].declares else { continue }
      declarations[prefix, default: 0] += 1
      scopes.append((open.count, prefix))
    }
    checkPrefix(of: element)
    for attribute in attributes { checkPrefix(of: attribute.name) }
  }

  private mutating func checkPrefix(of name: Int) {
    guard let prefix = names[name].prefix, declarations[prefix] ?? 0 == 0 else { return }
    if undeclaredCount == 0 { undeclaredLine = line }
    undeclaredCount += 1
  }

  private mutating func close() {
    while let scope = scopes.last, scope.depth == open.count {
      declarations[scope.prefix, default: 1] -= 1
      scopes.removeLast()
    }
    if let element = open.popLast() { current = element.name }
  }

  /// The value of an attribute of the element that begins, by its qualified name.
  func value(of attribute: String) -> String? {
    guard let found = attributes.first(where: { names[$0.name].qualified == attribute }) else { return nil }
    var value = ""
    var rest = found.value
    while let place = bytes[rest].firstIndex(of: .ampersand) {
      value += String(decoding: bytes[rest.lowerBound..<place], as: UTF8.self)
      // The reference was checked when the tag was read.
      guard let reference = try? reference(at: place) else { return nil }
      value += reference.character
      rest = reference.end..<rest.upperBound
    }
    value += String(decoding: bytes[rest], as: UTF8.self)
    return value
  }
}

/// The names in a document, each stored once.
struct XMLNames {
  /// How many names a document may have; both formats with all known extensions have a few hundred.
  static let countMax = 10_000

  struct Name {
    let qualified: String
    /// The name without its prefix.
    let local: String
    /// `nil` without a prefix; empty when a colon is in a wrong position.
    let prefix: String?
    /// The prefix that an attribute of this name declares.
    let declares: String?
  }

  private var numbers: [ArraySlice<UInt8>: Int] = [:]
  private var all: [Name] = []

  subscript(number: Int) -> Name { all[number] }

  /// The number of a name; `nil` when it would be one name too many.
  mutating func number(of spelling: ArraySlice<UInt8>) -> Int? {
    if let number = numbers[spelling] { return number }
    guard all.count < Self.countMax else { return nil }
    numbers[spelling] = all.count
    all.append(Name(spelling))
    return all.count - 1
  }
}

extension XMLNames.Name {
  fileprivate init(_ spelling: ArraySlice<UInt8>) {
    qualified = String(decoding: spelling, as: UTF8.self)
    let parts = qualified.split(separator: ":", omittingEmptySubsequences: false)
    local = parts.last { !$0.isEmpty }.map(String.init) ?? qualified
    guard parts.count > 1 else {
      (prefix, declares) = (nil, nil)
      return
    }
    prefix = parts.count == 2 && !parts[1].isEmpty ? String(parts[0]) : ""
    declares = prefix == "xmlns" ? local : nil
  }
}

extension UInt8 {
  fileprivate static let tab: UInt8 = 0x09
  fileprivate static let newline: UInt8 = 0x0A
  fileprivate static let carriageReturn: UInt8 = 0x0D
  fileprivate static let space: UInt8 = 0x20
  fileprivate static let exclamation: UInt8 = 0x21
  fileprivate static let quote: UInt8 = 0x22
  fileprivate static let ampersand: UInt8 = 0x26
  fileprivate static let apostrophe: UInt8 = 0x27
  fileprivate static let slash: UInt8 = 0x2F
  fileprivate static let semicolon: UInt8 = 0x3B
  fileprivate static let lessThan: UInt8 = 0x3C
  fileprivate static let equals: UInt8 = 0x3D
  fileprivate static let greaterThan: UInt8 = 0x3E
  fileprivate static let question: UInt8 = 0x3F

  fileprivate var isBlank: Bool { self == .space || self == .tab || self == .newline || self == .carriageReturn }
  /// Whether the byte is a letter, a digit or one of `_:-.`; every byte that is not ASCII counts as a letter.
  fileprivate var isInName: Bool {
    switch self {
    case 0x61...0x7A, 0x41...0x5A, 0x30...0x39, 0x5F, 0x3A, 0x2D, 0x2E, 0x80...: true
    default: false
    }
  }
  /// Whether the byte is a digit, `-` or `.`, with which no name begins.
  fileprivate var isOnlyInsideName: Bool { (0x30...0x39).contains(self) || self == 0x2D || self == 0x2E }
}
