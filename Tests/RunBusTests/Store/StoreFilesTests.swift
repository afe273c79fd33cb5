import Foundation
import GRDB
import RunCore
import TestSupport
import Testing

@testable import RunBus

@Suite("Files of a store that others take away, hold, or that are none")
struct StoreFilesTests {
  @Test(
    "A file that is not at its path any more: the commit says so, and so does every later one",
    arguments: ["node.sqlite", "node.sqlite-wal", "lock", ""])
  func deleted(name: String) async throws {
    let scratch = try ScratchDirectory()
    let directory = scratch.file("store")
    let store = try NodeStore(directory: directory)
    try await store.commit([.setTerm(1)])
    try FileManager.default.removeItem(atPath: name.isEmpty ? directory : "\(directory)/\(name)")
    let found = await #expect(throws: StoreFault.self) { try await store.commit([.setTerm(2)]) }
    let fault = try #require(found)
    #expect(!fault.isTemporary && !fault.isDamage)
    #expect(fault.description.contains(directory))
    await #expect(throws: fault) { try await store.commit([.setTerm(3)]) }
    store.close()
  }

  @Test("Another file at the path of the store is not taken for it")
  func replaced() async throws {
    let scratch = try ScratchDirectory()
    let store = try NodeStore(directory: scratch.path)
    try await store.commit([.setTerm(1)])
    let path = scratch.file("node.sqlite")
    try FileManager.default.copyItem(atPath: path, toPath: path + ".copy")
    #expect(rename(path + ".copy", path) == 0)
    await #expect(throws: StoreFault.moved(path)) { try await store.commit([.setTerm(2)]) }
    store.close()
  }

