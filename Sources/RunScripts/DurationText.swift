package import RunBus

/// Spans of time as people write and read them.
package enum DurationText {
  /// A span from `90` (seconds), `12s`, `1m30s`, `500ms`, `1h`, `1:30` or `1:02:03`; `nil` for anything else.
  package static func parse(_ text: some StringProtocol) -> BusDuration? {
    if text.contains(":") { return parseClock(text) }
    if let seconds = number(text) { return span(seconds) }
    return parseUnits(text)
  }

  /// Seconds with nine decimals, which read back to the same nanosecond. Written after `@` in an order to press.
  package static func exactSeconds(_ span: BusDuration) -> String {
    let (seconds, rest) = span.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let digits = String(rest.magnitude)
    return "\(seconds)." + String(repeating: "0", count: 9 - digits.count) + digits
  }

  private static func parseClock(_ text: some StringProtocol) -> BusDuration? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count) else { return nil }
    var seconds = 0.0
    for (index, part) in parts.enumerated() {
      guard let value = number(part), index == 0 || value < 60, index == parts.count - 1 || value == value.rounded()
      else { return nil }
      seconds = seconds * 60 + value
    }
    return span(seconds)
  }

  private static func parseUnits(_ text: some StringProtocol) -> BusDuration? {
    let units: [(name: String, seconds: Double)] = [("h", 3600), ("m", 60), ("s", 1), ("ms", 0.001)]
    var rest = Substring(text)
    var smallest = -1
    var seconds = 0.0
    while !rest.isEmpty {
      let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
      let name = rest.dropFirst(digits.count).prefix { $0.isLetter }
      guard let value = number(digits), let index = units.firstIndex(where: { $0.name == name }), index > smallest
      else { return nil }
      smallest = index
      seconds += value * units[index].seconds
      rest = rest.dropFirst(digits.count + name.count)
    }
    return smallest < 0 ? nil : span(seconds)
  }

  /// Plain decimals only: no sign, no exponent, no `nan`.
  private static func number(_ text: some StringProtocol) -> Double? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }) else { return nil }
    return Double(String(text))
  }

  /// No run lasts a hundred days; larger numbers are typing mistakes.
  private static func span(_ seconds: Double) -> BusDuration? {
    seconds <= 8_640_000 ? BusDuration(seconds: seconds) : nil
  }
}
