import Foundation
import RunBus
import Testing

@testable import RunBusWeb

@Suite("The saved link of a page")
struct SavedLinkTests {
  private func withLink(_ body: (SavedLink, String) throws -> Void) throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("rb-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let location = BusLocation(bus: "default", environment: ["XDG_STATE_HOME": directory, "HOME": directory])
    try body(SavedLink(of: "web", on: location), location.stateDirectory(for: "web"))
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  private func isToken(_ text: String) -> Bool { text.wholeMatch(of: /[0-9a-f]{32}/) != nil }

  @Test("A page keeps its secret where only its owner can read it, and has the same one the next time")
  func reuse() throws {
    try withLink { link, directory in
      let first = link.secret(isNew: false)
      #expect(isToken(first.token) && first.isSaved && first.notice == nil)
      #expect(link.path.hasPrefix(directory + "/"))
      let modes = [try mode(link.path), try mode(directory)]
      #expect(modes == [0o600, 0o700])
      #expect(link.secret(isNew: false) == first)
    }
  }

  @Test("A new link takes the place of the one that was kept")
  func renewed() throws {
    try withLink { link, _ in
      let (first, second) = (link.secret(isNew: false), link.secret(isNew: true))
      #expect(second.token != first.token && second.isSaved && second.notice == nil)
      #expect(link.secret(isNew: false) == second)
    }
  }

  @Test(
    "A damaged file is replaced, and one line says so",
    arguments: ["", "\n", "0123", String(repeating: "0", count: 32), String(repeating: "G", count: 32) + "\n"])
  func damaged(text: String) throws {
    try withLink { link, _ in
      _ = link.secret(isNew: false)
      try Data(text.utf8).write(to: URL(fileURLWithPath: link.path))
      let fresh = link.secret(isNew: false)
      #expect(isToken(fresh.token) && fresh.isSaved)
      #expect(fresh.notice?.contains("is damaged") == true && fresh.notice?.contains("\n") == false)
      #expect(link.secret(isNew: false).notice == nil && link.secret(isNew: false).token == fresh.token)
    }
  }

  @Test("A file that others may have read is replaced, and one line says so")
  func open() throws {
    try withLink { link, _ in
      let first = link.secret(isNew: false)
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: link.path)
      let fresh = link.secret(isNew: false)
      #expect(
        fresh.token != first.token && fresh.isSaved && fresh.notice?.contains("no file of this user alone") == true)
      let mode = try mode(link.path)
      #expect(mode == 0o600)
    }
  }

  @Test("A link that cannot be kept opens its page all the same, and one line says how long")
  func unkept() throws {
    try withLink { link, directory in
      try FileManager.default.createDirectory(
        atPath: (directory as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      try Data().write(to: URL(fileURLWithPath: directory))
      let secret = link.secret(isNew: false)
      #expect(isToken(secret.token) && !secret.isSaved)
      #expect(secret.notice?.hasPrefix("the link ends with this page") == true)
    }
  }
}
