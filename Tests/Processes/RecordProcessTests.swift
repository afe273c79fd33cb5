import Foundation
import RunBus
import Testing
import TestSupport

@Suite("Records from a shell", .serialized)
struct RecordProcessTests {
  static let synthetic = Checkout.path("examples/runs/synthetic.gpx")

  private func phone(_ bus: TestBus, _ arguments: String...) async throws -> NodeProcess {
    let phone = bus.spawn(executable: TestBus.busnode, ["phone", "--json"] + arguments)
    try await phone.event("its first snapshot") { $0["event"]?.string == "snapshot" }
    return phone
  }

  @Test("A stopped run is a record, listed and shown by the running phone or from its store")
  func stopped() async throws {
    try await withTestBus { bus in
      #expect(try await bus.run("records").ending == .exited(69))
      let phone = try await phone(bus, "--debounce", "0", "--weight", "70", "--synthetic", "--speed", "60")
      #expect(try await bus.run("records").lines == ["no runs yet: a run is kept when it is stopped"])
      #expect(try await bus.run("send", "start").ending == .exited(0))
      try await phone.event("some way", within: 60) { ($0["metrics"]?["distanceMeters"]?.number ?? 0) > 200 }
      #expect(try await bus.run("send", "stop").ending == .exited(0))

      let listed = try await bus.run("records", "--json")
      let line = try #require(listed.json.first)
      #expect(listed.json.count == 1)
      #expect(line["deviceId"]?.string == "shell" && line["hubDeviceId"]?.string == "phone")
      #expect(line["version"]?.int ?? 0 >= 1)
      #expect(line["distanceMeters"]?.number ?? 0 > 200)
      #expect(line["energyJoules"]?.number ?? 0 > 0)
      let shown = try await bus.run("records", "show", "--units", "imperial")
      #expect(shown.ending == .exited(0))
      #expect(shown.lines.contains { $0.hasPrefix("pace, /mi") })
      #expect(shown.lines.contains { $0.contains("*") })

      let id = String(try #require(line["runId"]?.string).prefix(8))
      let edited = try await bus.run("records", "edit", id, "--title", "River", "--note", "new shoes")
      #expect(edited.lines == ["\(id) is changed"])
      phone.signal(SIGTERM)
      #expect(try await phone.ending() == .exited(0))

      let again = try await bus.run("records", "ls", "--json")
      #expect(again.json.first?["title"]?.string == "River")
      #expect(again.json.first?["weightKilograms"]?.number == 70)
      #expect(again.json.first?["energyJoules"]?.number ?? 0 > 0)
      #expect(try await bus.run("records", "show").lines.contains("new shoes"))
      #expect(try await bus.run("records", "rm", id).ending == .exited(64))
      #expect(try await bus.run("records", "rm", id, "--yes").lines == ["\(id) is removed"])
      #expect(try await bus.run("records").lines == ["no runs yet: a run is kept when it is stopped"])
      #expect(try await bus.run("records", "show", id).ending == .exited(1))
    }
  }

  @Test("The record is there even if the phone is killed right after the stop")
  func killed() async throws {
    try await withTestBus { bus in
      let phone = try await phone(bus, "--debounce", "0")
      #expect(try await bus.run("send", "start").ending == .exited(0))
      #expect(try await bus.run("send", "stop").ending == .exited(0))
      phone.signal(SIGKILL)
      _ = try await phone.ending()
      let listed = try await bus.run("records", "--json")
      #expect(listed.json.count == 1)
      let again = try await self.phone(bus)
      #expect(try await bus.run("records", "--json").json.map { $0["runId"] } == listed.json.map { $0["runId"] })
      again.signal(SIGTERM)
      _ = try await again.ending()
    }
  }

  @Test("An export can be imported as the same run, once; filters and sums are right")
  func exchange() async throws {
    try await withTestBus { bus in
      let phone = try await phone(bus)
      phone.signal(SIGTERM)
      _ = try await phone.ending()
      let first = try await bus.run("records", "import", Self.synthetic, "--json")
      #expect(first.ending == .exited(0) && first.json.first?["act"]?.string == "imported")
      #expect(try await bus.run("records", "import", Self.synthetic, "--json").json.first?["act"]?.string == "known")
      let record = try #require(try await bus.run("records", "show", "--json").json.first)
      let measured = try #require(try await bus.run("measure", Self.synthetic, "--json").json.first)
      #expect(
        record["report"]?["metrics"]?["distanceMeters"]?.number == measured["metrics"]?["distanceMeters"]?.number)
      let (id, start) = (
        try #require(record["summary"]?["runId"]?.string), try #require(record["summary"]?["startedAt"]?.string)
      )

      for format in ["gpx", "tcx", "json", "csv"] {
        let file = bus.directory + "/run.\(format)"
        #expect(try await bus.run("records", "export", "--format", format, "--output", file).ending == .exited(0))
        guard format != "csv" else { continue }
        let known = try await bus.run("records", "import", file, "--json")
        #expect(known.json.first?["act"]?.string == "known" && known.json.first?["runId"]?.string == id)
      }
      // A removed run can be imported from its own exports, with its own id.
      for format in ["gpx", "tcx", "json"] {
        #expect(try await bus.run("records", "rm", id, "--yes").ending == .exited(0))
        let back = try await bus.run("records", "import", bus.directory + "/run.\(format)", "--json")
        #expect(back.json.first?["act"]?.string == "imported")
        let again = try #require(try await bus.run("records", "show", id, "--json").json.first)
        let (was, now) = (
          record["report"]?["metrics"]?["distanceMeters"]?.number,
          again["report"]?["metrics"]?["distanceMeters"]?.number
        )
        #expect(abs((was ?? 0) - (now ?? 1)) < (was ?? 0) * 0.005, "\(format)")
        if format == "json" { #expect(again["route"] == record["route"] && again["series"] == record["series"]) }
      }
      let day = String(start.prefix(10))
      let utc: [String: String?] = ["TZ": "UTC"]
      #expect(try await bus.run("records", "--since", day, "--until", day, "--json", environment: utc).json.count == 1)
      #expect(try await bus.run("records", "--month", "1999-01", "--json", environment: utc).json.isEmpty)
      #expect(try await bus.run("records", "--week", "2026-W60").ending == .exited(64))
      let stats = try await bus.run("records", "stats", "--by", "month", "--json", environment: utc)
      #expect(stats.json.first?["period"]?.string == String(day.prefix(7)))
      #expect(stats.json.first?["count"]?.int == 1)
      let year = try await bus.run("records", "stats", "--by", "year", environment: utc)
      #expect(year.lines.first?.hasPrefix("YEAR") == true && year.lines.contains { $0.hasPrefix(day.prefix(4)) })
      let bests = try await bus.run("records", "stats", "--bests", "--json", environment: utc)
      #expect(bests.json.last?["longest"]?.bool == true, "\(bests.lines) \(bests.errors)")
      let bad = try await bus.run("records", "import", bus.directory + "/none.gpx")
      #expect(bad.ending == .exited(65) && bad.errors.count == 1)
    }
  }

  /// A bus on which a phone has run once.
  private func shelf(_ bus: TestBus, _ name: String) async throws -> [String: String?] {
    let environment: [String: String?] = ["RUNBUS_BUS": name]
    let phone = bus.spawn("phone", "--json", environment: environment)
    try await phone.event("its first snapshot") { $0["event"]?.string == "snapshot" }
    phone.signal(SIGTERM)
    _ = try await phone.ending()
    return environment
  }

  /// Exports the last run into a folder of its own.
  private func export(
    _ formats: [String], to folder: String, of bus: TestBus, _ environment: [String: String?]
  ) async throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for format in formats {
      let done = try await bus.run(
        "records", "export", "--format", format, "--output", "\(folder)/run.\(format)", environment: environment)
      #expect(done.ending == .exited(0), "\(done.errors)")
    }
  }

