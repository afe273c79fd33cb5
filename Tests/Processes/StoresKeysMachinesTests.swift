import Foundation
import GRDB
import RunWire
import Testing
import TestSupport
import SystemC

@testable import RunBus

@Suite("Keys that are gone or new, and machines with limits")
struct StoresKeysMachinesTests {
  private static func port() throws -> UInt16 { try #require(Loopback.freeFixedPorts()) }

  // Once broken: After `keys rotate --now` a watch could not be paired again without losing what waited there, because
  // `join` knew a hub by its key only.
  // Once broken: A phone that paired within a second of `keys rotate --now` took no device: the `join` went on for
  // ever, because the sockets of the pairing before had not closed yet, and were used again with the former key.
  @Test("After a stolen key of the phone the watch says why it is cut off, pairs again, and what waited there comes")
  func pairedAgain() async throws {
    try await withTestBus { bus in
      let machine = try PairedMachine("watch", on: bus)
      _ = try await bus.listeningPhone("--debounce", "0", port: try Self.port())
      try await machine.pair(on: bus, as: "watch-1")
      let watch = bus.spawn("watch", "--json", "--device", "watch-1", "--stdin", environment: machine.environment)
      _ = try await watch.event("the link") { $0["event"]?.string == "link" && $0["reachable"]?.bool == true }
      #expect(try await bus.run("send", "start").ending == .exited(0))
      #expect(try await bus.run("keys", "rotate", "--now").ending == .exited(0))
      let cut = try await watch.event("the reason") { $0["event"]?.string == "link" && $0["refusal"]?.string != nil }
      #expect(cut["refusal"]?.string?.contains("pair again") == true, "\(cut)")
      watch.write("lap")
      _ = try await watch.event("the press that waits") { $0["receipt"]?.string == "queued" }
      watch.signal(SIGTERM)
      #expect(try await watch.ending() == .exited(0))
      let before = try Self.stores(of: machine)
      try await machine.pair(on: bus, as: "watch-1")
      #expect(try Self.stores(of: machine) == before)
      let again = bus.spawn("watch", "--json", "--device", "watch-1", environment: machine.environment)
      defer { again.signal(SIGTERM) }
      _ = try await again.event("the verdict of the press that waited") {
        $0["command"]?.string == "lap" && $0["receipt"]?.string == "applied"
      }
    }
  }

  @Test("Another phone's line changes nothing for a paired machine, and leaves no keys behind")
  func anotherPhone() async throws {
    try await withTestBus { bus in
      let machine = try PairedMachine("watch", on: bus)
      _ = try await bus.listeningPhone("--debounce", "0", port: try Self.port())
      try await machine.pair(on: bus, as: "watch-1")
      let keys = try #require(machine.environment["XDG_STATE_HOME"] ?? nil) + "/runbus/_keys"
      let before = try Data(contentsOf: URL(filePath: keys + "/default.device"))
      let port = try Self.port()
      let other = bus.spawn(
        executable: TestBus.busnode,
        ["phone", "--json", "--bus", "other", "--listen", "tcp://127.0.0.1:\(port)"])
      _ = try await other.event("the other phone") { $0["event"]?.string == "snapshot" }
      let pair = bus.spawn("pair", "--yes", "--json", "--bus", "other")
      let line = try #require(try await pair.event("the line") { $0["step"]?.string == "open" }["line"]?.string)
      let join = bus.spawn("join", "--device", "watch-1", "--json", environment: machine.environment)
      join.write(line)
      #expect(try await join.ending() == .exited(65))
      #expect(join.view.errors.first?.contains("paired with another hub") == true, "\(join.view.errors)")
      _ = try await pair.ending()
      #expect(try FileManager.default.contentsOfDirectory(atPath: keys) == ["default.device"])
      #expect(try Data(contentsOf: URL(filePath: keys + "/default.device")) == before)
      #expect(try await bus.run("send", "start", environment: machine.environment).ending == .exited(0))
    }
  }

  // Once broken: A phone whose keys were gone made new ones, and all paired devices were left outside, because missing
  // keys were always a first start.
  @Test("A phone whose keys are gone while devices are paired does not make new ones unasked")
  func lostKeys() async throws {
    try await withTestBus { bus in
      let machine = try PairedMachine("watch", on: bus)
      let port = try Self.port()
      let phone = try await bus.listeningPhone(port: port)
      try await machine.pair(on: bus, as: "watch-1")
      phone.signal(SIGTERM)
      #expect(try await phone.ending() == .exited(0))
      let keys = try bus.runBusState() + "/_keys/default.hub"
      try FileManager.default.removeItem(atPath: keys)
      let listening = ["phone", "--json", "--listen", "tcp://127.0.0.1:\(port)"]
      let refused = bus.spawn(executable: TestBus.busnode, listening)
      #expect(try await refused.ending() == .exited(74), "\(refused.view)")
      #expect(refused.view.errors.first?.contains("1 device is paired") == true, "\(refused.view.errors)")
      #expect(!FileManager.default.fileExists(atPath: keys))
      let anew = bus.spawn(executable: TestBus.busnode, listening + ["--new-keys"])
      _ = try await anew.event("the phone") { $0["event"]?.string == "snapshot" }
      #expect(FileManager.default.fileExists(atPath: keys))
    }
  }

  // Once broken: `erase` of a bus whose directory is a symbolic link removed the link and said that nothing was left,
  // because a link was removed like a file.
  @Test("A bus whose directory is a symbolic link is not called erased")
  func linkedBus() async throws {
    try await withTestBus { bus in
      try await bus.leavePhone()
      let (state, elsewhere) = (try bus.runBusState() + "/default", bus.directory + "/elsewhere")
      try FileManager.default.moveItem(atPath: state, toPath: elsewhere)
      try FileManager.default.createSymbolicLink(atPath: state, withDestinationPath: elsewhere)
      let erase = try await bus.run("erase", "--bus", "default", "--yes")
      #expect(erase.ending == .exited(74), "\(erase.errors)")
      #expect(erase.errors.first?.contains(elsewhere) == true, "\(erase.errors)")
      #expect(!erase.lines.joined().contains("is left on this machine"))
      #expect(FileManager.default.fileExists(atPath: elsewhere + "/phone/node.sqlite"))
    }
  }

  // Once broken: SIGABRT from outside did not end a node, because all threads of Dispatch and libzmq block it.
  @Test("A watchdog's SIGABRT ends a node")
  func watchdog() async throws {
    try await withTestBus { bus in
      let phone = bus.spawn("phone", "--json")
      try await phone.snapshot("its first snapshot") { _ in true }
      phone.signal(SIGABRT)
      #expect(try await phone.ending() == .signaled(SIGABRT))
    }
  }

  // Once broken: `records ls --device` was silent for half a minute beside nodes that hang, because it waited for the
  // other devices, one after another, as long as for the one that was asked for.
  @Test("The records of one device are listed beside devices that hang")
  func hangingDevices() async throws {
    try await withTestBus { bus in
      try await bus.leavePhone()
      var hanging: [NodeProcess] = []
      for name in ["a", "b", "c"] {
        let node = bus.spawn("watch", "--json", "--device", "watch-\(name)")
        _ = try await node.event("its first line") { _ in true }
        node.signal(SIGSTOP)
        hanging.append(node)
      }
      defer { for node in hanging { node.signal(SIGCONT) } }
      // Each of them would have been waited for in turn: longer than this deadline, which is no measurement.
      let list = bus.spawn("records", "ls", "--device", "phone")
      #expect(try await list.ending(within: 12) == .exited(0), "\(list.view.errors)")
    }
  }

  @Test("The route of a long run is read whole beside a page, while it is played sixty times as fast")
  func routeBesidePage() async throws {
    try await withTestBus { bus in
      let phone = bus.spawn(
        "phone", "--json", "--stdin", "--synthetic", "--duration", "7200", "--speed", "60")
      try await phone.snapshot("its first snapshot") { _ in true }
      // What a page subscribes to.
      let page = bus.spawn("route", "--follow", "--json", "--timeout", "60")
      phone.write("start")
      _ = try await page.event("a point at 40 min") { $0["offsetSeconds"]?.number ?? 0 >= 2_400 }
      for _ in 0..<5 {
        let look = try await bus.run("route", "--json")
        #expect(look.ending == .exited(0), "\(look.errors)")
        #expect(look.json.count > 2_000)
        #expect(look.json.enumerated().allSatisfy { $1["index"]?.int == $0 })
      }
    }
  }

  @Test("No device is paired under the name of a shell, and a list that has one costs no command its press")
  func namesOfCommands() async throws {
    try await withTestBus { bus in
      let machine = try PairedMachine("watch", on: bus)
      let (port, arguments) = (try Self.port(), ["--debounce", "0"])
      let phone = try await bus.listeningPhone(arguments[0], arguments[1], port: port)
      for name in ["shell", "web-2"] {
        let join = bus.spawn("join", "--device", name, environment: machine.environment)
        join.write("runbus://127.0.0.1:\(port + 2)/?any")
        #expect(try await join.ending() == .exited(65))
        #expect(join.view.errors.contains { $0.contains("give the device another") }, "\(join.view.errors)")
      }
      try await machine.pair(on: bus, as: "watch-1")
      let renamed = try await bus.run("devices", "rename", "watch-1", "shell")
      #expect(renamed.ending == .exited(65) && renamed.errors.contains { $0.contains("another") }, "\(renamed)")
      phone.signal(SIGTERM)
      #expect(try await phone.ending() == .exited(0))
      // A list that was written before these names were kept.
      let store = try DatabaseQueue(path: try bus.runBusState() + "/default/phone/node.sqlite")
      try await store.write { db in
        let row = try #require(try Row.fetchOne(db, sql: "SELECT device FROM paired"))
        var device = try Codec.pairedDevice(try row.sealed("device"))
        #expect(device.deviceID == "watch-1")
        device.deviceID = "shell"
        try db.execute(sql: "UPDATE paired SET device = ?", arguments: [Data(Codec.stored(device))])
      }
      try store.close()
      _ = try await bus.listeningPhone(arguments[0], arguments[1], port: port)
      #expect(try await bus.run("devices", "--json").json.map { $0["deviceId"]?.string } == ["shell"])
      for kind in ["start", "lap"] {
        let sent = try await bus.run("send", kind, "--json")
        #expect(sent.ending == .exited(0) && sent.json.last?["receipt"]?.string == "applied", "\(sent)")
      }
    }
  }

  // Once broken: With too little address space or too few threads a node ended by a signal inside libzmq, because
  // nothing looked at these limits before.
  @Test(
    "With too little address space a node does not start; it names the limit, and doctor names it as well",
    .enabled(if: Sanitizer.present == nil))
  func addressSpace() async throws {
    try await withTestBus { bus in
      // Enough for the program, and not for the threads of a node.
      for command in ["phone", "watch"] {
        let node = bus.spawn(executable: "/bin/bash", ["-c", "ulimit -v 400000; exec \"$BUSNODE\" \(command)"])
        let ending = try await node.ending()
        #expect(ending == .exited(1), "\(node.view)")
        let said = node.view.errors.first ?? ""
        #expect(said.contains("ulimit -v"))
      }
      let doctor = bus.spawn(executable: "/bin/bash", ["-c", "ulimit -v 400000; exec \"$BUSNODE\" doctor"])
      let ending = try await doctor.ending()
      #expect(ending == .exited(2))
      let report = doctor.view.lines.joined(separator: "\n")
      #expect(report.contains("ulimit -v"))
    }
  }

  // Once broken: With `ulimit -v 120000` every command hung without a word, `--version` behind its line: Dispatch tries
  // without end to start a thread; only nodes looked at the limits before.
  @Test(
    "With too little address space for any command each of them ends with one line that names the limit",
    .enabled(if: Sanitizer.present == nil),
    arguments: ["state", "send lap", "doctor", "outbox", "state --json", "phone", "--version"])
  func littleSpace(command: String) async throws {
    try await withTestBus { bus in
      // Enough for the program to be loaded, and not for one more stack.
      let process = bus.spawn(executable: "/bin/bash", ["-c", "ulimit -v 140000; exec \"$BUSNODE\" \(command)"])
      process.closeInput()
      let status: Int32 = command == "doctor" ? 2 : 1
      let ending = try await process.ending()
      #expect(ending == .exited(status), "\(process.view)")
      #expect(process.view.errors.count == 1 && process.view.errors.first?.contains("ulimit -v") == true)
      #expect(process.view.lines == [])
    }
  }

  // Once broken: Keys that could not be read ended a command with 1, a store with 74 or 1, and a link in place of keys
  // was told as "too many levels of symbolic links", because the exit status came from the place that failed and not
  // from what failed.
  @Test("Keys that cannot be read are one line and exit status 74, whatever is in their place")
  func unreadableKeys() async throws {
    try await withTestBus { bus in
      let keys = try bus.runBusState() + "/_keys"
      let listener = "tcp://127.0.0.1:\(try Self.port())"
      for (name, commands) in [
        ("default.device", [["state"], ["send", "lap"], ["outbox"], ["watch"], ["keys"], ["join"]]),
        ("default.hub", [["phone", "--listen", listener], ["keys"]]),
      ] {
        for kind in ["pipe", "directory", "link", "socket", "open to others", "text", "long"] {
          let path = "\(keys)/\(name)"
          let make =
            switch kind {
            case "pipe": "mkfifo '\(path)'"
            case "directory": "mkdir '\(path)'"
            case "link": "ln -s /etc/hostname '\(path)'"
            case "socket": "python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' '\(path)'"
            case "open to others": "echo x > '\(path)'; chmod 644 '\(path)'"
            case "text": "umask 077; echo x > '\(path)'"
            default: "umask 077; head -c 100000 /dev/zero > '\(path)'"
            }
          let made = try await bus.shell("rm -rf '\(keys)'; mkdir -p -m 700 '\(keys)'; \(make)")
          #expect(made.errors == [])
          for command in commands {
            let process = bus.spawn(executable: TestBus.busnode, command)
            process.closeInput()
            #expect(try await process.ending() == .exited(74), "\(kind) \(command): \(process.view)")
            #expect(process.view.errors.count == 1, "\(process.view)")
            guard ["pipe", "directory", "link", "socket"].contains(kind) else { continue }
            #expect(process.view.errors == ["busnode: \(path) is not a file: move it away"], "\(kind) \(command)")
          }
        }
      }
    }
  }

  /// The directories of stores on a machine.
  private static func stores(of machine: PairedMachine) throws -> [String] {
    let state = try #require(machine.environment["XDG_STATE_HOME"] ?? nil) + "/runbus"
    let all = try FileManager.default.subpathsOfDirectory(atPath: state)
    return all.filter { $0.hasSuffix("node.sqlite") }.sorted()
  }
}
