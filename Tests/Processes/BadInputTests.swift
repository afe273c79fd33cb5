import Foundation
import RunBus
import RunScripts
import Testing
import TestSupport

@Suite("Bad input from a shell")
struct BadInputTests {
  private func phone(_ bus: TestBus) async throws -> NodeProcess {
    let phone = bus.spawn("phone", "--json", "--debounce", "0")
    try await phone.event("its first snapshot") { $0["event"]?.string == "snapshot" }
    return phone
  }

  // Once broken: `records import a bad c` stopped at a refused file, exited 1 and named no file; a title of 257 bytes
  // and a version of 2^63 had the same effect.
  @Test("import names every bad file, keeps the others and exits 65; with --json it names them in objects")
  func imported() async throws {
    try await withTestBus { bus in
      let phone = try await phone(bus)
      #expect(try await bus.run("records", "import", RecordProcessTests.synthetic).ending == .exited(0))
      let export = try #require(try await bus.run("records", "export", "--format", "json").lines.first)
      let id = try #require(try await bus.run("records", "--json").json.first?["runId"]?.string)
      #expect(try await bus.run("records", "rm", id, "--yes").ending == .exited(0))
      // The distance of the summary, which comes last.
      let distance = String(try #require(export.matches(of: /"distanceMeters":[0-9.]+,"elapsedSeconds"/).last).output)
      let changes: [(name: String, from: String, to: String, word: String)] = [
        ("less", distance, "\"distanceMeters\":-1,\"elapsedSeconds\"", "distanceMeters is -1.0"),
        ("huge", distance, "\"distanceMeters\":1e300,\"elapsedSeconds\"", "distanceMeters is 1e+300"),
        ("title", "\"title\":\"", "\"title\":\"\(String(repeating: "t", count: 257))", "title has"),
        ("version", "\"version\":1", "\"version\":9223372036854775808", "version is 9223372036854775808"),
        ("route", "\"latitude\":5", "\"latitude\":95", "route.latitude is 95"),
        ("format", "runbus-record/1", "runbus-record/9", "was not written by"),
      ]
      var files = [bus.directory + "/none.gpx"]
      for change in changes {
        let place = try #require(export.range(of: change.from, options: .backwards), "\(change.name)")
        let text = export.replacingCharacters(in: place, with: change.to)
        files.append("\(bus.directory)/\(change.name).json")
        try text.write(toFile: files[files.count - 1], atomically: true, encoding: .utf8)
      }
      let good = [RecordProcessTests.synthetic]
      let all = bus.spawn(executable: TestBus.busnode, ["records", "import"] + files + good)
      #expect(try await all.ending() == .exited(65))
      #expect(all.view.lines.count == 1 && all.view.errors.count == files.count, "\(all.view.errors)")
      for (file, error) in zip(files, all.view.errors) { #expect(error.hasPrefix("busnode: \(file): "), "\(error)") }
      for (change, error) in zip(changes, all.view.errors.dropFirst()) {
        #expect(error.contains(change.word), "\(error)")
      }
      #expect(try await bus.run("records", "--json").json.count == 1)
      let json = bus.spawn(executable: TestBus.busnode, ["records", "import", "--json"] + files)
      #expect(try await json.ending() == .exited(65))
      let errors = json.view.errors.map { JSONValue(text: $0)?["error"] }
      #expect(errors.count == files.count)
      #expect(errors.allSatisfy { $0?["code"]?.string == "badInput" }, "\(json.view.errors)")
      #expect(errors.allSatisfy { $0?["exitCode"]?.int == 65 })
      phone.signal(SIGTERM)
      _ = try await phone.ending()
    }
  }

  // Once broken: `records import` of a sparse file of 20 GB took 12 GB of memory; a script was also read without a
  // limit, because files were read completely before their size was checked.
  @Test("A file of 20 GB, a pipe without a writer, a device and a folder are refused before they are read")
  func kinds() async throws {
    try await withTestBus { bus in
      let phone = try await phone(bus)
      _ = try await bus.shell("cd \(bus.directory) && truncate -s 20G large.json && mkfifo pipe")
      for name in ["\(bus.directory)/large.json", "\(bus.directory)/pipe", "/dev/zero", bus.directory] {
        // With 8 GB of address space the file cannot be read, so it must be refused before.
        let limit = Sanitizer.present == nil ? "ulimit -v 8000000; " : ""
        let view = try await bus.shell("\(limit)exec $BUSNODE records import '\(name)'")
        #expect(view.ending == .exited(65), "\(name)")
        #expect(view.errors.count == 1 && view.errors[0].contains("\(name): cannot read this run"), "\(view.errors)")
        guard name != "\(bus.directory)/pipe" else { continue }
        let up = try await bus.run("up", "--script", name)
        #expect(up.ending == .exited(65))
        #expect(up.errors.count == 1 && up.errors[0].contains("\(name): cannot read this script"), "\(up.errors)")
      }
      phone.signal(SIGTERM)
      _ = try await phone.ending()
    }
  }

  // Once broken: `up` read a script with CR LF as one line, and did not find the word "at" after a byte order mark,
  // because in Swift CR LF is one character, which is not `\n`.
  @Test("Scripts with CR LF and a byte order mark are read; a script can come through a pipe")
  func scripts() async throws {
    let script = try Script("\u{FEFF}at 0s phone start\r\n\r\nat 1s watch pause\r\n", file: "a.run")
    #expect(script.steps.map(\.line) == [1, 3])
    #expect(script.steps.last?.action == .order(.press(.pause, at: nil)))
    try await withTestBus { bus in
      let view = try await bus.shell("$BUSNODE up --script <(printf 'at 0s phone jump\\r\\n')")
      #expect(view.ending == .exited(65) && view.errors.first?.contains(":1: \"jump\"") == true, "\(view.errors)")
    }
  }

  // Once broken: U+202E and U+2028 in titles and notes, and escape characters in file names, scripts and names of
  // buses, reached the terminal, because each part of the program escaped text on its own, control characters only, or
  // not at all.
  @Test("Foreign text never controls the terminal: titles, notes, file names, names of buses, scripts")
  func terminal() async throws {
    try await withTestBus { bus in
      let phone = try await phone(bus)
      #expect(try await bus.run("records", "import", RecordProcessTests.synthetic).ending == .exited(0))
      let id = try #require(try await bus.run("records", "--json").json.first?["runId"]?.string)
      // Control characters do not come this far, because the wire replaces them by blanks.
      let bad = "a\u{202E}b\u{2028}c"
      let edited = try await bus.run("records", "edit", id, "--title", bad, "--note", "note " + bad)
      #expect(edited.ending == .exited(0))
      let shown = "a\\u{202E}b\\u{2028}c"
      #expect(try await bus.run("records").lines.last?.hasSuffix(shown) == true)
      let lines = try await bus.run("records", "show", "--chart", "none").lines
      #expect(lines.first == shown && lines.contains("note " + shown), "\(lines)")
      // A reader of JSON gets the text unchanged.
      let json = try await bus.run("records", "--json")
      #expect(json.json.first?["title"]?.string == bad)
      #expect(json.lines.allSatisfy(Self.isHarmless))
      let name = bus.directory + "/\u{1B}[31m\nx.run"
      try "at 0s \u{1B}[31m start".write(toFile: name, atomically: true, encoding: .utf8)
      for arguments in [
        ["state", "--bus", "\u{1B}[31m"], ["state", "--address", "tcp://\u{1B}[31m:1"], ["up", "--script", name],
        ["records", "import", bus.directory + "/\u{1B}[31m\n.gpx"], ["measure", bus.directory + "/\u{1B}[31m\n.gpx"],
        ["records", "export", "--format", "gpx", "--output", bus.directory + "/\u{1B}/\nx"],
        ["send", "start", "--source", "\u{1B}[31m"], ["send", "\u{202E}"], ["records", "ls", "--week", "\u{1B}"],
      ] {
        let view = bus.spawn(executable: TestBus.busnode, arguments)
        guard case .exited(let status) = try await view.ending() else { continue }
        #expect([64, 65, 74].contains(status), "\(arguments)")
        #expect(view.view.errors.allSatisfy(Self.isHarmless), "\(view.view.errors)")
        if status != 64 { #expect(view.view.errors.count == 1, "\(view.view.errors)") }
      }
      phone.signal(SIGTERM)
      _ = try await phone.ending()
    }
  }

  private static func isHarmless(_ line: String) -> Bool { line.unicodeScalars.allSatisfy(ForeignText.isHarmless) }

  // Once broken: `state --address tcp://127.0.0.1:*` exited 65, and with other commands it timed out, because only `up`
  // refused a port that is not chosen yet.
  @Test("Every command that connects exits 64 for a port that a phone is to choose")
  func openPort() async throws {
    try await withTestBus { bus in
      for command in [["state"], ["peers"], ["monitor"], ["route"], ["send", "start"], ["watch"], ["widget"], ["up"]] {
        let process = bus.spawn(
          executable: TestBus.busnode, command + ["--address", "tcp://127.0.0.1:*", "--insecure"])
        let ending = try await process.ending()
        #expect(ending == .exited(64), "\(command)")
        #expect(process.view.errors.count == 1, "\(process.view.errors)")
      }
    }
  }
}
