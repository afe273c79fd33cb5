import Foundation
import RunBus
import Testing
import TestSupport

/// A disk of one mebibyte, visible only to the process on it: a tmpfs in a mount namespace.
private struct SmallDisk {
  let place: String

  /// Describes a disk at a path.
  init(_ place: String) throws {
    self.place = place
    try FileManager.default.createDirectory(
      atPath: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  /// The command that makes a mount namespace; `nil` where that is not allowed.
  static let maker: [String]? = [["unshare", "-m"], ["unshare", "-rm"]].first { maker in
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = maker + ["mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  /// A command that mounts the disk and runs a line of shell on it.
  func command(_ line: String) -> [String] {
    (Self.maker ?? []) + ["/bin/bash", "-c", "mount -t tmpfs -o size=1m,mode=0700 tmpfs '\(place)' && \(line)"]
  }

  /// Fills the disk, from outside the namespace.
  func fill(of process: NodeProcess) throws {
    let file = try #require(fopen(path("fill", of: process), "w"))
    let block = [UInt8](repeating: 0, count: 1024)
    while fwrite(block, 1, block.count, file) == block.count, fflush(file) == 0 {}
    fclose(file)
  }

  /// Makes room on the disk again.
  func clear(of process: NodeProcess) throws {
    try FileManager.default.removeItem(atPath: path("fill", of: process))
  }

  private func path(_ name: String, of process: NodeProcess) throws -> String {
    "/proc/\(try #require(process.view.processID))/root\(place)/\(name)"
  }
}

@Suite("A disk that is full", .enabled("needs a mount namespace: unshare -m or -rm") { SmallDisk.maker != nil })
struct FullDiskTests {
  @Test("doctor finds a phone whose disk takes nothing, once a press waits for its verdict")
  func doctor() async throws {
    try await withTestBus { bus in
      let disk = try SmallDisk(bus.stateDirectory + "/runbus/default/phone")
      let command = disk.command("exec \"$BUSNODE\" phone --json --stdin --debounce 0")
      let phone = bus.spawn(executable: "/usr/bin/env", command)
      try await phone.snapshot("its first snapshot") { _ in true }
      try disk.fill(of: phone)
      phone.write("start")
      try await phone.wait(for: "the store that takes nothing") { view in
        view.errors.first { $0.contains("takes nothing now") }
      }
      let doctor = try await bus.run("doctor", "--json")
      #expect(doctor.ending == .exited(2))
      #expect(
        doctor.json.contains { $0["text"]?.string?.contains("its store takes nothing") == true }, "\(doctor.lines)")
      try disk.clear(of: phone)
      try await phone.snapshot("the run") { $0["phase"]?.string == "running" }
    }
  }

  @Test("Presses made while the phone's disk is full count once, in order, as soon as there is room")
  func phone() async throws {
    try await withTestBus { bus in
      let disk = try SmallDisk(bus.stateDirectory + "/runbus/default/phone")
      let command = disk.command("exec \"$BUSNODE\" phone --json --stdin --debounce 0")
      let phone = bus.spawn(executable: "/usr/bin/env", command)
      try await phone.snapshot("its first snapshot") { _ in true }
      let watch = bus.spawn("watch", "--json", "--stdin")
      watch.write("start")
      try await watch.shows("running", revision: 1)

      try disk.fill(of: phone)
      // Commits that fit into the existing log still succeed.
      var laps = 0
      while !phone.view.errors.contains(where: { $0.contains("the disk is full") }) {
        laps += 1
        try #require(laps < 1000, "the disk never was full")
        watch.write("lap")
        let kept = laps + 1
        try await watch.wait(for: "\(kept) presses kept") { $0.stages("queued").count >= kept ? true : nil }
        let marked = laps
        try await phone.wait(for: "lap \(marked), or its word that the disk is full") { view in
          let shown = view.json.last { $0["event"]?.string == "snapshot" }?["metrics"]?["lapCount"]?.int ?? 0
          return shown >= marked || view.errors.contains { $0.contains("the disk is full") } ? true : nil
        }
      }
      for _ in 1...5 { watch.write("lap") }
      laps += 5
      // The press is not reported as done: it waits where it was made.
      let shell = try await bus.run("send", "lap", "--timeout", "500ms")
      #expect(shell.ending == .exited(5), "\(shell.lines) \(shell.errors)")
      laps += 1
      #expect(phone.view.ending == nil)

      try disk.clear(of: phone)
      watch.write("pause")
      let shown = try await watch.shows("paused", revision: 2)
      try await phone.wait(for: "its word that it writes again") { view in
        view.errors.contains { $0.contains("the store takes what waited") } ? true : nil
      }
      let outbox = try await bus.run("outbox", "flush")
      #expect(outbox.ending == .exited(0), "\(outbox.lines) \(outbox.errors)")
      let state = try await bus.run("state", "--json")
      #expect(state.json.first?["metrics"]?["lapCount"]?.int == laps, "\(shown)")
      let verdicts = watch.view.json.filter { $0["event"]?.string == "verdict" }
      #expect(verdicts.allSatisfy { $0["receipt"]?.string == "applied" })
      #expect(Set(verdicts.compactMap { $0["commandId"]?.string }).count == laps + 1)
      for node in [watch, phone] {
        node.signal(SIGTERM)
        #expect(try await node.ending() == .exited(0), "\(node.view.errors)")
      }
    }
  }

  @Test("A press that does not fit on the spool's disk exits 74 and is not sent")
  func spool() async throws {
    try await withTestBus { bus in
      let disk = try SmallDisk(bus.stateDirectory + "/runbus/default/_spool")
      let phone = bus.spawn("phone", "--json", "--stdin", "--debounce", "0")
      try await phone.snapshot("its first snapshot") { _ in true }
      let line = "cat /dev/zero > '\(disk.place)/fill' 2>/dev/null; exec \"$BUSNODE\" send start"
      let send = bus.spawn(executable: "/usr/bin/env", disk.command(line))
      #expect(try await send.ending() == .exited(74), "\(send.view.lines) \(send.view.errors)")
      #expect(send.view.errors.count == 1 && send.view.lines.isEmpty, "\(send.view.errors)")
      phone.signal(SIGTERM)
      #expect(try await phone.ending() == .exited(0))
      #expect(phone.revisions.isSubset(of: [0]))
    }
  }
}