  @Test("What is exported as JSON is the same record in another bus, to the last letter")
  func sameRecord() async throws { try await expectSameRecord(Self.synthetic) }

  @Test(
    "What is exported as JSON of a real run is the same record in another bus, to the last letter",
    .enabled(if: !Recordings.real.isEmpty, Recordings.missing), arguments: Recordings.real)
  func sameRealRecord(name: String) async throws { try await expectSameRecord(try #require(Recordings.path(name))) }

  private func expectSameRecord(_ path: String) async throws {
    try await withTestBus { bus in
      let (one, other) = (try await shelf(bus, "one"), try await shelf(bus, "other"))
      #expect(try await bus.run("records", "import", path, "--weight", "70", environment: one).ending == .exited(0))
      let id = try #require(try await bus.run("records", "--json", environment: one).json.first?["runId"]?.string)
      let edited = try await bus.run(
        "records", "edit", id, "--title", "Río \"⌚️\" <&>", "--note", "two\nlines", environment: one)
      #expect(edited.ending == .exited(0))
      try await export(["json"], to: bus.directory + "/1", of: bus, one)
      let imported = try await bus.run("records", "import", bus.directory + "/1/run.json", environment: other)
      #expect(imported.ending == .exited(0), "\(imported.errors)")
      try await export(["json"], to: bus.directory + "/2", of: bus, other)
      let files = try ["1", "2"].map { try Data(contentsOf: URL(fileURLWithPath: "\(bus.directory)/\($0)/run.json")) }
      #expect(files[0] == files[1] && files[0].count > 1000)
    }
  }

  @Test(
    "gpxpy and tcxreader read every fix, lap, time and distance of the exports; a broken export is noticed",
    .enabled("needs scripts/bootstrap --python") { Checkout.hasPython })
  func independentParsers() async throws {
    try await withTestBus { bus in
      let folders = try await exports(of: [Self.synthetic], bus)
      let good = try await check(folders, bus)
      #expect(good.ending == .exited(0), "\(good.errors)")
      for (format, part, wrong) in [
        ("gpx", "lat=\"52", "lat=\"53"), ("gpx", "</trkpt>\n<trkpt ", "</trkpt>\n<wpt "),
        ("tcx", "<LongitudeDegrees>13.4", "<LongitudeDegrees>13.5"), ("tcx", "<DistanceMeters>", "<DistanceMeters>9"),
        ("tcx", "<Time>20", "<Time>21"),
      ] {
        let url = URL(fileURLWithPath: "\(folders[0])/run.\(format)")
        let text = try String(contentsOf: url, encoding: .utf8)
        let place = try #require(text.range(of: part, options: .backwards))
        try Data(text.replacingCharacters(in: place, with: wrong).utf8).write(to: url)
        let bad = try await check([folders[0]], bus)
        #expect(bad.ending == .exited(1), "\(part) became \(wrong)")
        try Data(text.utf8).write(to: url)
      }
    }
  }

  @Test(
    "gpxpy and tcxreader find every fix, lap, second and metre of the exports of real runs",
    .enabled("needs scripts/bootstrap --python") { Checkout.hasPython },
    .enabled(if: !Recordings.real.isEmpty, Recordings.missing))
  func independentParsersOfRealRuns() async throws {
    try await withTestBus { bus in
      let good = try await check(
        try await exports(of: try Recordings.real.map { try #require(Recordings.path($0)) }, bus), bus)
      #expect(good.ending == .exited(0), "\(good.errors)")
    }
  }

  /// Imports recordings into a bus; the folders of their exports.
  private func exports(of paths: [String], _ bus: TestBus) async throws -> [String] {
    let environment = try await shelf(bus, "one")
    var folders: [String] = []
    for (index, path) in paths.enumerated() {
      let done = try await bus.run("records", "import", path, "--json", environment: environment)
      let id = try #require(done.json.first?["runId"]?.string)
      _ = try await bus.run("records", "edit", id, "--title", "Río <&>", "--note", "a\nb", environment: environment)
      folders.append("\(bus.directory)/\(index)")
      try await export(["gpx", "tcx", "json"], to: folders[index], of: bus, environment)
      #expect(try await bus.run("records", "rm", id, "--yes", environment: environment).ending == .exited(0))
    }
    return folders
  }

  private func check(_ folders: [String], _ bus: TestBus) async throws -> NodeProcess.View {
    let script = Checkout.path("Tests/Processes/Clients/check_exports.py")
    let check = bus.spawn(
      executable: Checkout.python, [script] + folders, environment: ["PYTHONDONTWRITEBYTECODE": "1"])
    _ = try await check.ending(within: 90)
    return check.view
  }
}