  @Test("A node to which nothing happens notices that its store is gone, or its hub's lock")
  func idle() async throws {
    for what in ["store", "lock"] {
      let scratch = try ScratchDirectory()
      let location = BusLocation(
        bus: BusName("a"), environment: ["XDG_RUNTIME_DIR": scratch.file("run"), "XDG_STATE_HOME": scratch.file("s")])
      let phone = DeviceID("phone")
      let lock = try HubLock.acquire(location, device: phone)
      let store = try NodeStore(directory: location.stateDirectory(for: phone), device: phone)
      let hub = Hub(
        configuration: HubConfiguration(deviceID: phone), listeners: [NoWire()], store: store, loop: try Loop(),
        locks: [lock])
      let running = Task { try await hub.run() }
      _ = try await hub.snapshots().first("the hub") { _ in true }
      let gone = what == "store" ? location.stateDirectory(for: phone) : location.runtimeDirectory
      try FileManager.default.removeItem(atPath: gone)
      let error = await #expect(throws: RunBusError.self) {
        try await within("the hub's end") { try await running.value }
      }
      #expect(error?.code == (what == "store" ? .store : .transport))
      #expect(error?.message.contains(gone) == true, "\(String(describing: error))")
      #expect(error?.message.contains("\n") == false)
    }
  }

  // Once broken: A hub whose lock file was removed deleted, when it ended, the sockets of the hub that held the bus by
  // then, because it deleted whatever file was at the path of its sockets.
  @Test("A hub whose lock was taken away leaves the sockets at their paths to whoever has the bus now")
  func socketsOfAnother() throws {
    let scratch = try ScratchDirectory()
    let location = BusLocation(bus: BusName("a"), environment: ["XDG_RUNTIME_DIR": scratch.path])
    let first = try HubLock.acquire(location, device: DeviceID("phone"))
    #expect(first.isInPlace)
    try FileManager.default.removeItem(atPath: location.runtimeDirectory)
    #expect(!first.isInPlace)
    let second = try HubLock.acquire(location, device: DeviceID("phone2"))
    #expect(second.isInPlace && !first.isInPlace)
    // Made while the second has the bus; a socket would do as well, but nothing else may be lost either.
    let path = try #require(location.socketFiles.first)
    try Data().write(to: URL(filePath: path))
    first.close()
    #expect(FileManager.default.fileExists(atPath: path))
    try FileManager.default.removeItem(atPath: path)
    second.close()
  }

  @Test("Somebody who looks into a store for a moment does not keep its node from starting; a holder that stays does")
  func visitor() async throws {
    let scratch = try ScratchDirectory()
    let visitor = try NodeStore(directory: scratch.path)
    let error = #expect(throws: RunBusError.self) {
      try NodeStore(directory: scratch.path, patience: .milliseconds(50))
    }
    #expect(error?.code == .storeHeld)
    let path = scratch.path
    let starting = Thread.detached { try NodeStore(directory: path, patience: .seconds(60)) }
    visitor.close()
    try await within("the node's store") { try await starting.value }.close()
  }

  // Once broken: A pipe in place of `hub.lock` kept `send`, `state` and `phone` waiting for ever, because it was opened
  // without O_NONBLOCK, and its file type was not checked.
  @Test(
    "A pipe, a directory or a link where a file must be is one sentence, and nobody waits",
    arguments: ["pipe", "directory", "link"])
  func obstructed(kind: String) async throws {
    for name in ["lock", "node.sqlite"] {
      let scratch = try ScratchDirectory()
      try obstruct(scratch.file(name), with: kind)
      let error = #expect(throws: RunBusError.self) { try NodeStore(directory: scratch.path) }
      #expect(error?.code == .store)
      #expect(error?.message.contains(scratch.path) == true && error?.message.contains("\n") == false)
    }
    let scratch = try ScratchDirectory()
    let location = BusLocation(bus: BusName("a"), environment: ["XDG_RUNTIME_DIR": scratch.path])
    try location.prepareRuntimeDirectory()
    let path = try #require(location.lockFile)
    #expect(HubLock.obstacle(at: location) == nil)
    try obstruct(path, with: kind)
    #expect(HubLock.holder(of: location) == nil)
    #expect(HubLock.obstacle(at: location) == "\(path) is not a file: move it away")
    let error = #expect(throws: RunBusError.self) { try HubLock.acquire(location, device: DeviceID("phone")) }
    #expect(error?.message == "\(path) is not a file: move it away")
  }

  private func obstruct(_ path: String, with kind: String) throws {
    switch kind {
    case "pipe": #expect(mkfifo(path, 0o600) == 0)
    case "directory": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    default: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/tmp/rb-nowhere")
    }
  }

  // Once broken: A quota, `ulimit -f`, a read-only file system and a passing I/O error ended a node, because SQLite
  // reports only ENOSPC as full; SIGXFSZ kills.
  @Test("A write or read that fails for a reason that may pass is tried again; a failed fsync is not")
  func faults() {
    for (code, system) in [
      (ResultCode.SQLITE_IOERR_WRITE, EDQUOT), (.SQLITE_IOERR_WRITE, EFBIG),
      (.SQLITE_IOERR_WRITE, EROFS), (.SQLITE_IOERR_WRITE, EIO), (.SQLITE_IOERR_READ, EIO),
    ] {
      let fault = StoreFault(DatabaseError(resultCode: code), systemCode: system)
      #expect(fault == .refused(String(cString: strerror(system))))
      #expect(fault.isTemporary && !fault.isDamage)
    }
    for code in [ResultCode.SQLITE_FULL, .SQLITE_READONLY, .SQLITE_IOERR_SHMSIZE] {
      #expect(StoreFault(DatabaseError(resultCode: code)).isTemporary)
    }
    for code in [ResultCode.SQLITE_IOERR_FSYNC, .SQLITE_IOERR_DIR_FSYNC, .SQLITE_IOERR_TRUNCATE, .SQLITE_NOMEM] {
      let fault = StoreFault(DatabaseError(resultCode: code), systemCode: EIO)
      #expect(!fault.isTemporary && !fault.isDamage, "\(code)")
    }
    for code in [ResultCode.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_CONSTRAINT] {
      #expect(StoreFault(DatabaseError(resultCode: code)).isDamage)
    }
  }

  @Test("A spool that cannot be read is not an empty one")
  func spool() throws {
    let scratch = try ScratchDirectory()
    let spool = SpoolDirectory(path: scratch.file("_spool"))
    #expect(try spool.contents().commands == [])
    try Data().write(to: URL(filePath: spool.path))
    #expect(#expect(throws: RunBusError.self) { try spool.contents() }?.code == .store)
    #expect(spool.list().notices.count == 1)
  }
}

extension Thread {
  /// Runs a body that blocks on a thread of its own.
  fileprivate static func detached<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) -> Task<
    Value, any Error
  > {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: Value.self)
    let thread = Thread {
      do { continuation.yield(try body()) } catch { continuation.finish(throwing: error) }
      continuation.finish()
    }
    thread.start()
    return Task {
      for try await value in stream { return value }
      throw DeadlineMissed(what: "a value")
    }
  }
}
