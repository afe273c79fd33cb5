import Foundation
import RunBus
import TestSupport
import Testing

@Suite("Paired devices")
struct PairedTests {
  /// Three free ports in a row.
  private static func port() throws -> UInt16 { try #require(Loopback.freeFixedPorts()) }

  // Once broken: `pair` said that a phone that hung did not run, and of one that ended that its answer was unknown,
  // because silence counted as absence.
  @Test("A phone that hangs is not told as one that does not run, and one that ends during pairing is named")
  func hangingPhone() async throws {
    try await withTestBus { bus in
      let phone = try await bus.listeningPhone()
      phone.signal(SIGSTOP)
      let hung = try await bus.run("pair", "--yes")
      #expect(hung.ending == .exited(69) && hung.errors.first?.contains("does not answer") == true, "\(hung.errors)")
      phone.signal(SIGCONT)
      let pair = bus.spawn("pair", "--yes", "--json")
      _ = try await pair.event("the line") { $0["line"] != nil }
      phone.signal(SIGKILL)
      _ = try await phone.ending()
      _ = try await pair.ending()
      #expect(pair.view.errors.contains { $0.contains("does not run") || $0.contains("ended") }, "\(pair.view.errors)")
    }
  }

  @Test("A device is paired with a line, controls the run under its own bus name, and is cut off when it is revoked")
  func paired() async throws {
    try await withTestBus { bus in
      let watch = try PairedMachine("watch", on: bus)
      let phone = try await bus.listeningPhone("--debounce", "0", port: try Self.port())
      let line = try await watch.pair(on: bus, as: "watch-1")
      let node = bus.spawn("watch", "--json", environment: watch.environment)
      _ = try await node.event("the link") { $0["event"]?.string == "link" && $0["reachable"]?.bool == true }
      #expect(try await bus.run("send", "start", environment: watch.environment).ending == .exited(0))
      let snapshot = try await phone.snapshot("the run") { $0["phase"]?.string == "running" }
      #expect(snapshot["changedBy"]?["deviceId"]?.string == "watch-1")
      let listed = try await bus.run("devices", "--json")
      #expect(listed.json.map { $0["deviceId"]?.string } == ["watch-1"])
      // Nothing of it is in an argument, a log or an output, apart from the line itself.
      let secrets = try Self.secrets(of: watch.environment) + [String(try #require(line.split(separator: "=").last))]
      for secret in secrets {
        #expect(
          !(phone.view.lines + phone.view.errors + node.view.lines + node.view.errors).contains { $0.contains(secret) })
      }
      #expect(try await bus.run("devices", "revoke", "watch-1").ending == .exited(0))
      _ = try await node.event("the link that is cut") {
        $0["event"]?.string == "link" && $0["reachable"]?.bool == false
      }
      #expect(
        try await bus.run("send", "pause", "--timeout", "1500ms", "--no-queue", environment: watch.environment).ending
          == .exited(69))
      #expect(try await bus.run("send", "lap").ending == .exited(0))
    }
  }

  /// The secret keys in the key files of a machine.
  private static func secrets(of machine: [String: String?]) throws -> [String] {
    let path = try #require(machine["XDG_STATE_HOME"] ?? nil) + "/runbus/_keys/default.device"
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let found = text.split(separator: "\"").map(String.init).filter { $0.count == 64 }
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    // Public key, secret key, the hub's public key: in the order of their names.
    return [found[1]]
  }

  @Test("A press that waits on a paired machine reaches the phone at its new address, once it is told")
  func newAddress() async throws {
    try await withTestBus { bus in
      let watch = try PairedMachine("watch", on: bus)
      let (first, second) = (try Self.port(), try Self.port())
      let arguments = ["phone", "--json", "--debounce", "0", "--listen"]
      let phone = bus.spawn(
        executable: TestBus.busnode,
        arguments + ["tcp://127.0.0.1:\(first)", "--listen", "tcp://127.0.0.1:\(second)"])
      _ = try await phone.event("the phone") { $0["event"]?.string == "snapshot" }
      try await watch.pair(on: bus, as: "watch-1")
      let node = bus.spawn("watch", "--json", environment: watch.environment)
      _ = try await node.event("the link") { $0["event"]?.string == "link" && $0["reachable"]?.bool == true }
      phone.signal(SIGKILL)
      _ = try await phone.ending()
      #expect(
        try await bus.run("send", "start", "--timeout", "500ms", environment: watch.environment).ending == .exited(5))
      let next = bus.spawn(executable: TestBus.busnode, arguments + ["tcp://127.0.0.1:\(second)"])
      let snapshot = try await next.snapshot("the press") { $0["phase"]?.string == "running" }
      #expect(snapshot["changedBy"]?["deviceId"]?.string == "watch-1")
    }
  }

