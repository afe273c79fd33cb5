import Foundation
import RunBus
import TestSupport
import Testing

@Suite("Files of keys")
struct KeyFilesTests {
  private func withFiles(_ body: (KeyFiles) throws -> Void) throws {
    let directory = "/tmp/rbk-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try body(KeyFiles(directory: directory + "/_keys"))
  }

  private func refuses(_ files: KeyFiles, _ expected: String) {
    do throws(RunBusError) {
      _ = try files.read("a.hub")
      Issue.record("the keys were read")
    } catch {
      #expect(error.code == .store && error.message.contains(expected), "\(error)")
    }
  }

  @Test("Keys are kept for their owner only, and replaced whole")
  func kept() throws {
    try withFiles { files in
      #expect(try files.read("a.hub") == nil)
      try files.write([1, 2, 3], as: "a.hub")
      try files.write([4], as: "a.hub")
      #expect(try files.read("a.hub") == [4])
      #expect(try FileManager.default.contentsOfDirectory(atPath: files.directory) == ["a.hub"])
      let mode = try FileManager.default.attributesOfItem(atPath: files.directory + "/a.hub")[.posixPermissions] as? Int
      #expect(mode == 0o600)
      try files.remove("a.hub")
      try files.remove("a.hub")
      #expect(try files.read("a.hub") == nil)
    }
  }

  @Test("Keys that others can read are refused with the command that mends them", arguments: [0o640, 0o604, 0o660])
  func openFile(mode: Int) throws {
    try withFiles { files in
      try files.write([1], as: "a.hub")
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: files.directory + "/a.hub")
      refuses(files, "chmod 600 '\(files.directory)/a.hub'")
    }
  }

  @Test("A directory of keys that others can enter is refused with the command that mends it")
  func openDirectory() throws {
    try withFiles { files in
      try files.write([1], as: "a.hub")
      try FileManager.default.setAttributes([.posixPermissions: 0o750], ofItemAtPath: files.directory)
      refuses(files, "chmod 700 '\(files.directory)'")
    }
  }

  @Test("A link in place of a file of keys is not followed")
  func link() throws {
    try withFiles { files in
      try files.write([1], as: "b.hub")
      try FileManager.default.createSymbolicLink(
        atPath: files.directory + "/a.hub", withDestinationPath: files.directory + "/b.hub")
      refuses(files, "is not a file")
    }
  }

  // Once broken: A FIFO in place of a key file hung every command, because it was opened for reading, which waits for a
  // writer.
  @Test("A pipe in place of a file of keys is refused, and nothing waits for its other end")
  func pipe() throws {
    try withFiles { files in
      try files.write([1], as: "b.hub")
      #expect(mkfifo(files.directory + "/a.hub", 0o600) == 0)
      refuses(files, "is not a file")
    }
  }

  // Once broken: A `keys rotate` that was killed left a hidden file with a secret key, because only the process that
  // wrote it removed it.
  @Test("A file that was being written when its process was killed is removed, and one of a living process is not")
  func unfinished() throws {
    try withFiles { files in
      try files.write([1], as: "a.hub")
      let dead = Process()
      dead.executableURL = URL(filePath: "/bin/sh")
      dead.arguments = ["-c", "exit 0"]
      try dead.run()
      dead.waitUntilExit()
      for writer in [dead.processIdentifier, getppid()] {
        try Data([2]).write(to: URL(filePath: "\(files.directory)/.a.hub.\(writer)"))
      }
      #expect(try files.read("a.hub") == [1])
      let left = try FileManager.default.contentsOfDirectory(atPath: files.directory)
      #expect(Set(left) == ["a.hub", ".a.hub.\(getppid())"])
    }
  }
}
