import Foundation
import Testing

@testable import busnode

@Suite("What is in a file of settings")
struct SettingsTreeTests {
  private func flaw(_ json: String) -> SettingsFlaw? {
    do {
      try SettingsTree(Data(json.utf8)).check()
      return nil
    } catch {
      return error
    }
  }

  @Test("A file that is no JSON is named by the line where it is none")
  func noJSON() {
    for (json, reason) in [
      ("{\n  \"units\": metric\n}", "line 2"), ("{\n\"bus\": \"a\",\n}\n", "line 3"), ("{\"bus\": \"a\"", "line 1"),
      ("", "it is empty"), ("{\n\"bus\":\n", "line 2"), ("units: metric", "line 1"),
    ] {
      let flaw = flaw(json)
      #expect(flaw?.reason.hasPrefix(reason) == true, "\(json): \(flaw?.reason ?? "nothing")")
      #expect(flaw?.isOfJSON == true && flaw?.remedy == nil)
      #expect(flaw?.reason.contains("\n") == false)
    }
  }

  @Test("JSON is JSON, and what is nearly so is not")
  func syntax() {
    for json in [
      "{}", " [1, -2.5e3, true, false, null, \"\", \"a\\\"b\", {\"a\": [[]]}] ", "\"달리기\"", "0",
    ] {
      #expect(JSONSyntax.fault(in: Array(json.utf8)) == nil, "\(json)")
    }
    for (json, line, column) in [
      ("{'a': 1}", 1, 2), ("{\"a\" 1}", 1, 6), ("[1 2]", 1, 4), ("[1,]", 1, 4), ("{} {}", 1, 4), ("[-]", 1, 2),
      ("{\"달\": tru}", 1, 7), ("\"a\nb\"", 1, 3), ("{\"a\": \"b", 1, 9), ("\n\n]", 3, 1), ("\"\\", 1, 3),
      (String(repeating: "[", count: 100), 1, 33),
    ] {
      let fault = JSONSyntax.fault(in: Array(json.utf8))
      #expect(fault?.line == line && fault?.column == column, "\(json): \(String(describing: fault))")
    }
  }

  @Test("A wrong key says which one was meant, and a wrong value what its key takes")
  func wrong() {
    for (json, reason, remedy) in [
      ("{\"colour\": \"never\"}", "there is no key 'colour': did you mean colours?", "config rm colour"),
      ("{\"color\": \"never\"}", "there is no key 'color': did you mean colours?", "config rm color"),
      ("{\"unit\": \"metric\"}", "there is no key 'unit': did you mean units?", "config rm unit"),
      (
        "{\"log\": {\"levle\": \"info\"}}", "there is no key 'log.levle': did you mean log.level?",
        "config rm log.levle"
      ),
      ("{\"voice\": \"low\"}", "there is no key 'voice': the keys are bus, address,", "config rm voice"),
      ("{\"units\": 5}", "'units' is 5, and it takes metric or imperial", "config set units VALUE"),
      ("{\"units\": \"yards\"}", "'units' is \"yards\", and it takes", "config set units VALUE"),
      ("{\"weight\": \"70\"}", "'weight' is \"70\", and it takes 20 to 300", "config set weight VALUE"),
      ("{\"weight\": true}", "'weight' is true, and it takes 20 to 300", "config set weight VALUE"),
      ("{\"insecure\": 1}", "'insecure' is 1, and it takes true or false", "config set insecure VALUE"),
      ("{\"bus\": null}", "'bus' is null, and it takes a bus name", "config set bus VALUE"),
      ("{\"bus\": \"No Such\"}", "'bus' is \"No Such\", and it takes a bus name", "config set bus VALUE"),
      ("{\"address\": \"tcp://10.0.0.1:1\"}", "'address' is \"tcp://10.0.0.1:1\"", "config set address VALUE"),
      ("{\"log\": \"info\"}", "there is no key 'log': did you mean", "config rm log"),
      ("{\"units\": {}}", "'units' is an object", "config set units VALUE"),
      ("{\"contexts\": []}", "'contexts' is not an object", "config rm contexts"),
      ("{\"contexts\": {\"a\": 1}}", "context a is not an object", "config rm --context a"),
      ("{\"contexts\": {\"A b\": {}}}", "'A b' is no name of a context", "config rm --context 'A b'"),
      (
        "{\"contexts\": {\"a\": {\"buss\": \"x\"}}}", "there is no key 'buss' in context a: did you mean bus?",
        "config rm --context a buss"
      ),
      (
        "{\"contexts\": {\"a\": {\"units\": []}}}", "'units' in context a is a list",
        "config set --context a units VALUE"
      ),
      (
        "{\"contexts\": {\"a\": {\"contexts\": {}}}}", "there is no key 'contexts' in context a",
        "config rm --context a"
      ),
      (
        "{\"bus\": \"a\", \"address\": \"tcp://127.0.0.1:5570\"}", "a bus has a name or an address",
        "config rm address"
      ),
    ] {
      let flaw = flaw(json)
      #expect(flaw?.reason.hasPrefix(reason) == true, "\(json): \(flaw?.reason ?? "nothing")")
      #expect(flaw?.remedy?.hasPrefix(remedy) == true, "\(json): \(flaw?.remedy ?? "nothing")")
    }
    #expect(flaw("[]")?.reason == "it is not one object, {...}")
    #expect(flaw("{\"log.level\": \"info\"}")?.reason.contains("an object in an object") == true)
    for json in ["{}", "{\"contexts\": {\"home\": {}}}", "{\"log\": {}}", "{\"insecure\": true, \"weight\": 61.5}"] {
      #expect(flaw(json) == nil, "\(json)")
    }
  }

