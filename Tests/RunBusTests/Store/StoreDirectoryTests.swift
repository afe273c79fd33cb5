import Foundation
import RunCore
import Testing

@testable import RunBus

@Suite("A store's directory belongs to one node and one person")
struct StoreDirectoryTests {
  @Test("A second opening is refused and told who holds the store, until the first lets go")
  func lock() throws {
    let scratch = try ScratchDirectory()
    let directory = scratch.file("watch")
    let first = try NodeStore(directory: directory)
    let error = #expect(throws: RunBusError.self) { try NodeStore(directory: directory) }
    #expect(error?.code == .storeHeld)
    #expect(error?.message.contains("held by process \(getpid()) (watch)") == true)
    first.close()
    let phone = DeviceID("phone")
    let named = try NodeStore(directory: directory, device: phone)
    #expect(
      #expect(throws: RunBusError.self) { try NodeStore(directory: directory) }?.message.contains("(phone)") == true)
    named.close()
  }

  @Test("A store that is dropped lets go of its directory")
  func dropped() throws {
    let scratch = try ScratchDirectory()
    do { _ = try NodeStore(directory: scratch.path) }
    _ = try NodeStore(directory: scratch.path)
  }

  @Test("Directories are made for their owner alone, and so are files")
  func modes() async throws {
    let scratch = try ScratchDirectory()
    let directory = scratch.file("a/b")
    let store = try NodeStore(directory: directory)
    try await store.commit([.setTerm(1)])
    #expect(try mode(of: scratch.file("a")) == 0o700)
    #expect(try mode(of: directory) == 0o700)
    let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    #expect(names == ["lock", "node.log-0", "node.sqlite", "node.sqlite-wal"])
    for name in names { #expect(try mode(of: directory + "/" + name) == 0o600, "\(name)") }
  }

  @Test("A place where no store can be is one sentence, not a crash")
  func impossiblePlaces() throws {
    let scratch = try ScratchDirectory()
    let file = scratch.file("file")
    try Data().write(to: URL(filePath: file))
    try FileManager.default.createDirectory(
      atPath: scratch.file("taken/node.sqlite"), withIntermediateDirectories: true)
    for place in [file, file + "/below", "/proc/nothing/here", scratch.file("taken")] {
      let error = #expect(throws: RunBusError.self) { try NodeStore(directory: place) }
      #expect(error?.code == .store)
      #expect(error?.message.contains("\n") == false)
      #expect(error?.message.contains(place) == true || error?.message.contains("/proc") == true)
    }
  }

  @Test("A link in place of the file is not followed")
  func link() throws {
    let scratch = try ScratchDirectory()
    let elsewhere = scratch.file("elsewhere")
    try Data("precious".utf8).write(to: URL(filePath: elsewhere))
    try FileManager.default.createDirectory(atPath: scratch.file("store"), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: scratch.file("store/node.sqlite"), withDestinationPath: elsewhere)
    #expect(throws: RunBusError.self) { try NodeStore(directory: scratch.file("store")) }
    #expect(try Data(contentsOf: URL(filePath: elsewhere)) == Data("precious".utf8))
  }
}
