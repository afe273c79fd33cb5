import Foundation
import GRDB
import RunBus
import Testing
import TestSupport
import SystemC

@Suite("Looking for what is wrong on a machine")
struct DoctorTests {
  /// The findings of `busnode doctor`, and its exit status.
  private static func findings(
    _ bus: TestBus, _ more: String...
  ) async throws -> (status: NodeProcess.Ending?, bad: [String], all: [JSONValue]) {
    let doctor = bus.spawn(executable: TestBus.busnode, ["doctor", "--json"] + more)
    let ending = try await doctor.ending()
    let all = doctor.view.json
    #expect(doctor.view.errors.isEmpty, "\(doctor.view.errors)")
    return (ending, all.filter { $0["level"]?.string == "bad" }.compactMap { $0["text"]?.string }, all)
  }

  @Test("On a good machine nothing is bad, whether or not nodes run, and nothing is changed")
  func good() async throws {
    try await withTestBus { bus in
      #expect(try await Self.findings(bus).bad == [])
      try await bus.leavePhone()
      let file = try bus.runBusState() + "/default/phone/node.sqlite"
      let before = try Data(contentsOf: URL(fileURLWithPath: file))
      let found = try await Self.findings(bus)
      #expect(found.bad == [] && found.all.contains { $0["text"]?.string?.contains("its store is sound") == true })
      #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
      // What pair refuses is no fault, and is told.
      #expect(found.all.contains { $0["text"]?.string?.hasPrefix("none runs here") == true })
      let phone = bus.spawn("phone", "--json")
      _ = try await phone.event("the phone") { $0["event"]?.string == "snapshot" }
      let alone = try await Self.findings(bus)
      #expect(alone.bad == [] && alone.all.contains { $0["subject"]?.string == "pairing" })
      #expect(try await bus.run("pair", "--yes", "--json").ending == .exited(1))
      let watch = bus.spawn("watch", "--json")
      _ = try await watch.wait(for: "the watch") { $0.json.first }
      let running = try await Self.findings(bus)
      #expect(running.all.contains { $0["text"]?.string?.hasPrefix("watch runs and answers") == true })
    }
  }

