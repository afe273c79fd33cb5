/// A key that was pressed on a terminal.
enum Key: Hashable, Sendable {
  case character(Character)
  case enter, escape, tab, backspace, up, down, left, right
  /// Ctrl with a letter: `control("c")`.
  case control(Character)
}

/// Makes keys of the bytes that a terminal sends. Bytes may come in any pieces. What is pasted is dropped, so that a
/// paste presses no buttons. A paste whose end is missing ends when the terminal is silent.
struct KeyReader: Sendable {
  /// How long a single Escape waits for the rest of a sequence, in milliseconds.
  private static let escapePatience = 250
  /// How long part of a sequence, part of a character and a paste wait for more, in milliseconds.
  private static let silenceMax = 2000

  private var rest: [UInt8] = []
  private var isPasting = false

  /// The keys in `bytes`, with what was left before.
  mutating func read(_ bytes: some Sequence<UInt8>) -> [Key] {
    rest += bytes
    var keys: [Key] = []
    while let (key, length) = next() {
      rest.removeFirst(length)
      if let key, !isPasting { keys.append(key) }
    }
    return keys
  }

  /// The keys that wait for more bytes when none come: a single Escape. Part of a sequence is dropped, and a paste
  /// ends.
  mutating func timeOut() -> [Key] {
    defer { (rest, isPasting) = ([], false) }
    return rest == [0x1B] && !isPasting ? [.escape] : []
  }

  /// How long to wait for more bytes before ``timeOut()``, in milliseconds; `nil` when nothing waits for more.
  var patience: Int? {
    if isPasting { return Self.silenceMax }
    return rest.isEmpty ? nil : rest == [0x1B] ? Self.escapePatience : Self.silenceMax
  }

  /// The next key and how many bytes it has; no key for bytes that mean nothing here; `nil` when more bytes are needed.
  private mutating func next() -> (Key?, Int)? {
    guard let first = rest.first else { return nil }
    switch first {
    case 0x1B: return escape()
    case 0x0D, 0x0A: return (.enter, 1)
    case 0x09: return (.tab, 1)
    case 0x7F, 0x08: return (.backspace, 1)
    case 0x01...0x1A: return (.control(Character(Unicode.Scalar(first + 0x60))), 1)
    case 0x20...0x7E: return (.character(Character(Unicode.Scalar(first))), 1)
    case 0xC2...0xF4:
      let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
      guard rest.count >= length else { return nil }
      let text = String(validating: rest.prefix(length), as: UTF8.self)
      return text.flatMap(\.first).map { (.character($0), length) } ?? (nil, 1)
    default: return (nil, 1)
    }
  }

  private mutating func escape() -> (Key?, Int)? {
    guard rest.count > 1 else { return nil }
    guard rest[1] == UInt8(ascii: "[") || rest[1] == UInt8(ascii: "O") else { return (.escape, 1) }
    // A sequence ends with a letter or a tilde.
    guard let end = rest.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
      return rest.count > 32 ? (nil, rest.count) : nil
    }
    let length = end + 1
    switch String(decoding: rest[2..<length], as: UTF8.self) {
    case "A": return (.up, length)
    case "B": return (.down, length)
    case "C": return (.right, length)
    case "D": return (.left, length)
    case "200~": isPasting = true
    case "201~":
      isPasting = false
      return (nil, length)
    default: break
    }
    return (nil, length)
  }
}
