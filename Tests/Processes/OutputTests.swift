import Foundation
import RunBus
import Testing
import TestSupport

/// Commands whose output cannot be written: it is closed from the start, closed by a reader that leaves, or on a full
/// disk.
@Suite("Output that cannot be written")
struct OutputTests {
  private func phone(_ bus: TestBus, _ arguments: String...) async throws -> NodeProcess {
    let phone = bus.spawn(executable: TestBus.busnode, ["phone", "--json", "--debounce", "0"] + arguments)
    try await phone.event("its first snapshot") { $0["event"]?.string == "snapshot" }
    return phone
  }

  /// Runs a command with an output that cannot be written; the exit status is the last line.
  private func status(_ bus: TestBus, _ command: String, _ place: String) async throws -> (Int, errors: [String]) {
    let view = try await bus.shell("$BUSNODE \(command) \(place); echo ${PIPESTATUS[0]} >&2")
    var errors = view.errors
    let status = try #require(errors.popLast().flatMap { Int($0) }, "\(view.errors)")
    return (status, errors)
  }

  /// A reader that leaves at once: when the command writes, nobody reads any more.
  private static let leaving = "| exec true"

  // Once broken: `send` exited 0 when its output could not be written: rejected (3) and queued (5) became 0, because
  // every failed write made the command exit with the status for a closed pipe.
  @Test("The exit status of send tells the verdict, whatever becomes of its output", arguments: ["", "--json"])
  func send(json: String) async throws {
    try await withTestBus { bus in
      let phone = try await phone(bus)
      for (place, lines) in [(">&-", 1), (">/dev/full", 1), (Self.leaving, 0)] {
        let (rejected, errors) = try await status(bus, "send pause \(json)", place)
        #expect(rejected == 3, "\(place)")
        #expect(errors.count == lines && errors.allSatisfy { $0.contains("standard output") }, "\(errors)")
        #expect(try await status(bus, "send start --wait received \(json)", place).0 == 0)
        #expect(try await status(bus, "send stop \(json)", place).0 == 0)
      }
      phone.signal(SIGTERM)
      _ = try await phone.ending()
      for (place, lines) in [(">&-", 1), (">/dev/full", 1), (Self.leaving, 0)] {
        let (queued, errors) = try await status(bus, "send start \(json)", place)
        #expect(queued == 5 && errors.count == lines, "\(place) \(errors)")
      }
      // A command that was sent may still be in the spool if the phone ended before it could remove it.
      let unsent = try await bus.run("outbox", "--json").json.filter { $0["tries"]?.int == 0 }
      #expect(unsent.count == 3)
      for row in unsent {
        let id = try #require(row["id"]?.string)
        #expect(try await status(bus, "outbox cancel \(id) \(json)", ">/dev/full").0 == 0)
      }
      #expect(try await bus.run("outbox", "--json").json.allSatisfy { $0["tries"]?.int != 0 })
    }
  }

  // Once broken: `records export > file` on a full disk exited 0 with a cut file, and so did every other command that
  // writes data.
  @Test("A command that writes data exits 74 with one line when it cannot, and quietly when its reader leaves")
  func data() async throws {
    try await withTestBus { bus in
      let phone = try await phone(bus, "--synthetic")
      #expect(try await bus.run("send", "start").ending == .exited(0))
      #expect(try await bus.run("records", "import", RecordProcessTests.synthetic).ending == .exited(0))
      let commands = [
        "state", "state --json", "state --splits", "peers", "outbox", "outbox quarantine", "route --timeout 30",
        "monitor --count 1", "records", "records show", "records stats", "records export --format gpx",
        "records export --format json", "measure '\(RecordProcessTests.synthetic)'", "--help", "records --help",
        "--version",
      ]
      for command in commands {
        for place in [">&-", ">/dev/full"] {
          let (status, errors) = try await status(bus, command, place)
          #expect(status == 74, "\(command) \(place)")
          #expect(errors.count == 1 && errors[0].contains("standard output cannot be written"), "\(command) \(errors)")
        }
        let (status, errors) = try await status(bus, command, Self.leaving)
        #expect(status == 0 && errors.isEmpty, "\(command) \(errors)")
      }
      phone.signal(SIGTERM)
      _ = try await phone.ending()
    }
  }