  @Test("One value is changed, and nothing else: keys that there are not, lists and null stay")
  func change() throws {
    let json = "{\"later\": [1, null, {\"a\": \"b\"}], \"log\": {\"level\": \"info\"}, \"units\": \"metric\"}"
    var tree = try SettingsTree(Data(json.utf8))
    tree.set(.value(.text("json")), at: ["log", "format"])
    tree.set(nil, at: ["units"])
    tree.set(.value(.number(70)), at: ["contexts", "home", "weight"])
    let expected = """
      {"contexts": {"home": {"weight": 70}}, "later": [1, null, {"a": "b"}], "log": {"format": "json", "level": "info"}}
      """
    #expect(try SettingsTree(tree.data) == SettingsTree(Data(expected.utf8)))
    tree.set(nil, at: ["log", "format"])
    tree.set(nil, at: ["log", "level"])
    #expect(tree["log"] == nil && tree.contextNames == ["home"])
    #expect(String(decoding: tree.data, as: UTF8.self).contains("\"weight\" : 70"))
  }

  @Test("Every key reads what it takes, and its variable has its name")
  func keys() {
    #expect(SettingKey.logLevel.variable == "RUNBUS_LOG_LEVEL" && SettingKey.bus.variable == "RUNBUS_BUS")
    for (key, text, value) in [
      (SettingKey.bus, "home", SettingValue.text("home")), (.weight, "70", .number(70)),
      (.insecure, "yes", .flag(true)),
      (.insecure, "0", .flag(false)), (.units, "imperial", .text("imperial")), (.logFormat, "json", .text("json")),
      (.colours, "auto", .text("auto")), (.address, "tcp://127.0.0.1:5570", .text("tcp://127.0.0.1:5570")),
    ] {
      #expect(key.value(text) == value)
    }
    for (key, text) in [
      (SettingKey.bus, ""), (.weight, "nan"), (.weight, "19"), (.weight, "1e9"), (.insecure, ""), (.units, "Metric"),
      (.address, "tcp://*:1"), (.colours, "red"),
    ] {
      #expect(key.value(text) == nil, "\(key) \(text)")
    }
    for key in SettingKey.allCases {
      if let fallback = key.fallback { #expect(key.checked(fallback) == fallback) }
    }
  }
}
