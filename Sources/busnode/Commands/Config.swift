import ArgumentParser
import Foundation
import RunBus

struct Config: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Settings for all commands: the bus, units, language, weight, log and colours, in one file.",
    discussion: """
        busnode config set units imperial
        busnode config set --context home bus home
        busnode --context home state   a context is a named set of the same keys
        busnode config ls              every setting, and where it is from
        busnode config rm --context home

      KEYS:
        bus         the bus of every command, by its name on this machine
        address     the same by its address; one of both
        insecure    true: an address may be used, which has no keys
        units       metric or imperial, of texts; JSON is always in SI units
        language    en or ko, of texts; without it a terminal has that of its locale
        weight      the runner's weight in kg, where --weight is taken
        log.level   trace, debug, info, notice, warning, error or critical
        log.format  text or json
        colours     of screens: auto (not with NO_COLOR), always or never

      An option wins over a variable, that over the chosen context, that over the rest of the file. The variables are \
      RUNBUS_ and the key in capitals: RUNBUS_BUS, RUNBUS_LOG_LEVEL. --context or RUNBUS_CONTEXT chooses a context; ls and \
      get take both, set and rm change the context of the option only.

      The file is $XDG_CONFIG_HOME/runbus/config.json, without that variable ~/.config/runbus/config.json. One that cannot \
      be used stops every command that needs a setting, and the sentence says how to mend it; path works, and so do set and rm \
      unless the file is no JSON.

      EXIT STATUS:
        0    done
        1    get, rm: nothing is set
        64   a key, value or context that there is not
        74   the file cannot be written
        78   the file cannot be used
      """,
    subcommands: [ConfigList.self, ConfigGet.self, ConfigSet.self, ConfigRemove.self, ConfigPath.self],
    defaultSubcommand: ConfigList.self)
}

/// A key of a setting as an argument.
struct SettingKeyArgument: ExpressibleByArgument {
  let word: String

  init?(argument: String) { word = argument }

  static var allValueStrings: [String] { SettingKey.allCases.map(\.rawValue) }

  /// The key.
  ///
  /// - Throws: ``ValidationError``, which says what was meant, when there is none.
  func key() throws(ValidationError) -> SettingKey {
    guard let key = SettingKey(rawValue: word) else { throw ValidationError(SettingKey.unknown(word)) }
    return key
  }
}

struct ConfigList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ls", abstract: "List every setting, its value, and where it is from.")

  @OptionGroup var context: ContextOption

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  func run() throws {
    let settings = try Settings.ofThisProcess()
    for line in try SettingLineJSON.all(of: settings) {
      if json { try Output.jsonLine(line) } else { try Output.line(line.text) }
    }
    guard !json, !settings.contextNames.isEmpty else { return }
    try Output.line(Tongue.say(.contextsAre, ["names": settings.contextNames.joined(separator: ", ")]))
  }
}

struct ConfigGet: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "get", abstract: "Print the value of a setting.")

  @Argument(help: "The setting.", completion: .list(SettingKey.allCases.map(\.rawValue)))
  var key: SettingKeyArgument

  @OptionGroup var context: ContextOption

  @Flag(help: "Write one JSON object.")
  var json = false

  func validate() throws { _ = try key.key() }

  func run() throws {
    let line = try SettingLineJSON(try key.key(), try Settings.ofThisProcess())
    if json { return try Output.jsonLine(line) }
    guard let value = line.value else {
      throw Failure(
        code: "notFound", message: Tongue.say(.settingUnset, ["key": line.key]),
        exitStatus: ExitStatus.failure)
    }
    try Output.line("\(value)")
  }
}

struct ConfigSet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Set a value in the file, or in a context of it, which is made if necessary.")

  @Argument(help: "The setting.", completion: .list(SettingKey.allCases.map(\.rawValue)))
  var key: SettingKeyArgument

  @Argument(help: "Its value.", completion: Completions.settingWords)
  var value: String

  @OptionGroup var context: ContextOption

  @Flag(help: "Write one JSON object.")
  var json = false

  func validate() throws {
    let key = try key.key()
    guard key.value(value) != nil else {
      throw ValidationError(Tongue.say(.settingTakes, ["value": value, "key": key.rawValue, "rule": key.rule]))
    }
    if let name = context.context, BusName(name) == nil {
      throw ValidationError(Tongue.say(.contextName, ["name": name]))
    }
  }

  func run() throws {
    let (key, name) = (try key.key(), context.context)
    guard let value = key.value(value) else { return try validate() }
    let file = SettingsFile(ProcessInfo.processInfo.environment)
    let set = SettingsTree.path(of: name)
    try file.change { (tree) throws(Failure) in
      let other: SettingKey? = key == .bus ? .address : key == .address ? .bus : nil
      if let other, tree.value(at: set + other.path) != nil {
        let flag = name.map { " --context \($0)" } ?? ""
        throw Failure(
          code: "usage",
          message: Tongue.say(.busOrAddress, ["key": other.rawValue, "flag": flag]), exitStatus: ExitStatus.usage)
      }
      tree.set(.value(value), at: set + key.path)
    }
    SettingActJSON(
      act: "set", key: key.rawValue, context: name, file: file.path,
      message: name.map { Tongue.say(.settingIsIn, ["key": key.rawValue, "value": value, "context": $0]) }
        ?? Tongue.say(.settingIs, ["key": key.rawValue, "value": value])
    ).tell(asJSON: json)
  }
}

