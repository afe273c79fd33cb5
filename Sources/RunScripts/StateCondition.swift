package import RunBus

/// A condition on the state: `phase == paused && distance > 1 km`.
///
/// It is judged on the state as its JSON states it (docs/json.md). A value that is not known (`null`) fulfils only
/// `== null`.
package struct StateCondition: Hashable, Sendable {
  /// How a value is compared.
  enum Comparison: String, Hashable, Sendable, CaseIterable {
    case equal = "=="
    case unequal = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="

    func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
      switch self {
      case .equal: left == right
      case .unequal: left != right
      case .less: left < right
      case .lessOrEqual: left <= right
      case .greater: left > right
      case .greaterOrEqual: left >= right
      }
    }
  }

  /// One comparison of the condition.
  struct Term: Hashable, Sendable {
    let field: StateField
    let comparison: Comparison
    /// The value with which the field is compared, in the unit of the JSON.
    let value: StateValue
  }

  let terms: [Term]

  /// Reads a condition: FIELD OP VALUE, joined by `&&`.
  ///
  /// - Throws: ``TextError`` that says what is wrong with it.
  package init(_ text: some StringProtocol) throws(TextError) {
    guard !text.contains("||") else { throw TextError("a condition is joined by && alone, not by ||") }
    var terms: [Term] = []
    for part in String(text).split(separator: "&&", omittingEmptySubsequences: false) {
      terms.append(try Term(part))
    }
    self.terms = terms
  }

  /// Whether a snapshot fulfils it.
  package func holds(in snapshot: Snapshot) -> Bool {
    let state = StateValue(snapshot)
    return terms.allSatisfy { $0.holds(in: state) }
  }

  /// The first comparison that a snapshot does not fulfil, as what the state has instead: `phase is running`. `nil` when
  /// it fulfils all.
  package func unmet(in snapshot: Snapshot) -> String? {
    let state = StateValue(snapshot)
    guard let term = terms.first(where: { !$0.holds(in: state) }) else { return nil }
    return "\(term.field.path) is \(term.field.value(in: state).shown)"
  }
}

extension StateCondition.Term {
  init(_ text: Substring) throws(TextError) {
    let signs = "=!<>"
    let name = text.prefix { !signs.contains($0) }
    let sign = text.dropFirst(name.count).prefix { signs.contains($0) }
    let value = text.dropFirst(name.count + sign.count).trimmed
    guard !name.trimmed.isEmpty, !value.isEmpty, !sign.isEmpty else {
      let what = text.trimmed.isEmpty ? "an empty part is no comparison" : "'\(text.trimmed)' is no comparison"
      throw TextError("\(what): write FIELD OP VALUE, as phase == paused && distance > 1 km")
    }
    guard let comparison = StateCondition.Comparison(rawValue: String(sign)) else {
      let all = StateCondition.Comparison.allCases.map(\.rawValue).joined(separator: " ")
      throw TextError("'\(sign)' is none of the comparisons \(all)")
    }
    field = try StateField(name.trimmed)
    self.comparison = comparison
    self.value = try field.read(value.unquoted)
    if self.value == .null || !field.isOrdered, ![.equal, .unequal].contains(comparison) {
      let what = self.value == .null ? "null" : field.path
      throw TextError("\(what) has no order: compare it by == or !=")
    }
  }

  func holds(in state: StateValue) -> Bool {
    switch (field.value(in: state), value) {
    case (let present, .null): comparison.holds(present == .null ? 0 : 1, 0)
    case (.null, _): false
    case (.whole(let present), .whole(let wanted)): comparison.holds(present, wanted)
    case (.whole(let present), .number(let wanted)): comparison.holds(Double(present), wanted)
    case (.number(let present), .number(let wanted)): comparison.holds(present, wanted)
    case (.text(let present), .text(let wanted)): comparison.holds(present, wanted)
    case (.boolean(let present), .boolean(let wanted)): (present == wanted) == (comparison == .equal)
    case (.list(let present), let wanted): present.contains(wanted) == (comparison == .equal)
    default: false
    }
  }
}

extension StateField {
  /// Whether its values can be compared by more than `==` and `!=`.
  fileprivate var isOrdered: Bool {
    switch form {
    case .whole, .measure: true
    case .boolean, .word, .list, .object: false
    }
  }