  @Test("Each wrong thing is one line that says what to do, and the status is 2")
  func bad() async throws {
    try await withTestBus { bus in
      try await bus.leavePhone()
      let state = try bus.runBusState()
      let busDirectory = state + "/default"
      #expect(chmod(busDirectory, 0o775) == 0 && chmod(state + "/_keys/default.hub", 0o644) == 0)
      let damaged = try #require(FileHandle(forUpdatingAtPath: busDirectory + "/phone/node.sqlite"))
      try damaged.seek(toOffset: 8192)
      try damaged.write(contentsOf: Data(repeating: 0x5A, count: 2048))
      try damaged.close()
      let port = try #require(Loopback.freeFixedPorts())
      let other = bus.spawn("phone", "--json", "--bus", "other", "--listen", "tcp://127.0.0.1:\(port)")
      _ = try await other.event("the other phone") { $0["event"]?.string == "snapshot" }
      let found = try await Self.findings(bus, "--listen", "tcp://127.0.0.1:\(port)")
      #expect(found.status == .exited(2))
      let patterns = [
        "chmod 700 '\(busDirectory)'", "chmod 600 '\(state)/_keys/default.hub'", "is damaged",
        "(control) cannot be used",
        "(events) cannot be used",
      ]
      for pattern in patterns { #expect(found.bad.count { $0.contains(pattern) } == 1, "\(pattern): \(found.bad)") }
      #expect(found.bad.count == patterns.count, "\(found.bad)")
    }
  }

  // Once broken: `doctor` on a paired machine said ok when its key had been taken back, and when the phone had another
  // key, because it only tried whether the port accepts connections.
  // Once broken: `busnode phone` on a machine that was paired as a watch began a second bus, which no command showed,
  // because a phone did not look whether the name was another phone's.
  @Test("A paired machine is told when its phone cannot be reached")
  func unreachable() async throws {
    try await withTestBus { bus in
      let phone = try await bus.listeningPhone()
      let watch = try PairedMachine("watch", on: bus)
      try await watch.pair(on: bus)
      func phoneLine() async throws -> String? {
        let doctor = bus.spawn("doctor", "--json", environment: watch.environment)
        _ = try await doctor.ending()
        return doctor.view.json.first { $0["subject"]?.string == "phone" }?["level"]?.string
      }
      #expect(try await phoneLine() == "ok")
      phone.signal(SIGTERM)
      _ = try await phone.ending()
      #expect(try await phoneLine() == "warn")
    }
  }

  @Test("A directory that others may enter is refused with the command that mends it, and is left as it is")
  func openDirectory() async throws {
    try await withTestBus { bus in
      let parent = bus.runtimeDirectory + "/runbus"
      try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
      #expect(chmod(parent, 0o770) == 0)
      let phone = bus.spawn("phone")
      #expect(try await phone.ending() == .exited(1))
      #expect(phone.view.errors.count == 1 && phone.view.errors[0].contains("chmod 700 '\(parent)'"))
      #expect(try FileManager.default.attributesOfItem(atPath: parent)[.posixPermissions] as? Int == 0o770)
    }
  }

  // MARK: What a start refuses

  /// Something that is broken on a machine, and the command that refuses to start because of it.
  enum Broken: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case runtimeOpen, runtimeFile, lockDirectory, socketFile, doorFile, watchDoorFile, stateFile, storeDirectory,
      storeLock, newerStore, peersStore, hubsStore, hubKeysDamaged, hubKeysOpen, keyDirectoryOpen, keyDirectoryFile,
      deviceKeysDamaged

    var testDescription: String { rawValue }

    var command: [String] {
      switch self {
      case .watchDoorFile, .hubsStore, .deviceKeysDamaged: ["watch"]
      case .keyDirectoryFile: ["join"]
      case .hubKeysDamaged, .hubKeysOpen, .keyDirectoryOpen: ["phone", "--listen", "tcp://127.0.0.1:"]
      default: ["phone"]
      }
    }

    /// Breaks it, on a machine whose phone has run.
    func happen(state: String, runtime: String) throws {
      let files = FileManager.default
      func put(_ path: String, _ text: String = "x", mode: Int = 0o600) throws {
        try? files.removeItem(atPath: path)
        #expect(files.createFile(atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: mode]))
      }
      func folder(_ path: String) throws {
        try? files.removeItem(atPath: path)
        try files.createDirectory(atPath: path, withIntermediateDirectories: true)
      }
      switch self {
      case .runtimeOpen: #expect(chmod(runtime, 0o770) == 0)
      case .runtimeFile: try put(runtime)
      case .lockDirectory: try folder(runtime + "/default/hub.lock")
      case .socketFile: try put(runtime + "/default/control.sock")
      case .doorFile: try put(runtime + "/default/phone.door")
      case .watchDoorFile: try put(runtime + "/default/watch.door")
      case .stateFile: try put(state + "/default/phone")
      case .storeDirectory: try folder(state + "/default/phone/node.sqlite")
      case .storeLock: try folder(state + "/default/phone/lock")
      case .newerStore:
        let store = try #require(FileHandle(forUpdatingAtPath: state + "/default/phone/node.sqlite"))
        // SQLite's user_version: the complement of the version, and the version.
        try store.seek(toOffset: 60)
        var mark = Array(try #require(try store.read(upToCount: 4)))
        (mark[1], mark[3]) = (mark[1] - 1, mark[3] + 1)
        try store.seek(toOffset: 60)
        try store.write(contentsOf: mark)
        try store.close()
      case .peersStore:
        try folder(state + "/default/phone")
        try files.removeItem(atPath: state + "/default/phone")
        try files.moveItem(atPath: state + "/default/watch", toPath: state + "/default/phone")
      case .hubsStore:
        try files.removeItem(atPath: state + "/default/watch")
        try files.moveItem(atPath: state + "/default/phone", toPath: state + "/default/watch")
      case .hubKeysDamaged: try put(state + "/_keys/default.hub", "{")
      case .hubKeysOpen: #expect(chmod(state + "/_keys/default.hub", 0o644) == 0)
      case .keyDirectoryOpen: #expect(chmod(state + "/_keys", 0o755) == 0)
      case .keyDirectoryFile: try put(state + "/_keys")
      case .deviceKeysDamaged: try put(state + "/_keys/default.device", "{")
      }
    }
  }

  // Once broken: `doctor` called a damaged key file of the phone "none: no machine is paired", and `keys show` found no
  // keys, because the reader took what it could not decode for nothing.
  // Once broken: `doctor` said ok where nothing could start: a user without a home, a state directory that cannot be
  // written, a file where a directory must be, files where sockets must be, a store of another role.
  // Once broken: `doctor`, which changes nothing, left two files beside the store of a node that did not run, because
  // SQLite makes them to read a file with a log, and leaves them when it may not write.
  @Test("What a command refuses to start for, doctor reports, and changes nothing", arguments: Broken.allCases)
  func refusedStart(broken: Broken) async throws {
    try await withTestBus { bus in
      try await bus.leavePhone()
      let watch = bus.spawn("watch", "--json")
      _ = try await watch.wait(for: "the watch") { $0.json.first }
      watch.signal(SIGTERM)
      _ = try await watch.ending()
      let (state, runtime) = (try bus.runBusState(), bus.runtimeDirectory + "/runbus")
      try broken.happen(state: state, runtime: runtime)
      var command = broken.command
      if command.last?.hasSuffix(":") == true { command[2] += "\(try #require(Loopback.freeFixedPorts()))" }
      func present() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: bus.directory).filter { !$0.hasSuffix("/lock") }.sorted()
      }
      let before = try present()
      let found = try await Self.findings(bus)
      #expect(try present() == before)
      #expect(found.status == .exited(2), "\(found.all)")
      let refused = bus.spawn(executable: TestBus.busnode, command)
      refused.closeInput()
      _ = try await refused.ending(within: 30)
      let reason = try #require(refused.view.errors.last).replacingOccurrences(of: "busnode: ", with: "")
      #expect(refused.view.ending != .exited(0))
      #expect(found.bad.contains(reason), "\(reason): \(found.bad)")
    }
  }

  @Test(
    "A user without a home, and one whose directories are another's, are told; nothing can start there",
    .enabled("needs root and setpriv") {
      geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")
    }, arguments: ["no home", "read-only", "foreign"])
  func unprivileged(kind: String) async throws {
    try await withTestBus { bus in
      // The user must reach the program, and nothing else of this test.
      let program = bus.directory + "/busnode"
      try FileManager.default.copyItem(atPath: TestBus.busnode, toPath: program)
      #expect(chmod(bus.directory, 0o755) == 0 && chmod(program, 0o755) == 0)
      let runtime = bus.directory + "/user-run"
      try FileManager.default.createDirectory(
        atPath: runtime, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      #expect(chown(runtime, 65534, 65534) == 0)
      let state = bus.directory + "/others-state"
      if kind != "no home" {
        let mode = kind == "foreign" ? 0o777 : 0o755
        try FileManager.default.createDirectory(
          atPath: state + "/runbus/default", withIntermediateDirectories: true)
        for path in [state, state + "/runbus", state + "/runbus/default"] { #expect(chmod(path, mode_t(mode)) == 0) }
      }
      let environment: [String: String?] = [
        "XDG_RUNTIME_DIR": runtime, "XDG_STATE_HOME": kind == "no home" ? nil : state, "HOME": "/nonexistent",
      ]
      func run(_ words: String...) async throws -> NodeProcess.View {
        let process = bus.spawn(
          executable: "/usr/bin/setpriv",
          ["--reuid", "65534", "--regid", "65534", "--clear-groups", program] + words, environment: environment)
        process.closeInput()
        _ = try await process.ending()
        return process.view
      }
      let doctor = try await run("doctor", "--json")
      #expect(doctor.ending == .exited(2), "\(doctor)")
      let bad = doctor.json.filter { $0["level"]?.string == "bad" }.compactMap { $0["text"]?.string }
      #expect(bad.contains { $0.contains("export XDG_STATE_HOME=/tmp/runbus-state") }, "\(bad)")
      #expect(!bad.contains { $0.contains("XDG_RUNTIME_DIR") }, "\(bad)")
      guard kind != "foreign" else { return }
      let phone = try await run("phone")
      let reason = try #require(phone.errors.last).replacingOccurrences(of: "busnode: ", with: "")
      #expect(phone.ending == .exited(74) && bad.contains(reason), "\(reason): \(bad)")
    }
  }

  // MARK: Keys, and phones that take nothing

  @Test("A paired machine is told that its key was taken back, that the phone has another key, and of its own phone")
  func paired() async throws {
    try await withTestBus { bus in
      _ = try await bus.listeningPhone()
      let watch = try PairedMachine("watch", on: bus)
      try await watch.pair(on: bus)
      func phoneLine() async throws -> (level: String?, text: String) {
        let doctor = bus.spawn("doctor", "--json", environment: watch.environment)
        _ = try await doctor.ending()
        let lines = doctor.view.json.filter { $0["subject"]?.string == "phone" }
        let worst = lines.first { $0["level"]?.string == "bad" } ?? lines.last
        return (worst?["level"]?.string, worst?["text"]?.string ?? "")
      }
      #expect(try await phoneLine().level == "ok")

      // A phone of its own would begin a bus that no command here finds.
      for command in [["phone"], ["up", "--bus", "default", "--plain"]] {
        let refused = bus.spawn(executable: TestBus.busnode, command, environment: watch.environment)
        refused.closeInput()
        #expect(try await refused.ending() == .exited(1), "\(refused.view)")
        #expect(refused.view.errors.count == 1 && refused.view.errors[0].contains("this machine is paired as watch"))
      }
      let own = bus.spawn("phone", "--json", "--anyway", environment: watch.environment)
      _ = try await own.event("its own phone") { $0["event"]?.string == "snapshot" }
      let found = try await phoneLine()
      #expect(found.level == "bad" && found.text.contains("is such a phone"), "\(found)")
      let other = bus.spawn("join", "--bus", "default", environment: watch.environment)
      other.closeInput()
      #expect(try await other.ending() == .exited(75), "\(other.view)")
      own.signal(SIGTERM)
      _ = try await own.ending()

      #expect(try await bus.run("devices", "revoke", "watch").ending == .exited(0))
      let revoked = try await phoneLine()
      #expect(revoked.level == "bad" && revoked.text.contains("does not let this key in"), "\(revoked)")
      #expect(try await bus.run("keys", "rotate", "--now").ending == .exited(0))
      let rotated = try await phoneLine()
      #expect(rotated.level == "bad" && rotated.text.contains("has not the key of the hub"), "\(rotated)")
    }
  }

  // Once broken: `doctor` said ok when the phone's key file was gone and devices were paired: they can never connect
  // again, because keys and the list of devices were looked at apart.
  @Test("A phone is told that its key is gone while devices are paired, whether it runs or not")
  func keyGone() async throws {
    try await withTestBus { bus in
      let phone = try await bus.listeningPhone()
      try await PairedMachine("watch", on: bus).pair(on: bus)
      #expect(try await Self.findings(bus).bad == [])
      try FileManager.default.removeItem(atPath: try bus.runBusState() + "/_keys/default.hub")
      for _ in ["it runs", "it has ended"] {
        let found = try await Self.findings(bus)
        #expect(found.bad.count == 1 && found.bad[0].contains("1 paired device"), "\(found.bad)")
        phone.signal(SIGTERM)
        _ = try await phone.ending()
      }
      // A phone that makes another key says what that means.
      let port = try #require(Loopback.freeFixedPorts())
      let again = bus.spawn("phone", "--json", "--new-keys", "--listen", "tcp://127.0.0.1:\(port)")
      try await again.wait(for: "the warning") { view in
        view.errors.first { $0.contains("1 paired devices cannot connect") }
      }
    }
  }

  // Once broken: `doctor` said ok for a phone that ran and took nothing: a full disk, sockets that had been deleted, a
  // list of devices that nobody had confirmed, because it asked for the outbox only, which a phone answers in any
  // state.
  @Test("A phone that runs and takes nothing is found: its sockets are gone, or its list waits to be confirmed")
  func takesNothing() async throws {
    try await withTestBus { bus in
      try await bus.leavePhone()
      let store = try DatabaseQueue(path: try bus.runBusState() + "/default/phone/node.sqlite")
      try await store.write { db in
        try db.execute(sql: "INSERT OR REPLACE INTO paired_version (one, version, heard) VALUES (1, 1, 2)")
      }
      try store.close()
      _ = try await bus.listeningPhone()
      let behind = try await Self.findings(bus)
      #expect(behind.bad.count == 1 && behind.bad[0].contains("busnode devices confirm"), "\(behind.bad)")
      #expect(try await bus.run("devices", "confirm").ending == .exited(0))
      #expect(try await Self.findings(bus).bad == [])
      try FileManager.default.removeItem(atPath: bus.runtimeDirectory + "/runbus/default/control.sock")
      let cut = try await Self.findings(bus)
      #expect(cut.bad.count == 1 && cut.bad[0].contains("can be asked nothing"), "\(cut.bad)")
    }
  }

  @Test(
    "Another user's process gets no answer, also when somebody has opened the directory of the sockets",
    .enabled("needs root and scripts/bootstrap --python") { geteuid() == 0 && Checkout.hasPython })
  func otherUser() async throws {
    try await withTestBus { bus in
      let phone = bus.spawn("phone", "--json")
      _ = try await phone.event("the phone") { $0["event"]?.string == "snapshot" }
      let directory = bus.runtimeDirectory + "/runbus/default"
      for path in [bus.directory, bus.runtimeDirectory, bus.runtimeDirectory + "/runbus", directory] {
        #expect(chmod(path, 0o755) == 0)
      }
      let sockets = ["control.sock", "events.sock", "phone.door"]
      // A phone shows its first snapshot before its sockets are open.
      try await lookFor("the sockets") {
        sockets.allSatisfy { FileManager.default.fileExists(atPath: "\(directory)/\($0)") }
      }
      for socket in sockets { #expect(chmod("\(directory)/\(socket)", 0o777) == 0) }
      for user in ["0", "65534"] {
        let client = bus.spawn(
          executable: Checkout.python,
          [Checkout.path("Tests/Processes/Clients/other_user.py"), user] + sockets.map { "\(directory)/\($0)" },
          environment: ["PYTHONDONTWRITEBYTECODE": "1"])
        #expect(try await client.ending() == .exited(0), "\(client.view.errors)")
        #expect(client.view.lines == [user == "0" ? "connected 3" : "connected 0"], "\(client.view)")
      }
    }
  }

  @Test("check is one line: green while the phone runs, and red with the worst of what is wrong otherwise")
  func check() async throws {
    try await withTestBus { bus in
      let phone = bus.spawn("phone", "--json")
      _ = try await phone.event("the phone") { $0["event"]?.string == "snapshot" }
      let green = try await bus.run("check")
      // The machine of a test may have little memory or many processes, which is a warning.
      #expect(green.lines.count == 1 && green.lines.first?.hasPrefix("CRITICAL") == false, "\(green.lines)")
      phone.signal(SIGTERM)
      #expect(try await phone.ending() == .exited(0))
      let red = try await bus.run("check")
      #expect(red.ending == .exited(2) && red.lines.count == 1)
      #expect(red.lines.first?.hasPrefix("CRITICAL: phone: no phone of bus") == true, "\(red.lines)")
      #expect(chmod(try bus.runBusState() + "/default", 0o775) == 0)
      let worse = try await bus.run("check", "--json")
      #expect(worse.json.first?["status"]?.string == "bad" && worse.json.first?["more"]?.int == 1, "\(worse.json)")
    }
  }
}