  // Once broken: Started with a closed standard output (`>&-`), a command could write its line into a file or socket
  // that it had opened, because the next opened file gets the descriptor number of a closed stream.
  @Test("A command that changes a record works without output and exits 0; import continues with the next file")
  func acts() async throws {
    try await withTestBus { bus in
      let phone = try await phone(bus)
      let gpx = bus.directory + "/a.gpx"
      let text = try String(contentsOfFile: RecordProcessTests.synthetic, encoding: .utf8)
      try text.replacing("2026-01-01T", with: "2026-01-02T").write(toFile: gpx, atomically: true, encoding: .utf8)
      let (imported, errors) = try await status(
        bus, "records import '\(RecordProcessTests.synthetic)' '\(gpx)'", ">/dev/full")
      #expect(imported == 0 && errors.count == 1, "\(errors)")
      let records = try await bus.run("records", "--json").json
      #expect(records.count == 2)
      phone.signal(SIGTERM)
      _ = try await phone.ending()
      // The phone is down, so the command opens the store itself. No file of the store may get descriptor number 1.
      for (number, record) in records.enumerated() {
        let id = try #require(record["runId"]?.string)
        #expect(try await status(bus, "records edit \(id) --title T\(number)", ">&-").0 == 0)
        let file = bus.directory + "/\(number).json"
        #expect(try await status(bus, "records export \(id) --format json --output '\(file)'", ">&-").0 == 0)
        #expect(FileManager.default.fileExists(atPath: file))
      }
      #expect(Set(try await bus.run("records", "--json").json.compactMap { $0["title"]?.string }) == ["T0", "T1"])
      let id = try #require(records.first?["runId"]?.string)
      #expect(try await status(bus, "records rm \(id) --yes", "<&- >&- 2>&-").0 == 0)
      #expect(try await bus.run("records", "--json").json.count == 1)
    }
  }

  // Once broken: `records export --output` replaced links, pipes and devices by files (as root `/dev/full`, too),
  // because the file was written under another name and then renamed, whatever kind of file existed at the target.
  @Test("An export replaces a regular file whole, writes to pipes and devices, and refuses everything else")
  func files() async throws {
    try await withTestBus { bus in
      let phone = try await phone(bus)
      #expect(try await bus.run("records", "import", RecordProcessTests.synthetic).ending == .exited(0))
      let whole = try await bus.run("records", "export", "--format", "gpx").lines
      let folder = bus.directory + "/files"
      try FileManager.default.createDirectory(atPath: folder + "/folder", withIntermediateDirectories: true)
      func export(_ name: String) async throws -> NodeProcess.View {
        let path = name.hasPrefix("/") ? name : "\(folder)/\(name)"
        return try await bus.run("records", "export", "--format", "gpx", "--output", path)
      }
      func kind(_ name: String) throws -> FileAttributeType? {
        try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")[.type] as? FileAttributeType
      }
      func lines(_ name: String) throws -> [String] {
        let text = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
        return text.split(separator: "\n").map { String($0) }
      }
      _ = try await bus.shell(
        """
        cd '\(folder)' && echo old > old && chmod 600 old && echo target > target && ln -s target link \
        && ln -s nowhere dangling && mkfifo pipe
        """)
      for name in ["new", "old", "link"] {
        #expect(try await export(name).ending == .exited(0))
        #expect(try lines(name) == whole, "\(name)")
      }
      #expect(try kind("link") == .typeSymbolicLink)
      #expect(try lines("target") == whole)
      let mode = try FileManager.default.attributesOfItem(atPath: folder + "/old")[.posixPermissions] as? Int
      #expect(mode == 0o600)
      let reader = bus.spawn(executable: "/bin/cat", ["\(folder)/pipe"])
      #expect(try await export("pipe").ending == .exited(0))
      #expect(try await reader.ending() == .exited(0))
      #expect(reader.view.lines == whole)
      #expect(try kind("pipe") != .typeRegular)
      for name in ["dangling", "folder", "folder/none/run.gpx", "/dev/full"] {
        let refused = try await export(name)
        #expect(refused.ending == .exited(74) && refused.lines.isEmpty, "\(name)")
        #expect(refused.errors.count == 1 && refused.errors[0].contains("cannot be written"), "\(refused.errors)")
      }
      #expect(try kind("dangling") == .typeSymbolicLink)
      let device = try FileManager.default.attributesOfItem(atPath: "/dev/full")[.type] as? FileAttributeType
      #expect(device == .typeCharacterSpecial)
      let left = try FileManager.default.contentsOfDirectory(atPath: folder)
      #expect(left.sorted() == ["dangling", "folder", "link", "new", "old", "pipe", "target"])
      phone.signal(SIGTERM)
      _ = try await phone.ending()
    }
  }
}
