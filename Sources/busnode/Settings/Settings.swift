import Configuration
import Foundation
import RunBus
import RunScripts

/// The settings of a command: variables over the chosen context over the file. An option of the command is above all of
/// them, the fallback of a key below.
struct Settings: Sendable {
  /// Where a value is from.
  enum Origin: String, Codable, Hashable, Sendable {
    case flag, environment, context, file
    case fallback = "default"
  }

  /// A value and where it is from.
  struct Found: Hashable, Sendable {
    var value: SettingValue
    var origin: Origin
  }

  /// The context that was chosen.
  struct Choice: Hashable, Sendable {
    var name: String
    /// ``Origin/flag`` or ``Origin/environment``.
    var origin: Origin
  }

  /// Values of one origin.
  private struct Layer {
    let origin: Origin
    let snapshot: any ConfigSnapshot
    /// What stands before each key.
    let prefix: [String]
  }

  /// The variable that names a context.
  static let contextVariable = "RUNBUS_CONTEXT"

  let file: SettingsFile
  let context: Choice?
  /// The contexts in the file.
  let contextNames: [String]
  private let layers: [Layer]

  /// - Parameters:
  ///   - context: The context that an option names.
  ///   - environment: The variables of the process. Empty ones count as unset.
  ///   - tree: What is in the file, checked.
  /// - Throws: ``Failure`` with 64 for a context that there is not, and for a variable with a wrong value.
  init(
    context: String?, environment: [String: String], tree: SettingsTree, file: SettingsFile
  ) throws(Failure) {
    let variables = environment.filter { !$1.isEmpty }
    self.file = file
    contextNames = tree.contextNames
    let choice =
      context.map { Choice(name: $0, origin: .flag) }
      ?? variables[Self.contextVariable].map { Choice(name: $0, origin: .environment) }
    self.context = choice
    if let choice, !contextNames.contains(choice.name) {
      throw Failure(
        code: "usage", message: Self.unknown(choice, of: contextNames, in: file), exitStatus: ExitStatus.usage)
    }
    let saved: JSONSnapshot
    do {
      saved = try tree.snapshot()
    } catch {
      throw Failure(
        code: "configuration", message: "\(file.path): \(error)", exitStatus: ExitStatus.configuration)
    }
    let environment = EnvironmentVariablesProvider(environmentVariables: variables).snapshot()
    layers =
      [Layer(origin: .environment, snapshot: environment, prefix: ["runbus"])]
      + (choice.map { [Layer(origin: .context, snapshot: saved, prefix: [SettingsTree.contexts, $0.name])] } ?? [])
      + [Layer(origin: .file, snapshot: saved, prefix: [])]
    // A wrong variable is told by every command, not only by the one that it is for.
    for key in SettingKey.allCases { _ = try found(key) }
  }

  private static func unknown(_ choice: Choice, of names: [String], in file: SettingsFile) -> String {
    let origin = choice.origin == .flag ? "" : " (\(contextVariable))"
    if let near = Spelling.nearest(to: choice.name, of: names) {
      return Tongue.say(.contextMeant, ["name": choice.name, "origin": origin, "guess": near])
    }
    guard !names.isEmpty else {
      return Tongue.say(.contextNone, ["name": choice.name, "origin": origin, "path": file.path])
    }
    let others = UsageSentence.list(names, by: .listAnd)
    return Tongue.say(.contextOthers, ["name": choice.name, "origin": origin, "path": file.path, "names": others])
  }

  /// The value of a key; `nil` when nothing sets it. A name of a bus hides an address below it, and the other way round.
  func found(_ key: SettingKey) throws(Failure) -> Found? {
    for layer in layers {
      if let value = try value(of: key, in: layer) { return Found(value: value, origin: layer.origin) }
      let other: SettingKey? = key == .bus ? .address : key == .address ? .bus : nil
      if let other, try value(of: other, in: layer) != nil { return nil }
    }
    return nil
  }

