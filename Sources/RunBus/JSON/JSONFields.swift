import RunCore

// How the JSON form writes and reads single fields; docs/json.md has the rules.
extension KeyedEncodingContainer {
  /// Writes a value, or `null` when there is none, so that readers of the JSON always find the key.
  mutating func write(_ value: (some Encodable)?, _ key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  /// Writes a number, or `null` when it is unknown or JSON cannot write it: an infinite number, which a faulty peer may
  /// send, counts as unknown.
  mutating func write(number value: Double?, _ key: Key) throws {
    try write(value.flatMap { $0.isFinite ? $0 : nil }, key)
  }

  /// Writes a span in seconds.
  mutating func write(seconds span: BusDuration?, _ key: Key) throws { try write(span?.seconds, key) }

  /// Writes a moment of the hub's time line in nanoseconds. Seconds would not be exact after a few weeks.
  mutating func write(nanoseconds time: BusTime?, _ key: Key) throws { try write(time?.nanoseconds, key) }
}

extension KeyedDecodingContainer {
  /// Reads a value; `nil` when the key is missing or `null`.
  func read<Value: Decodable>(_ key: Key) throws -> Value? { try decodeIfPresent(Value.self, forKey: key) }

  /// Reads a value that every writer writes.
  func need<Value: Decodable>(_ key: Key) throws -> Value { try decode(Value.self, forKey: key) }

  /// Reads a span in seconds; `nil` when the key is missing or `null`.
  func readSeconds(_ key: Key) throws -> BusDuration? {
    try decodeIfPresent(Double.self, forKey: key).map { BusDuration(seconds: $0) }
  }

  /// Reads a span in seconds that every writer writes.
  func needSeconds(_ key: Key) throws -> BusDuration { BusDuration(seconds: try decode(Double.self, forKey: key)) }

  /// Reads a goal in seconds; `nil` when the key is missing or `null`.
  func readGoal(_ key: Key) throws -> RunGoal? {
    guard let time = try readSeconds(key) else { return nil }
    guard let goal = RunGoal(time: time) else {
      throw flaw(key, "not whole milliseconds, above zero and at most a day")
    }
    return goal
  }

  /// Reads a moment of the hub's time line; `nil` when the key is missing or `null`.
  func readNanoseconds(_ key: Key) throws -> BusTime? {
    try decodeIfPresent(Int64.self, forKey: key).map { BusTime(nanoseconds: $0) }
  }

  /// Reads one of a set of words that later versions extend.
  ///
  /// - Parameter unknown: The value for a word that this version does not know.
  func word<Word: RawRepresentable<String>>(_ key: Key, unknown: Word) throws -> Word {
    Word(rawValue: try decode(String.self, forKey: key)) ?? unknown
  }

  /// Reads one of a set of words that later versions extend; `nil` when the key is missing or `null`, and for a word that
  /// this version does not know.
  func readWord<Word: RawRepresentable<String>>(_ key: Key) throws -> Word? {
    try decodeIfPresent(String.self, forKey: key).flatMap { Word(rawValue: $0) }
  }

  /// An error that names a key.
  func flaw(_ key: Key, _ text: String) -> DecodingError {
    .dataCorruptedError(forKey: key, in: self, debugDescription: text)
  }
}
