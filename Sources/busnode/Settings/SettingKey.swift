import RunBus
import RunScripts

/// What can be set once instead of with each command.
enum SettingKey: String, CaseIterable {
  case bus, address, insecure, units, language, weight
  case logLevel = "log.level"
  case logFormat = "log.format"
  case colours

  /// Where it is in the file: the keys of the objects that lead to it.
  var path: [String] { rawValue.split(separator: ".").map(String.init) }

  /// The variable that overrides the file.
  var variable: String { "RUNBUS_" + rawValue.uppercased().replacing(".", with: "_") }

  /// What holds without any setting; `nil` for nothing.
  var fallback: SettingValue? {
    switch self {
    case .bus: .text("default")
    case .address, .weight: nil
    case .insecure: .flag(false)
    case .units: .text(Locales.ofOutput.units.rawValue)
    case .language: .text(Locales.ofOutput.native.rawValue)
    case .logLevel: .text(LogLevel.warning.rawValue)
    case .logFormat: .text(LogFormat.text.rawValue)
    case .colours: .text(Colours.auto.rawValue)
    }
  }

  /// What it takes, for a sentence.
  var rule: String {
    switch self {
    case .bus: Tongue.say(.ruleBus)
    case .address: Tongue.say(.ruleAddress)
    case .insecure: Tongue.say(.ruleFlag)
    case .units, .language, .logLevel, .logFormat, .colours: UsageSentence.list(words)
    case .weight: Tongue.say(.ruleWeight)
    }
  }

  /// All values, where they are words.
  var words: [String] {
    switch self {
    case .bus, .address, .insecure, .weight: []
    case .units: Units.allCases.map(\.rawValue)
    case .language: Tongue.allCases.map(\.rawValue)
    case .logLevel: LogLevel.allCases.map(\.rawValue)
    case .logFormat: LogFormat.allCases.map(\.rawValue)
    case .colours: Colours.allCases.map(\.rawValue)
    }
  }

  /// Reads a value as a variable or an argument has it; `nil` when it is not one of this key.
  func value(_ text: String) -> SettingValue? {
    switch self {
    case .bus, .address, .units, .language, .logLevel, .logFormat, .colours: checked(.text(text))
    case .insecure:
      switch text.lowercased() {
      case "true", "yes", "1": .flag(true)
      case "false", "no", "0": .flag(false)
      default: nil
      }
    case .weight: Double(text).flatMap { checked(.number($0)) }
    }
  }

  /// The value, if it is one of this key.
  func checked(_ value: SettingValue) -> SettingValue? {
    switch (self, value) {
    case (.bus, .text(let text)): BusName(text) == nil ? nil : value
    case (.address, .text(let text)): (try? BusLocation(address: text)) == nil ? nil : value
    case (.insecure, .flag): value
    case (.units, .text(let text)), (.language, .text(let text)), (.logLevel, .text(let text)),
      (.logFormat, .text(let text)),
      (.colours, .text(let text)):
      words.contains(text) ? value : nil
    case (.weight, .number(let number)): (20...300).contains(number) ? value : nil
    case (_, .text), (_, .number), (_, .flag): nil
    }
  }

  /// The key that was probably meant by a word that is none.
  static func nearest(to word: String) -> SettingKey? {
    let word = ["color": "colours", "colors": "colours", "colour": "colours"][word] ?? word
    return SettingKey(rawValue: word)
      ?? Spelling.nearest(to: word, of: allCases.map(\.rawValue)).flatMap { SettingKey(rawValue: $0) }
  }

  /// That there is no such key, and what was meant.
  ///
  /// - Parameter place: Where there is none, behind the word: ` in context home`.
  static func unknown(_ word: String, place: String = "") -> String {
    if let near = nearest(to: word) {
      return Tongue.say(.noSettingMeant, ["word": word, "place": place, "guess": near.rawValue])
    }
    let keys = allCases.map(\.rawValue).joined(separator: ", ")
    return Tongue.say(.noSetting, ["word": word, "place": place, "keys": keys])
  }
}

/// Whether a screen has colours.
enum Colours: String, CaseIterable {
  /// As the terminal says: not with `NO_COLOR`.
  case auto
  /// Also with `NO_COLOR`.
  case always
  case never
}

/// A value of a setting.
enum SettingValue: Hashable, Sendable, CustomStringConvertible, Codable {
  case text(String)
  case number(Double)
  case flag(Bool)

  var description: String {
    switch self {
    case .text(let text): text
    case .number(let number): Int(exactly: number).map { "\($0)" } ?? "\(number)"
    case .flag(let flag): "\(flag)"
    }
  }

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let flag = try? value.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else {
      self = .text(try value.decode(String.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let text): try container.encode(text)
    case .number(let number): try container.encode(number)
    case .flag(let flag): try container.encode(flag)
    }
  }
}

extension Spelling {
  /// The word that was probably meant by another: the first of those with the fewest slips.
  static func nearest(to word: String, of words: [String]) -> String? {
    let near = words.filter { isClose(word, $0) }
    return near.min { slips(from: word, to: $0) < slips(from: word, to: $1) }
  }
}
