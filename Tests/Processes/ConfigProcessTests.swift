import Foundation
import SystemC
import Testing
import TestSupport

@Suite("Settings from a shell")
struct ConfigProcessTests {
  private func path(_ bus: TestBus) -> String { bus.configDirectory + "/runbus/config.json" }

  private func write(_ text: String, on bus: TestBus) throws {
    try FileManager.default.createDirectory(
      atPath: bus.configDirectory + "/runbus", withIntermediateDirectories: true)
    try text.write(toFile: path(bus), atomically: true, encoding: .utf8)
  }

  @Test("set, get, ls, rm and path do what they say; a new file is its user's alone")
  func commands() async throws {
    try await withTestBus { bus in
      let path = path(bus)
      #expect(try await bus.run("config", "path").lines == [path])
      let none = try await bus.run("config", "get", "weight")
      #expect(
        none.ending == .exited(1) && none.errors == ["busnode: weight is not set: busnode config set weight VALUE"])
      #expect(try await bus.run("config", "set", "weight", "70").lines == ["weight is 70"])
      #expect(try await bus.run("config", "set", "--context", "home", "bus", "home").ending == .exited(0))
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      #expect(try await bus.run("config", "get", "weight").lines == ["70"])
      #expect(try await bus.run("--context", "home", "config", "get", "bus").lines == ["home"])
      let lines = try await bus.run("config", "--context", "home", "--json").json
      let origins = lines.map { "\($0["key"]?.string ?? "") \($0["origin"]?.string ?? "null")" }
      #expect(
        origins == [
          "context flag", "bus context", "address null", "insecure default", "units default",
          "language default", "weight file",
          "log.level default", "log.format default", "colours default",
        ])
      #expect(
        try await bus.run("config", "set", "address", "tcp://127.0.0.1:1", "--context", "home").ending == .exited(64))
      #expect(try await bus.run("config", "rm", "--context", "home").lines == ["context home is removed"])
      #expect(try await bus.run("config", "rm", "weight", "--json").json.first?["act"]?.string == "removed")
      #expect(try await bus.run("config", "rm", "weight").ending == .exited(1))
      for words in [["set", "units", "yards"], ["set", "colour", "red"], ["get", "unit"], ["rm", "unit"], ["rm"]] {
        let wrong = bus.spawn(executable: TestBus.busnode, ["config"] + words)
        #expect(try await wrong.ending() == .exited(64), "\(words): \(wrong.view.errors)")
      }
    }
  }

  @Test("A context names the bus, before the command and behind it; a variable and an option win over it")
  func contexts() async throws {
    try await withTestBus { bus in
      try write(
        "{\"bus\": \"file\", \"contexts\": {\"home\": {\"bus\": \"home\", \"log\": {\"format\": \"json\"}}}}", on: bus)
      for (words, environment, name) in [
        (["state"], [:], "file"), (["--context", "home", "state", "--log-format", "text"], [:], "home"),
        (["state", "--context", "home", "--log-format", "text"], [:], "home"),
        (["state", "--log-format", "text"], ["RUNBUS_CONTEXT": "home"], "home"),
        (["state", "--context", "home", "--bus", "option", "--log-format", "text"], [:], "option"),
        (["state"], ["RUNBUS_BUS": "variable"], "variable"),
      ] as [([String], [String: String?], String)] {
        let state = bus.spawn(executable: TestBus.busnode, words, environment: environment)
        #expect(try await state.ending() == .exited(69))
        #expect(state.view.errors.first?.hasPrefix("busnode: no bus \"\(name)\"") == true, "\(state.view.errors)")
      }
      let both = try await bus.run(
        "state", "--context", "home", "--log-format", "text", environment: ["RUNBUS_BUS": "v"])
      #expect(both.errors.first == "busnode: RUNBUS_BUS wins over context home: this is bus \"v\" (from RUNBUS_BUS)")
      let json = try await bus.run("state", "--context", "home")
      #expect(json.errors.first.flatMap { JSONValue(text: $0) }?["message"]?.string?.contains("no bus") == true)
      let unknown = try await bus.run("state", "--context", "hme")
      #expect(unknown.ending == .exited(64))
      #expect(unknown.errors.first == "busnode: there is no context 'hme': did you mean home?")
    }
  }

  @Test("Units and weight are those of the settings, unless an option says others; JSON stays")
  func numbers() async throws {
    try await withTestBus { bus in
      try write("{\"units\": \"imperial\", \"weight\": 70}", on: bus)
      let run = Checkout.path("examples/runs/synthetic.gpx")
      let text = try await bus.run("measure", run)
      #expect(text.lines.contains { ($0 + " ").contains("/mi ") } && text.lines.contains { $0.contains("kcal") })
      let metric = try await bus.run("measure", run, "--units", "metric")
      #expect(metric.lines.contains { $0.contains("/km") } && !metric.lines.contains { $0.contains("/mi ") })
      let json = try await bus.run("measure", run, "--json").json.first?["metrics"]
      #expect(json?["energyJoules"]?.number ?? 0 > 0)
      #expect(try await bus.run("measure", run, environment: ["RUNBUS_UNITS": "metric"]).lines == metric.lines)
    }
  }

  @Test("A file that cannot be used ends what needs it with one line and 78, and nothing else")
  func broken() async throws {
    try await withTestBus { bus in
      let path = path(bus)
      for (text, reason) in [
        ("{\n  \"units\": metric\n}\n", "line 2"), ("{\"colour\": \"never\"}", "did you mean colours?"),
        ("{\"weight\": \"heavy\"}", "takes 20 to 300"),
      ] {
        try write(text, on: bus)
        for words in [["state"], ["config"], ["phone"], ["up", "--synthetic"], ["measure", "none.gpx"]] {
          let process = bus.spawn(executable: TestBus.busnode, words)
          #expect(try await process.ending() == .exited(78), "\(words): \(process.view)")
          #expect(process.view.errors.count == 1, "\(process.view.errors)")
          #expect(process.view.errors.first?.hasPrefix("busnode: \(path): ") == true, "\(process.view.errors)")
          #expect(process.view.errors.first?.contains(reason) == true, "\(process.view.errors)")
        }
        for words in [["config", "path"], ["--help"], ["--version"], ["config", "set", "--help"]] {
          let process = bus.spawn(executable: TestBus.busnode, words)
          #expect(try await process.ending() == .exited(0), "\(words): \(process.view.errors)")
        }
        let error = try await bus.run("state", "--json").errors.first.flatMap { JSONValue(text: $0) }?["error"]
        #expect(error?["code"]?.string == "configuration" && error?["exitCode"]?.int == 78)
      }
      #expect(try await bus.run("config", "set", "weight", "70").ending == .exited(0))
      #expect(try await bus.run("config", "get", "weight").lines == ["70"])
      try write("{\"colour\": \"never\", \"weight\": 70}", on: bus)
      #expect(try await bus.run("config", "rm", "colour").ending == .exited(0))
      #expect(try await bus.run("config", "get", "weight").lines == ["70"])
      try write("no JSON", on: bus)
      #expect(try await bus.run("config", "set", "weight", "70").ending == .exited(78))
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "no JSON")
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      let directory = try await bus.run("state")
      #expect(directory.ending == .exited(78) && directory.errors.count == 1, "\(directory.errors)")
      #expect(try await bus.run("config", "set", "weight", "70").ending == .exited(78))
    }
  }

  @Test("A killed config set leaves the former file or the new one")
  func killed() async throws {
    try await withTestBus { bus in
      let path = path(bus)
      try write("{\"later\": \"\(String(repeating: "x", count: 100_000))\", \"weight\": 70}", on: bus)
      let folder = bus.configDirectory + "/runbus"
      for turn in 0..<8 {
        let process = bus.spawn("config", "set", "weight", "\(71 + turn)")
        // While the new file is written beside the former one.
        while process.view.ending == nil {
          let files = try FileManager.default.contentsOfDirectory(atPath: folder)
          if files.contains(where: { $0.hasSuffix(".tmp") }) { process.signal(SIGKILL) }
          await Task.yield()
        }
        _ = try await process.ending()
        let tree = try #require(JSONValue(text: try String(contentsOfFile: path, encoding: .utf8)), "turn \(turn)")
        #expect(tree["later"]?.string?.count == 100_000)
        #expect((70...78).contains(tree["weight"]?.int ?? 0))
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file.hasSuffix(".tmp") {
          try FileManager.default.removeItem(atPath: folder + "/" + file)
        }
      }
      let last = try await bus.run("config", "rm", "later")
      #expect(last.ending == .exited(0))
    }
  }

  @Test("What removes something names the bus, and what named it, unless an option did")
  func removing() async throws {
    try await withTestBus { bus in
      try write("{\"contexts\": {\"home\": {\"bus\": \"home\"}}}", on: bus)
      let phone = bus.spawn("phone", "--json", "--context", "home")
      try await phone.event("its first snapshot") { $0["event"]?.string == "snapshot" }
      #expect(
        try await bus.run("records", "import", Checkout.path("examples/runs/synthetic.gpx"), "--context", "home").ending
          == .exited(0))
      let id = try #require(try await bus.run("records", "--bus", "home", "--json").json.first?["runId"]?.string)
      let removed = try await bus.run("records", "rm", id, "--yes", "--context", "home")
      #expect(removed.ending == .exited(0))
      #expect(removed.errors == ["busnode: bus \"home\" (from context home in \(path(bus)))"])
      let rotated = try await bus.run("keys", "rotate", "--bus", "home")
      #expect(!rotated.errors.contains { $0.contains("(from ") })
      let erase = try await bus.run("erase", "--yes", "--context", "home")
      #expect(erase.ending == .exited(64))
      #expect(erase.errors.first?.contains("comes from context home in \(path(bus))") == true)
    }
  }
}
