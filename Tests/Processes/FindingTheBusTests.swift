import Foundation
import Testing
import TestSupport

/// Each command of `busnode`, read from the command tree itself: a new one is tested, too.
private struct BusCommand: Sendable, CustomTestStringConvertible {
  let words: [String]
  /// Something for each argument and option that has to be there.
  let arguments: [String]
  let options: Set<String>

  var testDescription: String { words.joined(separator: " ") }

  /// What an argument of this name may be; the value only has to be accepted.
  private static let examples = [
    "command": "start", "answer": "resume", "id": "1f0a2b3c", "name": "watch", "file": "none.gpx", "device": "watch",
    "sources": "watch", "format": "gpx", "time": "30m", "condition": "phase == paused",
  ]

  static func all(on bus: TestBus) async throws -> [BusCommand] {
    let dump = try await bus.run("--experimental-dump-help")
    let tree = try #require(JSONValue(text: dump.lines.joined(separator: "\n"))?["command"])
    return leaves(of: tree, below: [])
  }

  private static func leaves(of command: JSONValue, below words: [String]) -> [BusCommand] {
    let inner = (command["subcommands"]?.array ?? []).filter { $0["commandName"]?.string != "help" }
    guard inner.isEmpty else {
      return inner.flatMap { leaves(of: $0, below: words + [$0["commandName"]?.string ?? ""]) }
    }
    let arguments = command["arguments"]?.array ?? []
    let needed = arguments.filter { $0["isOptional"]?.bool == false }.flatMap { argument in
      let example = examples[argument["valueName"]?.string ?? ""] ?? "unknown"
      let option = argument["kind"]?.string == "option" ? argument["names"]?.array?.first?["name"]?.string : nil
      return (option.map { ["--\($0)"] } ?? []) + [example]
    }
    let names = arguments.flatMap { $0["names"]?.array ?? [] }.compactMap { $0["name"]?.string }
    return [
      BusCommand(
        words: words, arguments: needed, options: Set(names))
    ]
  }

  /// Whether it stands for its kind: a node, a visitor of a node, and a reader of files.
  var isSample: Bool { [["phone"], ["state"], ["records", "ls"]].contains(words) }

  /// What a command needs before it looks for its bus.
  var more: [String] {
    switch words {
    case ["records", "edit"]: ["--title", "t"]
    case ["records", "export"]: ["--format", "csv"]
    case ["match"]: ["--goal", "30m"]
    default: []
    }
  }
}

@Suite("Which bus a command is about")
struct FindingTheBusTests {
  /// The bus that a command finds. The directory of its sockets is too long for a socket, which every command says.
  private func found(
    by command: BusCommand, _ options: [String], _ environment: [String: String?], on bus: TestBus
  ) async throws -> String? {
    let process = bus.spawn(
      executable: TestBus.busnode, command.words + command.arguments + command.more + options, environment: environment)
    process.closeInput()
    let line = try? await process.wait(for: "the bus that it finds") { view in
      view.errors.first { $0.contains("is too long a path for a socket") }
    }
    process.signal(SIGKILL)
    _ = try await process.ending()
    guard let line else {
      Issue.record("\(command.testDescription) \(options) does not say which bus it is about: \(process.view)")
      return nil
    }
    // A phone has made the short directory that is used instead.
    if let short = line.split(separator: " ").last.map(String.init), short.hasPrefix("/tmp/runbus-") {
      try? FileManager.default.removeItem(atPath: short)
    }
    return line.split(separator: " ").dropFirst().first?.split(separator: "/").last.map(String.init)
  }

  @Test("Every command finds its bus by option, variable, context and default, in this order")
  func everyCommand() async throws {
    try await withTestBus { bus in
      let commands = try await BusCommand.all(on: bus)
      #expect(commands.count > 30)
      #expect(
        commands.filter { !$0.options.contains("bus") }.map(\.words) == [
          ["room", "ls"], ["room", "log"], ["ranking"], ["measure"], ["config", "ls"], ["config", "get"],
          ["config", "set"], ["config", "rm"], ["config", "path"],
        ])
      let long = "\(bus.directory)/\(String(repeating: "long-", count: 20))"
      try FileManager.default.createDirectory(
        atPath: long, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      let settings = bus.directory + "/settings"
      try FileManager.default.createDirectory(atPath: settings + "/runbus", withIntermediateDirectories: true)
      try "{\"contexts\": {\"c\": {\"bus\": \"by-context\"}}}".write(
        toFile: settings + "/runbus/config.json", atomically: true, encoding: .utf8)
      let plain: [String: String?] = ["XDG_RUNTIME_DIR": long]
      let named = plain.merging(["RUNBUS_BUS": "by-variable"]) { $1 }
      let inContext = plain.merging(["XDG_CONFIG_HOME": settings]) { $1 }
      for command in commands where command.options.contains("bus") {
        #expect(try await found(by: command, ["--bus", "by-option"], named, on: bus) == "by-option")
        #expect(try await found(by: command, ["--context", "c"], inContext, on: bus) == "by-context")
        // What is between them is one function's, whichever command asks it.
        guard command.isSample else { continue }
        let variableInContext = named.merging(["XDG_CONFIG_HOME": settings]) { $1 }
        #expect(try await found(by: command, ["--context", "c"], variableInContext, on: bus) == "by-variable")
        #expect(try await found(by: command, [], named, on: bus) == "by-variable")
        #expect(try await found(by: command, [], plain, on: bus) == "default")
      }
    }
  }

  @Test("Every command refuses a name that is none, and two names at once, with the same sentence")
  func wrongNames() async throws {
    try await withTestBus { bus in
      for command in try await BusCommand.all(on: bus) where command.options.contains("bus") {
        let words = command.words + command.arguments + command.more
        for (options, variable) in [(["--bus", "No Such"], "good")] + (command.isSample ? [([], "No Such")] : []) {
          let process = bus.spawn(
            executable: TestBus.busnode, words + options, environment: ["RUNBUS_BUS": variable])
          process.closeInput()
          #expect(try await process.ending() == .exited(64), "\(command.testDescription): \(process.view)")
          #expect(
            process.view.errors.first?.contains("'No Such' is no bus name") == true,
            "\(command.testDescription): \(process.view.errors)")
        }
        guard command.isSample else { continue }
        let two = bus.spawn(
          executable: TestBus.busnode, words,
          environment: ["RUNBUS_BUS": "good", "RUNBUS_ADDRESS": "tcp://127.0.0.1:9"])
        two.closeInput()
        #expect(try await two.ending() == .exited(64), "\(command.testDescription): \(two.view)")
        #expect(two.view.errors.first?.contains("unset RUNBUS_BUS or RUNBUS_ADDRESS") == true, "\(two.view.errors)")
      }
    }
  }
}
