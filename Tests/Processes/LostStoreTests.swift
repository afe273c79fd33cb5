import Foundation
import RunBus
import Testing
import TestSupport

@Suite("A store that is gone or full")
struct LostStoreTests {
  @Test("When the phone's store is deleted, peers deliver what they still owe to the new one")
  func phoneStoreGone() async throws {
    try await withTestBus { bus in
      var crew = try Crew(bus, debounce: 20)
      for index in crew.members.indices { crew.spawn(index) }
      try await crew.areInTouch()
      crew.press(.start, on: Crew.watch)
      for member in crew.members { try await member.process.shows("running", revision: 1) }
      crew.press(.pause, on: Crew.watch2)
      for member in crew.members { try await member.process.shows("paused", revision: 2) }
      for index in [Crew.watch, Crew.watch2] {
        _ = try await crew.members[index].process.verdict(index == 1 ? "start" : "pause")
      }
      // The promises of the deleted store are forgiven.
      let old = Set(crew.members.flatMap { $0.process.view.stages($0.promise) }.compactMap(\.string))
      try await crew.kill(Crew.phone)
      crew.press(.resume, on: Crew.watch)
      crew.press(.stop, on: Crew.watch)
      crew.press(.lap, on: Crew.widget)
      for index in [Crew.watch, Crew.widget] { try await crew.isPromised(on: index) }
      let held = Set(crew.members.flatMap { $0.process.view.stages($0.promise) }.compactMap(\.string)).subtracting(old)
      #expect(held.count == 3)
      for index in [Crew.widget, Crew.watch2, Crew.watch] { try await crew.end(index) }
      try FileManager.default.removeItem(atPath: crew.members[Crew.phone].store)

      for index in crew.members.indices { crew.spawn(index) }
      try await crew.areInTouch()
      try await crew.drain()
      try await crew.end()
      let account = try CrewAccount(crew, forgiving: old, mayBeginAnew: true)
      account.expectAllIsWell()
      for id in held { #expect(account[id] != nil, "\(id)") }
      for id in old { #expect(account[id] == nil, "\(id)") }
    }
  }

  @Test("When a watch's store is deleted, it takes a new identity, and later presses on it count")
  func watchStoreGone() async throws {
    try await withTestBus { bus in
      var crew = try Crew(bus, debounce: 20)
      for index in crew.members.indices { crew.spawn(index) }
      try await crew.areInTouch()
      crew.press(.start, on: Crew.watch)
      _ = try await crew.members[Crew.watch].process.verdict("start")
      try await crew.kill(Crew.watch)
      try FileManager.default.removeItem(atPath: crew.members[Crew.watch].store)

      crew.spawn(Crew.watch)
      try await crew.members[Crew.watch].process.shows("running", revision: 1)
      crew.press(.pause, on: Crew.watch)
      #expect(try await crew.members[Crew.watch].process.verdict("pause")["receipt"]?.string == "applied")
      try await crew.areInTouch()
      try await crew.drain()
      try await crew.end()
      try CrewAccount(crew, mayBeginAnew: true).expectAllIsWell()
    }
  }

  @Test("A phone with a full disk reports it once, keeps running, and accepts everything when there is room")
  func fullDisk() async throws {
    try await withTestBus { bus in
      var crew = try Crew(bus, debounce: 20)
      // A disk in the process's own mount namespace, so that no mount can be left behind.
      let store = crew.members[Crew.phone].store
      try FileManager.default.createDirectory(
        atPath: store, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      let onOwnDisk = """
        mount -t tmpfs -o size=1m,mode=700 runbus "$0" && exec "$@"
        """
      let unshare = ["/usr/bin/env", "unshare", "--mount", "--propagation", "private", "/bin/sh", "-c"]
      let trial = bus.spawn(executable: unshare[0], unshare.dropFirst() + [onOwnDisk, store, "true"])
      guard try await trial.ending() == .exited(0) else {
        return print("not tested, because nothing can be mounted here: a full disk under the phone's store")
      }
      crew.members[Crew.phone].launcher = unshare + [onOwnDisk, store]
      for index in crew.members.indices { crew.spawn(index) }
      try await crew.areInTouch()
      crew.press(.start, on: Crew.watch)
      for member in crew.members { try await member.process.shows("running", revision: 1) }

      let phone = crew.members[Crew.phone].process
      let disk = try "/proc/\(#require(phone.view.processID))/root" + store
      let fill = try await bus.shell("cat /dev/zero > \(disk)/filler; ls \(disk)")
      #expect(fill.lines.contains("filler"), "\(fill.errors)")
      // Until nothing more fits into the space that the log already has.
      for _ in 0..<1000 where !crew.errors(of: Crew.phone).contains(where: { $0.contains("the disk is full") }) {
        crew.press(.pause, on: Crew.watch)
        crew.press(.resume, on: Crew.widget)
        crew.press(.lap, on: Crew.phone)
        // The peers' disks have room.
        for index in [Crew.watch, Crew.widget] { try await crew.isPromised(on: index) }
      }
      // The shell waits three seconds in vain; meanwhile the phone tries again and logs nothing new.
      crew.press(.pause, on: Crew.watch)
      try await crew.isPromised(on: Crew.watch)
      crew.visit(.lap)
      _ = try await crew.oneShots.last?.ending()
      #expect(crew.errors(of: Crew.phone).count { $0.contains("the disk is full") } == 1)
      #expect(phone.view.ending == nil)

      try FileManager.default.removeItem(atPath: disk + "/filler")
      try await crew.drain()
      let copy = bus.directory + "/copy"
      try FileManager.default.copyItem(atPath: disk, toPath: copy)
      try await crew.end()
      // The tables take over what the copied log holds.
      try NodeStore(directory: copy).close()
      try CrewAccount(crew, hubStore: copy + "/node.sqlite").expectAllIsWell()
    }
  }
}
