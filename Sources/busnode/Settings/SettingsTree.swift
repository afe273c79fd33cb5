import Foundation
import RunBus

/// What is in a file of settings: JSON, of which nothing is lost when one value is changed.
indirect enum SettingsTree: Hashable, Sendable {
  case object([String: SettingsTree])
  case value(SettingValue)
  case list([SettingsTree])
  case null

  static let empty = SettingsTree.object([:])
  /// The key of the named sets.
  static let contexts = "contexts"

  /// Reads JSON.
  ///
  /// - Throws: ``SettingsFlaw``, which says in which line it is no JSON.
  init(_ data: Data) throws(SettingsFlaw) {
    guard !data.isEmpty else { throw SettingsFlaw(Tongue.say(.flawEmpty), isOfJSON: true) }
    if let fault = JSONSyntax.fault(in: Array(data)) {
      throw SettingsFlaw(
        Tongue.say(.flawSyntax, ["line": fault.line, "column": fault.column, "expected": fault.expected]),
        isOfJSON: true)
    }
    do {
      self = try JSONDecoder().decode(SettingsTree.self, from: data)
    } catch {
      throw SettingsFlaw(Tongue.say(.flawText), isOfJSON: true)
    }
  }

  /// As it is written: with its keys in alphabetical order, so that it stays the same from build to build.
  var data: Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    // Strings and finite numbers, which JSON can always encode.
    return (try? encoder.encode(self)) ?? Data("{}".utf8)
  }

  subscript(key: String) -> SettingsTree? {
    guard case .object(let object) = self else { return nil }
    return object[key]
  }

  /// The path of a named set; of the file itself without a name.
  static func path(of context: String?) -> [String] { context.map { [contexts, $0] } ?? [] }

  /// The value at a path.
  func value(at path: [String]) -> SettingsTree? {
    path.reduce(self as SettingsTree?) { tree, key in tree?[key] }
  }

  /// Sets or removes what is at a path, and leaves no empty object behind. What is no object on the way is replaced.
  mutating func set(_ value: SettingsTree?, at path: [String]) {
    guard let key = path.first else { return }
    var object: [String: SettingsTree] = [:]
    if case .object(let present) = self { object = present }
    if path.count == 1 {
      object[key] = value
    } else {
      var inner = object[key] ?? .empty
      inner.set(value, at: Array(path.dropFirst()))
      object[key] = value == nil && inner == .empty ? nil : inner
    }
    self = .object(object)
  }

  /// The named sets, in their order.
  var contextNames: [String] {
    guard case .object(let sets) = self[Self.contexts] else { return [] }
    return sets.keys.sorted { NaturalName($0) < NaturalName($1) }
  }
}

extension SettingsTree: Codable {
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let object = try? container.decode([String: SettingsTree].self) {
      self = .object(object)
    } else if let list = try? container.decode([SettingsTree].self) {
      self = .list(list)
    } else {
      self = .value(try container.decode(SettingValue.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .object(let object): try container.encode(object)
    case .value(let value): try container.encode(value)
    case .list(let list): try container.encode(list)
    case .null: try container.encodeNil()
    }
  }
}

/// Why a file of settings cannot be used.
struct SettingsFlaw: Error, Hashable {
  let reason: String
  /// Whether it cannot even be read as JSON: then no value of it can be changed.
  let isOfJSON: Bool
  /// The command that mends it; `nil` when a person has to.
  let remedy: String?

  init(_ reason: String, isOfJSON: Bool = false, remedy: String? = nil) {
    (self.reason, self.isOfJSON, self.remedy) = (reason, isOfJSON, remedy)
  }
}

extension SettingsTree {
  /// Checks that every key is one, and every value what its key takes.
  func check() throws(SettingsFlaw) {
    guard case .object(let all) = self else { throw SettingsFlaw(Tongue.say(.flawNoObject)) }
    let sets = all[Self.contexts] ?? .empty
    var rest = all
    rest[Self.contexts] = nil
    try SettingsTree.object(rest).checkSet([], of: nil)
    guard case .object(let contexts) = sets else {
      throw SettingsFlaw(Tongue.say(.flawContexts, ["name": Self.contexts]), remedy: "config rm \(Self.contexts)")
    }
    for name in contexts.keys.sorted() {
      guard BusName(name) != nil else {
        throw SettingsFlaw(
          Tongue.say(.flawContextName, ["name": name]),
          remedy: "config rm --context '\(name)'")
      }
      guard let set = contexts[name], case .object = set else {
        throw SettingsFlaw(Tongue.say(.flawContext, ["name": name]), remedy: "config rm --context \(name)")
      }
      try set.checkSet([], of: name)
    }
  }

  /// Checks a set of keys, or an object within it.
  private func checkSet(_ path: [String], of context: String?) throws(SettingsFlaw) {
    guard case .object(let object) = self else { return }
    let place = context.map { Tongue.say(.placeInContext, ["name": $0]) } ?? ""
    let flag = context.map { " --context \($0)" } ?? ""
    for name in object.keys.sorted() {
      guard let tree = object[name] else { continue }
      let path = path + [name]
      let word = path.joined(separator: ".")
      let key = SettingKey.allCases.first { $0.path == path }
      if let key {
        guard case .value(let value) = tree, key.checked(value) != nil else {
          throw SettingsFlaw(
            Tongue.say(.flawValue, ["word": word, "place": place, "value": tree.shown, "rule": key.rule]),
            remedy: "config set\(flag) \(word) VALUE")
        }
      } else if case .object = tree, SettingKey.allCases.contains(where: { $0.path.starts(with: path) }) {
        try tree.checkSet(path, of: context)
      } else if SettingKey(rawValue: word) != nil {
        throw SettingsFlaw(Tongue.say(.flawNested, ["word": word, "place": place]))
      } else {
        throw SettingsFlaw(
          SettingKey.unknown(word, place: place), remedy: "config rm\(flag) \(word)")
      }
    }
    if path.isEmpty, object["bus"] != nil, object["address"] != nil {
      throw SettingsFlaw(
        Tongue.say(.flawBoth, ["place": place]),
        remedy: "config rm\(flag) address")
    }
  }

  /// The value as a sentence shows it.
  private var shown: String {
    switch self {
    case .object: Tongue.say(.shownObject)
    case .value(.text(let text)): "\"\(text)\""
    case .value(let value): "\(value)"
    case .list: Tongue.say(.shownList)
    case .null: "null"
    }
  }
}
