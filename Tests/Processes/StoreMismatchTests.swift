import Foundation
import GRDB
import RunWire
import Testing
import TestSupport

@testable import RunBus

@Suite("A store of another role or version: busnode exits 65 with one line and leaves it as it is")
struct StoreMismatchTests {
  private func store(of device: String, on bus: TestBus) -> String { bus.stateDirectory + "/runbus/default/\(device)" }

  /// The bytes of all files of a store.
  private func contents(_ directory: String) throws -> [String: Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: directory)
    return try Dictionary(
      uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(filePath: "\(directory)/\($0)"))) })
  }

  /// Lets a node make its store and end in good order.
  private func live(_ role: String, on bus: TestBus) async throws {
    let node = try await bus.run(role, "--stdin")
    #expect(node.ending == .exited(0), "\(node.errors)")
  }

  @Test(
    "A phone refuses the store of a watch, and a watch that of a phone",
    arguments: [("phone", "watch", "hub", "peer"), ("watch", "phone", "peer", "hub")])
  func role(of device: String, other: String, holds: String, node: String) async throws {
    try await withTestBus { bus in
      try await live(device, on: bus)
      let directory = store(of: device, on: bus)
      let before = try contents(directory)
      let message =
        "the store in \(directory) holds the history of a \(holds), and this node is a \(node): "
        + "give this node another device name or another directory; nothing was changed"
      let refused = try await bus.run(other, "--device", device)
      #expect(refused.ending == .exited(65))
      #expect(refused.errors == ["busnode: \(message)"] && refused.lines == [])
      let json = try await bus.run(other, "--device", device, "--json")
      #expect(json.ending == .exited(65) && json.errors.count == 1)
      let error = JSONValue(text: json.errors.first ?? "")?["error"]
      #expect(error?["code"]?.string == "storeMismatch" && error?["message"]?.string == message)
      #expect(error?["exitCode"]?.int == 65)
      #expect(try contents(directory) == before)
      // Commands that look into stores look into both kinds.
      #expect(try await bus.run("outbox").ending == .exited(0))
      try await live(device, on: bus)
    }
  }

  @Test(
    "Every command that opens stores refuses one of another version",
    arguments: [("older", 0), ("newer", StoreMark(version: StoreSchema.version + 1).number)])
  func version(of word: String, mark: Int32) async throws {
    try await withTestBus { bus in
      for device in ["phone", "watch"] {
        try await live(device, on: bus)
        let path = store(of: device, on: bus) + "/node.sqlite"
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes.replaceSubrange(60..<64, with: withUnsafeBytes(of: mark.bigEndian) { Data($0) })
        try bytes.write(to: URL(filePath: path))
      }
      let before = try ["phone", "watch"].map { try contents(store(of: $0, on: bus)) }
      func line(_ device: String) -> String {
        "the store in \(store(of: device, on: bus)) was written by \(word == "older" ? "an older" : "a newer") RunBus"
      }
      for command in [["phone"], ["watch"], ["records"]] {
        let process = bus.spawn(executable: TestBus.busnode, command)
        process.closeInput()
        #expect(try await process.ending() == .exited(65), "\(command)")
        #expect(process.view.errors.count == 1 && process.view.lines == [], "\(command): \(process.view.errors)")
        let device = command == ["watch"] ? "watch" : "phone"
        #expect(process.view.errors.first?.hasPrefix("busnode: \(line(device))") == true, "\(process.view.errors)")
      }
      for command in [["outbox"], ["outbox", "quarantine"], ["outbox", "cancel", "1f0a2b3c"]] {
        let process = bus.spawn(executable: TestBus.busnode, command)
        process.closeInput()
        #expect(try await process.ending() == .exited(65), "\(command)")
        // A line for each store.
        #expect(process.view.lines == [] && process.view.errors.count == 2, "\(command): \(process.view.errors)")
        for (device, error) in zip(["phone", "watch"], process.view.errors) {
          #expect(error.hasPrefix("busnode: \(device): \(line(device))"), "\(error)")
        }
      }
      #expect(try ["phone", "watch"].map { try contents(store(of: $0, on: bus)) } == before)
    }
  }
  @Test("A store in which something of a newer version waits is refused, and no byte of it changes")
  func laterKind() async throws {
    try await withTestBus { bus in
      for device in ["phone", "watch"] {
        try await live(device, on: bus)
        let directory = store(of: device, on: bus)
        let queue = try DatabaseQueue(path: directory + "/node.sqlite")
        try await queue.write { db in
          // A stored item that has nothing but the field 100.
          let item = Data(Codec.seal([0xA2, 0x06, 2, 7, 7]))
          try db.execute(
            sql: "INSERT INTO outbox (position, item, since, flags, tries) VALUES (1, ?, 0, 0, 0)", arguments: [item])
        }
        try queue.close()
        let before = try contents(directory)
        for command in [device, "outbox"] {
          let refused = try await bus.run(command)
          #expect(refused.ending == .exited(65), "\(command): \(refused)")
          #expect(refused.errors.contains { $0.contains("something to send of a newer RunBus: update this one") })
        }
        #expect(try contents(directory) == before)
      }
    }
  }
}
