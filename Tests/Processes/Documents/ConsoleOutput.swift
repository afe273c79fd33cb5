/// The output that a page shows below a command.
///
/// - A line `...` stands for any number of lines; `...` inside a line stands for any text.
/// - An id (eight or more hexadecimal digits) stands for any id. The same id on the page is the same id in the output, and
///   commands that contain it, or at least four of its first digits, get the real one.
/// - A value that the page names as varying stands for any value of its form: each number in it for any number. In a block
///   with such values any two runs of blanks are equal, because columns move with what is in them.
/// - Everything else is compared letter by letter.
struct ConsoleOutput {
  var lines: [String] = []
  let varying: [String]

  /// What ids of the page are in this session.
  typealias IDs = [String: String]

  init(lines: [String] = [], varying: [String] = []) {
    self.lines = lines
    // A longer value first: it may contain a shorter one.
    self.varying = varying.sorted { $0.count > $1.count }
  }

  /// The ids after comparing real output with this; `nil` when the two differ.
  func match(_ output: [String], _ ids: IDs) -> IDs? { match(lines[...], output[...], ids) }

  private func match(_ shown: ArraySlice<String>, _ output: ArraySlice<String>, _ ids: IDs) -> IDs? {
    guard let first = shown.first else { return output.isEmpty ? ids : nil }
    if first == "..." {
      for skipped in 0...output.count {
        if let ids = match(shown.dropFirst(), output.dropFirst(skipped), ids) { return ids }
      }
      return nil
    }
    guard let line = output.first, let ids = match(first, line, ids) else { return nil }
    return match(shown.dropFirst(), output.dropFirst(), ids)
  }

  private func match(_ shown: String, _ line: String, _ ids: IDs) -> IDs? {
    var pattern = ""
    var unknown: [String] = []
    var rest = shown[...]
    while let letter = rest.first {
      if rest.hasPrefix("...") {
        pattern += ".*"
        rest = rest.dropFirst(3)
      } else if let value = varyingValue(in: rest, of: shown) {
        pattern += Self.form(of: value)
        rest = rest.dropFirst(value.count)
      } else if let id = Self.id(in: rest, of: shown) {
        if let real = ids[String(id)] {
          pattern += real
        } else if let group = unknown.firstIndex(of: String(id)) {
          pattern += "(?:\\\(group + 1))"
        } else {
          unknown.append(String(id))
          pattern += "([0-9a-f]{\(id.count)})"
        }
        rest = rest.dropFirst(id.count)
      } else if letter == " ", !varying.isEmpty {
        pattern += " +"
        rest = rest.drop { $0 == " " }
      } else {
        pattern += Self.escaped(letter)
        rest = rest.dropFirst()
      }
    }
    guard let found = try? Regex(pattern).wholeMatch(in: line) else { return nil }
    var ids = ids
    for (index, id) in unknown.enumerated() {
      ids[id] = found.output[index + 1].substring.map { String($0) }
    }
    return ids
  }

  /// The varying value at the start of the rest, if there is one.
  private func varyingValue(in rest: Substring, of line: String) -> Substring? {
    guard Self.isBoundary(rest.startIndex, of: line) else { return nil }
    for value in varying where rest.hasPrefix(value) {
      let end = rest.index(rest.startIndex, offsetBy: value.count)
      if Self.isBoundary(end, of: line) { return rest[..<end] }
    }
    return nil
  }

  /// The id at the start of the rest, if there is one.
  private static func id(in rest: Substring, of line: String) -> Substring? {
    guard isBoundary(rest.startIndex, of: line) else { return nil }
    let word = rest.prefix { $0.isLetter || $0.isNumber }
    return word.count >= 8 && word.allSatisfy { "0123456789abcdef".contains($0) } ? word : nil
  }

  private static func isBoundary(_ index: String.Index, of line: String) -> Bool {
    guard index > line.startIndex, index < line.endIndex else { return true }
    func isWord(_ letter: Character) -> Bool { letter.isLetter || letter.isNumber }
    return !isWord(line[line.index(before: index)]) || !isWord(line[index])
  }

  /// A command with the real ids of this session.
  static func command(_ text: String, with ids: IDs) -> String {
    var result = ""
    var rest = text[...]
    while let letter = rest.first {
      let word = rest.prefix { $0.isLetter || $0.isNumber }
      if word.count >= 4, let (_, real) = ids.first(where: { $0.key.hasPrefix(word) }) {
        result += real.prefix(word.count)
      } else if word.isEmpty {
        result.append(letter)
      } else {
        result += word
      }
      rest = rest.dropFirst(max(word.count, 1))
    }
    return result
  }

  /// Any value of the form of this one: `0:05` becomes "number, colon, number".
  private static func form(of value: Substring) -> String {
    var pattern = ""
    var isNumber = false
    for letter in value {
      if letter.isASCII, letter.isNumber {
        if !isNumber { pattern += "[0-9]+" }
        isNumber = true
      } else {
        pattern += escaped(letter)
        isNumber = false
      }
    }
    return pattern
  }

  private static func escaped(_ letter: Character) -> String {
    letter.isASCII && !letter.isLetter && !letter.isNumber && letter != "_" ? "\\" + String(letter) : String(letter)
  }
}