  /// Reads a value of this field as people write it.
  fileprivate func read(_ text: Substring) throws(TextError) -> StateValue {
    if text == "null" { return .null }
    func fail(_ what: String) -> TextError { TextError("'\(text)' does not fit \(path): \(what)") }
    switch form {
    case .whole:
      guard let number = Int64(text), text.first != "+" else { throw fail("give a whole number") }
      return .whole(number)
    case .boolean:
      guard let value = Bool(String(text)) else { throw fail("give true or false") }
      return .boolean(value)
    case .word(let words), .list(let words):
      guard words.isEmpty || words.contains(String(text)) else {
        throw fail("give one of \(words.joined(separator: ", "))")
      }
      return .text(String(text))
    case .measure(let measure):
      guard let number = measure.read(text) else { throw fail("give \(measure.rule)") }
      return .number(number)
    case .object:
      let parts = Self.all.filter { $0.path.hasPrefix(path + ".") }.prefix(2).map(\.path).joined(separator: ", ")
      throw fail("it is an object; compare one of its fields (\(parts), …)")
    }
  }
}

extension StateField.Measure {
  /// What may be written for it.
  var rule: String {
    switch self {
    case .time: "a time, as 90, 12s, 5m, 1h30m or 1:30"
    case .length: "a length, as 800, 800 m, 1.2 km, 0.5 mi or 30 ft"
    case .pace: "a pace, as 330 (seconds for a kilometre), 5:30, 5.5 min/km or 9:00 min/mi"
    case .heartRate: "a heart rate, as 150 or 150 bpm"
    case .cadence: "a cadence, as 170, 170 spm or 170 steps/min"
    case .energy: "an energy, as 90000, 90 kJ or 20 kcal"
    }
  }

  /// The number in the unit of the JSON; `nil` for a text that does not fit.
  func read(_ text: Substring) -> Double? {
    let text = text.filter { !$0.isWhitespace }
    switch self {
    case .time: return DurationText.parse(text)?.seconds
    case .length: return Self.number(text, ["": 1, "m": 1, "km": 1000, "mi": 1609.344, "ft": 0.3048])
    case .pace: return Self.pace(text)
    case .heartRate: return Self.number(text, ["": 1, "bpm": 1])
    case .cadence: return Self.number(text, ["": 1, "spm": 1, "steps/min": 1])
    case .energy: return Self.number(text, ["": 1, "J": 1, "kJ": 1000, "kcal": 4184])
    }
  }

  /// Plain decimals with one of some units: no exponent, no `nan`.
  private static func number(_ text: String, _ units: [String: Double]) -> Double? {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == "." || $0 == "-") }
    guard let number = Double(digits), let factor = units[String(text.dropFirst(digits.count))] else { return nil }
    return number * factor
  }

  /// `330`, `5:30`, `5:30/km`, `5:30min/km`, `5.5min/km`, `330s/km`, and the same by the mile.
  private static func pace(_ text: String) -> Double? {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    let lengths: [Substring: Double] = ["km": 1, "mi": 1.609344]
    guard parts.count <= 2, let length = parts.count == 2 ? lengths[parts[1]] : 1 else { return nil }
    let time = parts[0].hasSuffix("min") ? parts[0].dropLast(3) : parts[0]
    let isClock = time.contains(":")
    guard isClock || parts.count == 1 || time.count < parts[0].count || time.hasSuffix("s"),
      let seconds = DurationText.parse(time)?.seconds
    else { return nil }
    return (isClock || time.count == parts[0].count ? seconds : seconds * 60) / length
  }
}

extension StateValue {
  /// The value in a sentence.
  fileprivate var shown: String {
    switch self {
    case .null: "not known"
    case .boolean(let value): "\(value)"
    case .whole(let value): "\(value)"
    case .number(let value): "\(value)"
    case .text(let value): value
    case .list(let values): values.isEmpty ? "empty" : values.map(\.shown).joined(separator: ", ")
    case .object: "known"
    }
  }
}

extension StringProtocol {
  /// Without white space at both ends.
  fileprivate var trimmed: Substring {
    let rest = Substring(self).drop(while: \.isWhitespace)
    return rest[..<(rest.lastIndex { !$0.isWhitespace }.map(rest.index(after:)) ?? rest.startIndex)]
  }
}

extension Substring {
  /// Without the quotes around it.
  fileprivate var unquoted: Substring {
    for quote in ["\"", "'"] where count >= 2 && hasPrefix(quote) && hasSuffix(quote) {
      return dropFirst().dropLast()
    }
    return self
  }
}
