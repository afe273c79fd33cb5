import Foundation
import SystemC
import Testing
import TestSupport

@Suite("Every run in a directory", .serialized)
struct RecordFolderProcessTests {
  /// A bus whose phone has run once and keeps as many runs, each on a day of its own.
  private func keep(_ count: Int, on bus: TestBus) async throws {
    let phone = bus.spawn("phone", "--json")
    try await phone.event("its first snapshot") { $0["event"]?.string == "snapshot" }
    phone.signal(SIGTERM)
    #expect(try await phone.ending() == .exited(0))
    let text = try String(contentsOfFile: RecordProcessTests.synthetic, encoding: .utf8)
    var arguments = ["records", "import"]
    for number in 1...count {
      let file = "\(bus.directory)/\(number).gpx"
      let day = number < 10 ? "0\(number)" : "\(number)"
      try text.replacing("2026-01-01T", with: "2026-01-\(day)T").write(toFile: file, atomically: true, encoding: .utf8)
      arguments.append(file)
    }
    let done = bus.spawn(executable: TestBus.busnode, arguments)
    #expect(try await done.ending() == .exited(0), "\(done.view.errors)")
  }

  private func files(_ directory: String) throws -> [String: Data] {
    try FileManager.default.contentsOfDirectory(atPath: directory).reduce(into: [:]) { files, name in
      files[name] = try Data(contentsOf: URL(fileURLWithPath: directory + "/" + name))
    }
  }

  private func inodes(_ directory: String) throws -> [String: Int] {
    try FileManager.default.contentsOfDirectory(atPath: directory).reduce(into: [:]) { inodes, name in
      inodes[name] = try FileManager.default.attributesOfItem(atPath: directory + "/" + name)[.systemFileNumber] as? Int
    }
  }

  @Test("A second export leaves every file alone, and a run that was changed is replaced alone")
  func again() async throws {
    try await withTestBus { bus in
      try await keep(3, on: bus)
      let directory = bus.directory + "/runs"
      for format in ["json", "gpx", "tcx", "csv"] {
        let done = try await bus.run("records", "export", "--all", directory, "--format", format)
        #expect(done.ending == .exited(0) && done.errors.isEmpty, "\(done.errors)")
        #expect(done.lines.count == 4 && done.lines.last == "\(directory): 3 written, 0 unchanged", "\(done.lines)")
      }
      let before = try inodes(directory)
      #expect(before.count == 12 && before.keys.filter { $0.hasPrefix("2026-01-02-") }.count == 4)
      let single = try await bus.run("records", "export", "--format", "json")
      let last = try #require(before.keys.first { $0.hasPrefix("2026-01-03-") && $0.hasSuffix(".json") })
      #expect(try files(directory)[last] == Data((single.lines[0] + "\n").utf8))
      for format in ["json", "gpx", "tcx", "csv"] {
        let done = try await bus.run("records", "export", "--all", directory, "--format", format)
        #expect(done.lines == ["\(directory): 0 written, 3 unchanged"], "\(format) \(done.lines)")
      }
      #expect(try inodes(directory) == before)

      let id = String(last.dropFirst("2026-01-03-".count).prefix(32))
      #expect(try await bus.run("records", "edit", id, "--title", "River").ending == .exited(0))
      let changed = try await bus.run("records", "export", "--all", directory, "--json")
      #expect(changed.json.compactMap { $0["act"]?.string } == ["unchanged", "unchanged", "exported"])
      #expect(changed.json.last?["file"]?.string == directory + "/" + last)
      let after = try inodes(directory)
      #expect(after.filter { before[$0.key] != $0.value }.map(\.key) == [last])
    }
  }

  @Test("A run that cannot be exported is told in a line, the others are written, and the status says so")
  func partly() async throws {
    try await withTestBus { bus in
      try await keep(2, on: bus)
      let phone = bus.spawn("phone", "--json", "--debounce", "0")
      try await phone.event("its first snapshot") { $0["event"]?.string == "snapshot" }
      // A run without positions.
      for press in ["start", "stop"] { #expect(try await bus.run("send", press).ending == .exited(0)) }
      let directory = bus.directory + "/runs"
      let done = try await bus.run("records", "export", "--all", directory, "--format", "gpx")
      #expect(done.ending == .exited(65) && done.errors.count == 1, "\(done.errors)")
      #expect(done.errors.first?.contains("no positions") == true, "\(done.errors)")
      #expect(done.lines.last == "\(directory): 2 written, 0 unchanged, 1 not")
      let names = try files(directory).keys.sorted()
      #expect(names.count == 2)
      // A directory is where a file should be, and another file has to be replaced.
      try FileManager.default.removeItem(atPath: directory + "/" + names[0])
      try FileManager.default.createDirectory(atPath: directory + "/" + names[0], withIntermediateDirectories: false)
      try "other".write(toFile: directory + "/" + names[1], atomically: true, encoding: .utf8)
      let full = try await bus.run("records", "export", "--all", directory, "--format", "gpx", "--json")
      #expect(full.ending == .exited(74) && full.errors.count == 2, "\(full.errors)")
      #expect(full.json.count == 1 && full.json.first?["act"]?.string == "exported")
      phone.signal(SIGTERM)
      #expect(try await phone.ending() == .exited(0))
      for (arguments, status, words) in [
        (["--all", directory + "/" + names[1]], Int32(74), "cannot be written"),
        (["--all", ""], 64, "needs a directory"),
        (["--all", directory, "--output", "a.gpx"], 64, "leave --output out"),
        (["abcd", "--all", directory], 64, "leave the id out"),
      ] {
        let view = bus.spawn(executable: TestBus.busnode, ["records", "export"] + arguments)
        #expect(try await view.ending() == .exited(status), "\(arguments)")
        #expect(view.view.errors.first?.contains(words) == true, "\(view.view.errors)")
      }
    }
  }

  @Test("An export that is killed leaves whole files, and the next one the rest of them and nothing else")
  func killed() async throws {
    try await withTestBus { bus in
      try await keep(12, on: bus)
      let whole = bus.directory + "/whole"
      #expect(try await bus.run("records", "export", "--all", whole).ending == .exited(0))
      let right = try files(whole)
      #expect(right.count == 12)
      for lines in [1, 4, 9] {
        let directory = "\(bus.directory)/killed-\(lines)"
        let export = bus.spawn("records", "export", "--all", directory)
        _ = try? await export.wait(for: "some files") { $0.lines.count >= lines ? true : nil }
        export.signal(SIGKILL)
        _ = try await export.ending()
        for (name, data) in try files(directory) where !name.hasPrefix(".") { #expect(right[name] == data, "\(name)") }
        // As if it had been killed while it wrote.
        #expect(FileManager.default.createFile(atPath: directory + "/.busnode-all-1.tmp", contents: Data("{".utf8)))
        let next = try await bus.run("records", "export", "--all", directory)
        #expect(next.ending == .exited(0), "\(next.errors)")
        #expect(try files(directory) == right)
      }
    }
  }
}