struct ConfigRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm", abstract: "Remove a value from the file, or from a context of it; without a key the context.")

  // Any word: this command also removes keys of a file that are no settings.
  @Argument(help: "The setting (default: all of the context).", completion: .list(SettingKey.allCases.map(\.rawValue)))
  var key: String?

  @OptionGroup var context: ContextOption

  @Flag(help: "Write one JSON object.")
  var json = false

  func validate() throws {
    guard key != nil || context.context != nil else { throw ValidationError(Tongue.say(.giveKeyOrContext)) }
  }

  func run() throws {
    let name = context.context
    let set = SettingsTree.path(of: name)
    let path = set + (key ?? "").split(separator: ".").map(String.init)
    let file = SettingsFile(ProcessInfo.processInfo.environment)
    let what = [
      key, name.map { key == nil ? Tongue.say(.contextNamed, ["name": $0]) : Tongue.say(.inContext, ["name": $0]) },
    ].compactMap { $0 }
      .joined(separator: " ")
    try file.change { (tree) throws(Failure) in
      guard !path.isEmpty, tree.value(at: path) != nil else { throw missing(what) }
      tree.set(nil, at: path)
      // A context stays until it is removed itself.
      if let name, key != nil, tree.value(at: SettingsTree.path(of: name)) == nil {
        tree.set(.empty, at: SettingsTree.path(of: name))
      }
    }
    SettingActJSON(
      act: "removed", key: key, context: name, file: file.path, message: Tongue.say(.settingRemoved, ["what": what])
    )
    .tell(asJSON: json)
  }

  private func missing(_ what: String) -> Failure {
    guard let key, SettingKey(rawValue: key) == nil else {
      return Failure(
        code: "notFound", message: Tongue.say(.settingMissing, ["what": what]), exitStatus: ExitStatus.failure)
    }
    return Failure(code: "usage", message: SettingKey.unknown(key), exitStatus: ExitStatus.usage)
  }
}

struct ConfigPath: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "path", abstract: "Print where the file is, also when there is none yet.")

  @Flag(help: "Write one JSON object.")
  var json = false

  func run() throws {
    let path = SettingsFile(ProcessInfo.processInfo.environment).path
    if json { try Output.jsonLine(["file": path]) } else { try Output.line(path) }
  }
}

extension SettingLineJSON {
  /// Every setting in its order, the context first.
  static func all(of settings: Settings) throws(Failure) -> [SettingLineJSON] {
    var lines = [
      SettingLineJSON(
        key: "context", value: settings.context.map { .text($0.name) }, origin: settings.context?.origin.rawValue,
        source: settings.context.map { $0.origin == .flag ? "--context" : Settings.contextVariable })
    ]
    for key in SettingKey.allCases { lines.append(try SettingLineJSON(key, settings)) }
    return lines
  }

  init(_ key: SettingKey, _ settings: Settings) throws(Failure) {
    let found = try settings.found(key)
    // With an address the bus has no name.
    let hasAddress = try key == .bus ? settings.found(.address) != nil : false
    let value = found?.value ?? (hasAddress ? nil : key.fallback)
    let source: String? =
      switch found?.origin {
      case .flag, .fallback, nil: nil
      case .environment: key.variable
      case .context: "context \(settings.context?.name ?? "") in \(settings.file.path)"
      case .file: settings.file.path
      }
    self.init(
      key: key.rawValue, value: value,
      origin: (found?.origin ?? (value == nil ? nil : Settings.Origin.fallback))?.rawValue, source: source)
  }

  /// `units       imperial  context home in /home/kim/.config/runbus/config.json`.
  fileprivate var text: String {
    let value = value.map { "\($0)" } ?? "-"
    let columns = [key.padded(to: 12), value.padded(to: 10), source ?? origin ?? ""].joined()
    return String(columns.reversed().drop { $0 == " " }.reversed())
  }
}

extension String {
  /// The text with blanks behind it, up to a width.
  fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}

extension SettingActJSON {
  fileprivate func tell(asJSON: Bool) {
    if asJSON { Output.tell(json: self) } else { Output.tell(message) }
  }
}
