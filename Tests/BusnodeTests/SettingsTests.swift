import ArgumentParser
import Foundation
import RunBus
import Testing

@testable import busnode

@Suite("Which setting counts")
struct SettingsTests {
  private static let file = SettingsFile(["XDG_CONFIG_HOME": "/c"])

  private func settings(
    _ json: String = "{}", context: String? = nil, _ environment: [String: String] = [:]
  ) throws -> Settings {
    let tree = try SettingsTree(Data(json.utf8))
    try tree.check()
    return try Settings(context: context, environment: environment, tree: tree, file: Self.file)
  }

  private func message(_ body: () throws -> Settings) -> String? {
    do {
      _ = try body()
      return nil
    } catch {
      return (error as? Failure).map { "\($0.exitStatus) \($0.message)" } ?? "\(error)"
    }
  }

  private static let whole = """
    {"units": "imperial", "weight": 70, "log": {"level": "info"}, "insecure": true, "colours": "never",
     "contexts": {"home": {"units": "metric", "log": {"format": "json"}}, "lab.2": {"weight": 61.5}}}
    """

  @Test("A variable wins over the context, that over the file, that over nothing")
  func order() throws {
    let plain = try settings(Self.whole)
    #expect(plain.units == .imperial && plain.weight == 70 && plain.logLevel == .info && plain.logFormat == nil)
    #expect(plain.isInsecure && plain.colours == .never && plain.context == nil)
    #expect(try plain.found(.units) == Settings.Found(value: .text("imperial"), origin: .file))
    #expect(try plain.found(.logFormat) == nil)
    let home = try settings(Self.whole, context: "home")
    #expect(try home.found(.units) == Settings.Found(value: .text("metric"), origin: .context))
    #expect(home.logFormat == .json && home.logLevel == .info)
    #expect(try settings(Self.whole, context: "lab.2").weight == 61.5)
    let variables = [
      "RUNBUS_UNITS": "imperial", "RUNBUS_WEIGHT": "80", "RUNBUS_LOG_LEVEL": "debug", "RUNBUS_LOG_FORMAT": "text",
      "RUNBUS_INSECURE": "0", "RUNBUS_COLOURS": "always",
    ]
    let given = try settings(Self.whole, context: "home", variables)
    #expect(given.units == .imperial && given.weight == 80 && given.logLevel == .debug && given.logFormat == .text)
    #expect(!given.isInsecure && given.colours == .always)
    #expect(try given.found(.logLevel)?.origin == .environment)
    #expect(try settings(Self.whole, ["RUNBUS_UNITS": "", "RUNBUS_CONTEXT": ""]).units == .imperial)
    let none = try settings()
    for key in SettingKey.allCases { #expect(try none.found(key) == nil) }
  }

  @Test("The option names the context, else the variable; one that there is not is named with what was meant")
  func contexts() throws {
    #expect(try settings(Self.whole, ["RUNBUS_CONTEXT": "home"]).context == .init(name: "home", origin: .environment))
    let both = try settings(Self.whole, context: "lab.2", ["RUNBUS_CONTEXT": "home"])
    #expect(both.context == .init(name: "lab.2", origin: .flag))
    #expect(
      message { try settings(Self.whole, context: "hom") } == "64 there is no context 'hom': did you mean home?")
    #expect(
      message { try settings(Self.whole, ["RUNBUS_CONTEXT": "office"]) }
        == "64 there is no context 'office' (RUNBUS_CONTEXT): /c/runbus/config.json has home and lab.2")
    #expect(message { try settings("{}", context: "home") }?.contains("config set --context home bus NAME") == true)
  }

  @Test("A variable with a wrong value is refused, whatever it is for")
  func wrongVariables() {
    for (variable, value, rule) in [
      ("RUNBUS_UNITS", "furlongs", "metric or imperial"), ("RUNBUS_WEIGHT", "7", "20 to 300 (kg)"),
      ("RUNBUS_LOG_LEVEL", "loud", "trace, debug"), ("RUNBUS_INSECURE", "maybe", "true or false"),
    ] {
      let said = message { try settings([variable: value]) }
      #expect(said?.hasPrefix("64 \(variable) is '\(value)', and it takes \(rule)") == true, "\(said ?? "")")
    }
  }

  private func settings(_ environment: [String: String]) throws -> Settings { try settings("{}", environment) }

  @Test("A bus has one name: what names it in a higher place hides both names below it")
  func buses() throws {
    let json = """
      {"bus": "a", "contexts": {"tcp": {"address": "tcp://127.0.0.1:5570"}, "b": {"bus": "b"}, "none": {"weight": 70}}}
      """
    func choice(
      _ context: String?, _ bus: String? = nil, _ environment: [String: String] = [:]
    ) throws -> (name: String, origin: String) {
      let saved = try settings(json, context: context, environment).savedBuses
      let choice = try BusChoice(bus: bus, address: nil, environment: environment, saved: saved)
      return (choice.location.displayName, choice.originText)
    }
    #expect(try choice(nil) == ("a", "/c/runbus/config.json"))
    #expect(try choice("b") == ("b", "context b in /c/runbus/config.json"))
    #expect(try choice("none") == ("a", "/c/runbus/config.json"))
    #expect(try choice("tcp") == ("tcp://127.0.0.1:5570", "context tcp in /c/runbus/config.json"))
    #expect(try choice("b", "flag") == ("flag", "--bus"))
    #expect(try choice("b", nil, ["RUNBUS_BUS": "variable"]) == ("variable", "RUNBUS_BUS"))
    let tcp = try settings(json, context: "tcp")
    #expect(try tcp.found(.bus) == nil && tcp.found(.address)?.origin == .context)
    let saved = try settings(json).savedBuses
    #expect(try BusChoice(bus: nil, address: nil, environment: [:], saved: saved).origin == .setting)
    #expect(try BusChoice(bus: nil, address: nil, environment: [:]).originText == "the default")
  }

  @Test("The option is found before the command and behind it, and not behind --")
  func option() {
    for (arguments, context) in [
      ("--context home state", "home"), ("state --context home", "home"), ("state --context=home --json", "home"),
      ("--context a state --context b", "b"), ("state -- --context home", nil), ("state --context", nil), ("", nil),
    ] {
      #expect(ContextOption.given(in: arguments.split(separator: " ").map(String.init)) == context, "\(arguments)")
    }
    let rest = ContextOption.dropped(from: ["--context", "home", "stat", "--context", "x"])
    #expect(rest == ["stat", "--context", "x"])
    #expect(ContextOption.dropped(from: ["--context=home", "state"]) == ["state"])
    #expect(ContextOption.dropped(from: ["--context"]).isEmpty)
  }

  @Test("The parser takes the option in both places")
  func parsed() throws {
    for words in [["--context", "home", "state"], ["state", "--context", "home"]] {
      let state = try #require(try Busnode.parseAsRoot(words) as? State)
      #expect(state.bus.context.context == "home", "\(words)")
    }
  }

  @Test("Colours are as the terminal says, or as the setting does")
  func colours() throws {
    let given = ["NO_COLOR": "1", "TERM": "xterm"]
    #expect(try settings().terminalEnvironment(given) == given)
    #expect(try settings("{\"colours\": \"always\"}").terminalEnvironment(given) == ["TERM": "xterm"])
    #expect(try settings("{\"colours\": \"never\"}").terminalEnvironment(["TERM": "xterm"]) == given)
  }

  @Test("The file is where the XDG base directory specification says")
  func place() {
    for (environment, path) in [
      (["XDG_CONFIG_HOME": "/a/"], "/a/runbus/config.json"), (["HOME": "/h"], "/h/.config/runbus/config.json"),
      (["XDG_CONFIG_HOME": "relative", "HOME": "/h"], "/h/.config/runbus/config.json"),
      (["XDG_CONFIG_HOME": "", "HOME": "/h"], "/h/.config/runbus/config.json"),
    ] {
      #expect(SettingsFile(environment).path == path)
    }
  }
}