  @Test("A machine that was paired already, or was killed before it knew, is paired with its second attempt")
  func again() async throws {
    try await withTestBus { bus in
      let watch = try PairedMachine("watch", on: bus)
      _ = try await bus.listeningPhone("--debounce", "0", port: try Self.port())
      let line = try await watch.pair(on: bus, as: "watch-1")
      // The pairing port is closed by now: the control port tells that the key is paired.
      let join = bus.spawn("join", "--device", "watch-1", environment: watch.environment)
      join.write(line)
      #expect(try await join.ending() == .exited(0), "\(join.view)")
      // Its key was lost: it is paired anew, and the old key is taken back.
      try FileManager.default.removeItem(atPath: "\(bus.directory)/watch-state/runbus/_keys")
      try await watch.pair(on: bus, as: "watch-1", pairing: ["--replace"])
      let listed = try await bus.run("devices", "--json")
      #expect(listed.json.map { $0["revoked"]?.bool } == [false, true])
      #expect(try await bus.run("send", "start", environment: watch.environment).ending == .exited(0))
    }
  }

  @Test(
    "A line that is none is refused without being repeated",
    arguments: ["", "runbus://h:7072/?k=AA&t=AA", "https://example.org/?k=1&t=2", "runbus://h/?k=1"])
  func wrongLine(line: String) async throws {
    try await withTestBus { bus in
      let join = bus.spawn("join", "--device", "watch-1")
      join.write(line)
      let ending = try await join.ending()
      #expect(ending == .exited(65))
      #expect(
        join.view.errors.count == 1 && (line.isEmpty || !join.view.errors[0].contains(line)), "\(join.view.errors)")
    }
  }

  @Test("Without --yes and without a terminal nobody is paired, and pairing is closed")
  func unasked() async throws {
    try await withTestBus { bus in
      let watch = try PairedMachine("watch", on: bus)
      _ = try await bus.listeningPhone("--debounce", "0", port: try Self.port())
      let pair = bus.spawn("pair", "--no-qr")
      pair.closeInput()
      let line = try await pair.wait(for: "the line", within: 90) { $0.lines.first { $0.hasPrefix("runbus://") } }
      let join = bus.spawn("join", "--device", "watch-1", environment: watch.environment)
      join.write(line)
      #expect(try await join.ending() == .exited(65))
      #expect(join.view.errors.contains { $0.contains("refused") }, "\(join.view.errors)")
      #expect(try await pair.ending() == .exited(1))
      #expect(try await bus.run("devices", "--json").lines == [])
    }
  }

  /// A process that dies while a device is paired, and the moment.
  enum Death: String, CaseIterable, CustomTestStringConvertible {
    case joinWithKey = "join, when its key is on the disk"
    case joinComparing = "join, when it shows the digits"
    case pairOpen = "pair, when pairing is open"
    case pairAsking = "pair, when the device has shown the token"
    case phoneOpen = "the phone, when pairing is open"
    case phoneAsking = "the phone, when the device has shown the token"
    case phonePaired = "the phone, when the device is paired"

    var testDescription: String { rawValue }
  }

  @Test(
    "Whoever is killed at whichever step of pairing, the next attempt pairs the device, once", arguments: Death.allCases
  )
  func killed(death: Death) async throws {
    try await withTestBus { bus in
      let watch = try PairedMachine("watch", on: bus)
      let port = try Self.port()
      let phone = try await bus.listeningPhone("--debounce", "0", port: port)
      let pair = bus.spawn("pair", "--yes", "--json")
      let line = try #require(try await pair.event("the line") { $0["step"]?.string == "open" }["line"]?.string)
      let join = bus.spawn("join", "--device", "watch-1", "--json", environment: watch.environment)
      let file = try #require(watch.environment["XDG_STATE_HOME"] ?? nil) + "/runbus/_keys/default.device"
      func kill(_ process: NodeProcess) async throws {
        try await process.wait(for: "its process") { $0.processID }
        process.signal(SIGKILL)
        _ = try await process.ending()
      }
      switch death {
      case .pairOpen: try await kill(pair)
      case .phoneOpen: try await kill(phone)
      case .joinWithKey:
        join.write(line)
        try await Self.poll("the key") { FileManager.default.fileExists(atPath: file) }
        try await kill(join)
      case .joinComparing:
        join.write(line)
        _ = try await join.event("the digits") { $0["step"]?.string == "compare" }
        try await kill(join)
      case .pairAsking, .phoneAsking:
        join.write(line)
        _ = try await pair.wait(for: "the device") { $0.json.first { $0["step"]?.string == "asking" } }
        try await kill(death == .pairAsking ? pair : phone)
      case .phonePaired:
        join.write(line)
        _ = try await pair.event("the pairing") { $0["step"]?.string == "paired" }
        try await kill(phone)
      }
      for process in [join, pair] where process.view.ending == nil { try await kill(process) }
      if [.phoneOpen, .phoneAsking, .phonePaired].contains(death) {
        _ = try await bus.listeningPhone("--debounce", "0", port: port)
      }
      // The same line is enough when the phone had paired the key; else a new one is needed.
      let again = bus.spawn("join", "--device", "watch-1", "--json", environment: watch.environment)
      again.write(line)
      if try await bus.run("devices", "--json").lines.isEmpty {
        try await kill(again)
        try await watch.pair(on: bus, as: "watch-1")
      } else {
        #expect(try await again.ending() == .exited(0), "\(again.view)")
      }
      let listed = try await bus.run("devices", "--json")
      #expect(listed.json.map { $0["revoked"]?.bool } == [false])
      #expect(try await bus.run("send", "start", environment: watch.environment).ending == .exited(0))
    }
  }

  // Once broken: Ctrl-C just after `busnode pair` had printed its line was lost now and then; so was a signal to a node
  // that had just begun, because signals were ignored before they were watched.
  @Test("Ctrl-C closes pairing, however soon it comes")
  func interrupted() async throws {
    try await withTestBus { bus in
      _ = try await bus.listeningPhone("--debounce", "0", port: try Self.port())
      for _ in 0..<10 {
        let pair = bus.spawn("pair", "--yes", "--json")
        _ = try await pair.event("the line") { $0["step"]?.string == "open" }
        pair.signal(SIGINT)
        #expect([.exited(130), .signaled(SIGINT)].contains(try await pair.ending()), "\(pair.view)")
      }
    }
  }

  @Test("A pairing that is opened again ends the first one with a sentence, and only the second one pairs the device")
  func openedTwice() async throws {
    try await withTestBus { bus in
      _ = try await bus.listeningPhone("--debounce", "0", port: try Self.port())
      let first = bus.spawn("pair", "--yes", "--json", "--as", "first")
      _ = try await first.event("the first line") { $0["step"]?.string == "open" }
      let second = bus.spawn("pair", "--yes", "--json", "--as", "second")
      let offer = try await second.event("the second line") { $0["step"]?.string == "open" }
      let line = try #require(offer["line"]?.string)
      let watch = try PairedMachine("watch", on: bus)
      let join = bus.spawn("join", "--device", "watch-1", environment: watch.environment)
      join.write(line)
      #expect(try await join.ending() == .exited(0), "\(join.view)")
      #expect(try await second.ending() == .exited(0), "\(second.view)")
      #expect(try await first.ending() == .exited(1), "\(first.view)")
      #expect(first.view.errors.joined().contains("pairing was opened again"), "\(first.view.errors)")
      let devices = try await bus.run("devices", "--json")
      #expect(devices.json.map { $0["deviceId"]?.string } == ["second"])
    }
  }

  @Test("TCP without keys needs --insecure, and a node says so at each start")
  func insecure() async throws {
    try await withTestBus { bus in
      let address = "tcp://127.0.0.1:\(try Self.port())"
      for command in [["phone"], ["watch"], ["send", "start"], ["state"]] {
        let process = bus.spawn(executable: TestBus.busnode, command + ["--address", address])
        #expect(try await process.ending() == .exited(64))
        #expect(
          process.view.errors.count == 1 && process.view.errors[0].contains("--insecure"), "\(process.view.errors)")
      }
      let phone = bus.spawn("phone", "--json", "--address", address, environment: ["RUNBUS_INSECURE": "1"])
      _ = try await phone.event("the phone") { $0["event"]?.string == "snapshot" }
      #expect(phone.view.errors.count == 1 && phone.view.errors[0].contains("has no keys"), "\(phone.view.errors)")
      let sent = try await bus.run("send", "start", "--address", address, "--insecure")
      #expect(sent.ending == .exited(0) && sent.errors.isEmpty)
    }
  }

  @Test("devices works on a phone that does not run, and names what is wrong")
  func stoppedPhone() async throws {
    try await withTestBus { bus in
      let watch = try PairedMachine("watch", on: bus)
      let phone = try await bus.listeningPhone("--debounce", "0", port: try Self.port())
      try await watch.pair(on: bus, as: "watch-1")
      phone.signal(SIGTERM)
      _ = try await phone.ending()
      #expect(try await bus.run("devices", "sources", "watch-1", "watch").ending == .exited(0))
      #expect(try await bus.run("devices", "rename", "watch-1", "left").ending == .exited(0))
      #expect(try await bus.run("devices", "forget", "left").ending == .exited(65))
      #expect(try await bus.run("devices", "revoke", "left").ending == .exited(0))
      #expect(try await bus.run("devices", "revoke", "right").ending == .exited(65))
      #expect(try await bus.run("devices", "forget", "left").ending == .exited(0))
      #expect(try await bus.run("devices", "--json").lines == [])
      #expect(try await bus.run("pair", "--yes", "--json").ending == .exited(69))
    }
  }

  @Test(
    "A client in Python pairs and controls a run by the published wire alone",
    .enabled(if: Checkout.hasPython || ProcessInfo.processInfo.environment["CI"] != nil))
  func python() async throws {
    try await withTestBus { bus in
      let phone = try await bus.listeningPhone("--debounce", "0", port: try Self.port())
      let pair = bus.spawn("pair", "--yes", "--json")
      let line = try #require(try await pair.event("the line") { $0["step"]?.string == "open" }["line"]?.string)
      let keys = "\(bus.directory)/keys.json"
      let environment: [String: String?] = ["PYTHONDONTWRITEBYTECODE": "1"]
      let join = bus.spawn(
        executable: Checkout.python, [Checkout.path("examples/python/pair.py"), "--device", "py", "--keys", keys],
        environment: environment)
      join.write(line)
      let joined = try await join.ending()
      #expect(joined == .exited(0), "\(join.view)")
      #expect(join.view.lines.last == "paired as py")
      _ = try await pair.ending()
      let digits = pair.view.json.compactMap { $0["digits"]?.string }
      #expect(join.view.lines.first?.hasSuffix(digits.first ?? "none") == true, "\(join.view.lines)")
      #expect(try await bus.run("send", "start").ending == .exited(0))
      let watch = bus.spawn(
        executable: Checkout.python,
        [Checkout.path("examples/python/watch.py"), "--keys", keys, "--press", "pause", "--snapshots", "2"],
        environment: environment)
      let watched = try await watch.ending()
      #expect(watched == .exited(0), "\(watch.view)")
      let paused = try await phone.snapshot("the pause") { $0["phase"]?.string == "paused" }
      #expect(paused["changedBy"]?["deviceId"]?.string == "py")
    }
  }

  @Test("A machine and the phone change their keys, and the run goes on; a stolen key of the phone lets nobody in")
  func rotation() async throws {
    try await withTestBus { bus in
      let watch = try PairedMachine("watch", on: bus)
      _ = try await bus.listeningPhone("--debounce", "0", port: try Self.port())
      try await watch.pair(on: bus, as: "watch-1")
      let node = bus.spawn("watch", "--json", environment: watch.environment)
      _ = try await node.event("the link") { $0["event"]?.string == "link" && $0["reachable"]?.bool == true }
      func keys() async throws -> (hub: String?, own: String?) {
        let shown = try #require(try await bus.run("keys", "show", "--json", environment: watch.environment).json.first)
        return (shown["hubKey"]?.string, shown["deviceKey"]?.string)
      }
      let first = try await keys()
      #expect(try await bus.run("keys", "rotate", environment: watch.environment).ending == .exited(0))
      try await Self.poll("the machine's next key") { try await keys().own != first.own }
      #expect(try await bus.run("send", "start", environment: watch.environment).ending == .exited(0))
      let listed = try await bus.run("devices", "--json")
      #expect(listed.json.map { $0["key"]?.string } == [try await keys().own])
      #expect(try await bus.run("keys", "rotate").ending == .exited(0))
      try await Self.poll("the phone's next key") { try await keys().hub != first.hub }
      #expect(try await bus.run("send", "lap", environment: watch.environment).ending == .exited(0))
      #expect(try await bus.run("keys", "rotate", "--now").ending == .exited(0))
      #expect(
        try await bus.run("send", "stop", "--no-queue", "--timeout", "1500ms", environment: watch.environment).ending
          == .exited(69)
      )
      #expect(try await bus.run("send", "lap").ending == .exited(0))
    }
  }

  /// Asks until something holds.
  private static func poll(_ what: String, _ holds: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(90)
    while try await !holds() {
      guard ContinuousClock.now < deadline else {
        Issue.record("waited in vain for \(what)")
        return
      }
      try await Task.sleep(for: .milliseconds(100))
    }
  }

  @Test(
    "Strangers, and a paired device that is wrong, are refused whatever they try, and the run goes on beside them",
    .enabled("needs scripts/bootstrap --python") { Checkout.hasPython })
  func attacks() async throws {
    try await withTestBus { bus in
      let attacks = bus.spawn(
        executable: Checkout.python,
        [Checkout.path("Tests/Processes/Clients/attacks.py"), "--busnode", TestBus.busnode, "--seconds", "0.5"],
        environment: ["PYTHONDONTWRITEBYTECODE": "1"], ownsGroup: true)
      let ended = try await attacks.ending(within: 400)
      #expect(ended == .exited(0), "\(attacks.view.lines.dropLast().joined(separator: "\n")) \(attacks.view.errors)")
    }
  }

  @Test("A phone that listens at all interfaces is reached by IPv4 and by IPv6", arguments: ["127.0.0.1", "::1"])
  func families(host: String) async throws {
    guard host == "127.0.0.1" || FileManager.default.fileExists(atPath: "/proc/net/if_inet6") else { return }
    try await withTestBus { bus in
      let watch = try PairedMachine("watch", on: bus)
      let port = try Self.port()
      let phone = bus.spawn("phone", "--json", "--debounce", "0", "--listen", "tcp://*:\(port)")
      _ = try await phone.event("the phone") { $0["event"]?.string == "snapshot" }
      try await watch.pair(on: bus, as: "watch-1", pairing: ["--host", host])
      let node = bus.spawn("watch", "--json", environment: watch.environment)
      _ = try await node.event("the link") { $0["event"]?.string == "link" && $0["reachable"]?.bool == true }
      #expect(try await bus.run("send", "start", environment: watch.environment).ending == .exited(0))
      _ = try await node.snapshot("the run") { $0["phase"]?.string == "running" }
    }
  }
}
