import Foundation
import RunCore
import Testing
import SystemC

@testable import RunBus

@Suite("One hub holds a bus")
struct BusLocationLockTests {
  private let scratch: ScratchDirectory
  private let phone: DeviceID

  init() throws {
    scratch = try ScratchDirectory()
    phone = DeviceID("phone")
  }
  private func location(_ address: String? = nil) throws -> BusLocation {
    try BusLocation(
      bus: address == nil ? "a" : nil, address: address, environment: ["XDG_RUNTIME_DIR": scratch.path])
  }
  /// Leaves a socket file without a listener, as a killed hub does.
  private func leaveSocket(_ path: String) throws {
    #if canImport(Glibc)
      let stream = CInt(SOCK_STREAM.rawValue)
    #else
      let stream = SOCK_STREAM
    #endif
    let descriptor = socket(AF_UNIX, stream, 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(result == 0)
  }

  @Test(
    "A second hub is told who holds the bus; after the first has ended it is free", arguments: [nil, "tcp://[::1]:5"])
  func exclusive(address: String?) throws {
    let bus = try location(address)
    #expect(HubLock.holder(of: bus) == nil)
    let lock = try HubLock.acquire(bus, device: phone)
    let error = #expect(throws: RunBusError.self) { try HubLock.acquire(bus, device: phone) }
    #expect(error?.code == .busHeld)
    #expect(error?.message.hasPrefix("bus \(bus.displayName) is held by process \(getpid()) (phone)") == true)
    let holder = HubLock.holder(of: bus)
    #expect(holder?.processID == getpid())
    #expect(holder?.device == phone)
    lock.close()
    lock.close()
    #expect(HubLock.holder(of: bus) == nil)
    try HubLock.acquire(bus, device: phone).close()
  }

  @Test("Asking who holds a bus creates no file and blocks nobody")
  func asking() throws {
    let bus = try location()
    #expect(HubLock.holder(of: bus) == nil)
    #expect(try scratch.names() == [])
    for _ in 0..<50 {
      let lock = try HubLock.acquire(bus, device: phone)
      for _ in 0..<10 { #expect(HubLock.holder(of: bus) != nil) }
      lock.close()
    }
  }

  @Test("Only a held lock counts, whatever the lock file says")
  func staleText() throws {
    let bus = try location()
    try bus.prepareRuntimeDirectory()
    let path = try #require(bus.lockFile)
    for text in ["\(getpid()) phone\n", "", "garbage \u{0}\n", String(repeating: "9", count: 500)] {
      try Data(text.utf8).write(to: URL(filePath: path))
      #expect(HubLock.holder(of: bus) == nil)
    }
    let lock = try HubLock.acquire(bus, device: phone)
    // A holder that has not written its text yet, or the text of a process that has ended.
    for text in ["", "\(Int32.max) phone\n", "0 phone", "-1 x"] {
      try FileHandle(forWritingTo: URL(filePath: path)).overwrite(text)
      #expect(HubLock.holder(of: bus)?.description == "another process")
    }
    lock.close()
  }

  @Test("A dropped lock is released")
  func dropped() throws {
    let bus = try location()
    do { _ = try HubLock.acquire(bus, device: phone) }
    #expect(HubLock.holder(of: bus) == nil)
  }

  @Test("Sockets of a dead hub are removed under the lock, but another file at their path is not")
  func staleSockets() throws {
    let bus = try location()
    try bus.prepareRuntimeDirectory()
    for path in bus.socketFiles { try leaveSocket(path) }
    let lock = try HubLock.acquire(bus, device: phone)
    #expect(try FileManager.default.contentsOfDirectory(atPath: bus.runtimeDirectory) == ["hub.lock"])
    // A running hub is not disturbed by another that fails to get the bus.
    for path in bus.socketFiles { try leaveSocket(path) }
    #expect(throws: RunBusError.self) { try HubLock.acquire(bus, device: phone) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: bus.runtimeDirectory).count == 3)
    lock.close()
    #expect(try FileManager.default.contentsOfDirectory(atPath: bus.runtimeDirectory) == ["hub.lock"])

    let path = try #require(bus.socketFiles.first)
    try Data("precious".utf8).write(to: URL(filePath: path))
    #expect(throws: RunBusError.self) { try HubLock.acquire(bus, device: phone) }
    #expect(FileManager.default.fileExists(atPath: path))
    #expect(HubLock.holder(of: bus) == nil)
  }

  @Test("Where the system chooses the port, every hub has a bus of its own")
  func openPort() throws {
    let bus = try location("tcp://127.0.0.1:*")
    let locks = [try HubLock.acquire(bus, device: phone), try HubLock.acquire(bus, device: phone)]
    #expect(HubLock.holder(of: bus) == nil)
    for lock in locks { lock.close() }
  }
}

extension FileHandle {
  fileprivate func overwrite(_ text: String) throws {
    try truncate(atOffset: 0)
    try write(contentsOf: Data(text.utf8))
    try close()
  }
}