  private func value(of key: SettingKey, in layer: Layer) throws(Failure) -> SettingValue? {
    let place = AbsoluteConfigKey(layer.prefix + key.path)
    // A variable is text, which its key reads, so that the sentence about a wrong one says what is allowed.
    let type = layer.origin == .environment ? ConfigType.string : key.type
    guard let content = (try? layer.snapshot.value(forKey: place, type: type))?.value?.content else { return nil }
    guard layer.origin == .environment else { return SettingValue(content) }
    guard case .string(let text) = content else { return nil }
    // The name and the address of a bus are refused where the bus is looked for.
    if key == .bus || key == .address { return .text(text) }
    guard let value = key.value(text) else {
      throw Failure(
        code: "usage",
        message: Tongue.say(.variableWrong, ["variable": key.variable, "value": text, "rule": key.rule]),
        exitStatus: ExitStatus.usage)
    }
    return value
  }

  /// What the chosen context and the file say about the bus, in this order.
  var savedBuses: [BusChoice.Saved] {
    layers.filter { $0.origin != .environment }.map { layer in
      func text(_ key: SettingKey) -> String? { (try? value(of: key, in: layer))?.description }
      let place = layer.origin == .context ? "context \(context?.name ?? "") in \(file.path)" : file.path
      return BusChoice.Saved(bus: text(.bus), address: text(.address), place: place)
    }
  }

  private func text(_ key: SettingKey) -> String? { (try? found(key))?.value.description }

  var isInsecure: Bool { (try? found(.insecure))?.value == .flag(true) }
  var units: Units? { text(.units).flatMap { Units(rawValue: $0) } }
  var language: Tongue? { text(.language).flatMap { Tongue(rawValue: $0) } }
  var logLevel: LogLevel? { text(.logLevel).flatMap { LogLevel(rawValue: $0) } }
  var logFormat: LogFormat? { text(.logFormat).flatMap { LogFormat(rawValue: $0) } }
  var colours: Colours { text(.colours).flatMap { Colours(rawValue: $0) } ?? .auto }
  /// The runner's weight in kilograms.
  var weight: Double? {
    guard case .number(let weight) = (try? found(.weight))?.value else { return nil }
    return weight
  }

  /// The variables of the process as a screen reads them: with `NO_COLOR` as the setting wants it.
  func terminalEnvironment(_ environment: [String: String]) -> [String: String] {
    switch colours {
    case .auto: environment
    case .always: environment.filter { $0.key != "NO_COLOR" }
    case .never: environment.merging(["NO_COLOR": "1"]) { $1 }
    }
  }
}

extension Settings {
  /// The settings of this process, read once.
  ///
  /// - Throws: ``Failure`` with 78 for a file that cannot be used, with 64 for a wrong variable or an unknown context.
  static func ofThisProcess() throws(Failure) -> Settings { try loaded.get() }

  /// The same, where a failure is told by what is done next.
  static var present: Settings? { try? ofThisProcess() }

  private static let loaded: Result<Settings, Failure> = {
    let environment = ProcessInfo.processInfo.environment
    do throws(Failure) {
      let file = SettingsFile(environment)
      let context = ContextOption.given(in: Array(CommandLine.arguments.dropFirst()))
      return .success(
        try Settings(context: context, environment: environment, tree: file.checked(), file: file))
    } catch {
      return .failure(error)
    }
  }()

  /// The names of all contexts of this user, for the completions of a shell; none when the file cannot be used.
  static func contextNames() -> [String] {
    (try? SettingsFile(ProcessInfo.processInfo.environment).tree())?.contextNames ?? []
  }
}

extension SettingKey {
  /// The type of its value in the file.
  fileprivate var type: ConfigType {
    switch self {
    case .bus, .address, .units, .language, .logLevel, .logFormat, .colours: .string
    case .insecure: .bool
    case .weight: .double
    }
  }
}

extension SettingValue {
  fileprivate init?(_ content: ConfigContent) {
    switch content {
    case .string(let text): self = .text(text)
    case .double(let number): self = .number(number)
    case .bool(let flag): self = .flag(flag)
    case .int, .bytes, .stringArray, .intArray, .doubleArray, .boolArray, .byteChunkArray: return nil
    }
  }
}

extension SettingsTree {
  /// The values for a lookup.
  fileprivate func snapshot() throws -> JSONSnapshot {
    let bytes = Array(data)
    return try JSONSnapshot(data: bytes.span.bytes, providerName: "file", parsingOptions: .default)
  }
}

extension Locales {
  /// Those that count for standard output: none for a pipe, a file and JSON, which programs read.
  static var ofOutput: Locales { Output.isTerminal && !Output.isJSON ? ofThisProcess : Locales([:]) }
}
