import Foundation
import RunCore
import Testing

@testable import RunBus

@Suite(
  "A store on a disk that is full", .enabled(if: SmallDisk.canBeMade, "a file system is mounted: needs root on Linux"))
struct StoreFullDiskTests {
  @Test("What does not fit is told as a full disk; once there is room service goes on and nothing is lost")
  func fullDisk() async throws {
    let disk = try SmallDisk(kilobytes: 2048)
    defer { disk.remove() }
    let filler = disk.path + "/filler"
    try Data(count: 1_000_000).write(to: URL(filePath: filler))
    var store = try NodeStore(directory: disk.path + "/store")
    let memory = NodeStore()
    let stream = OutboundStreamID(receiver: StoreID(high: 1, low: 1), kind: .messages)
    var sequence: UInt64 = 0
    var faults: [StoreFault] = []

    func batch() -> [StoreOperation] {
      (1...UInt64(20)).map { place in
        let number = sequence + place
        let message = AppMessage(
          id: MessageID(high: 0, low: number), name: "gel",
          body: Array(repeating: UInt8(truncatingIfNeeded: place), count: 700))
        return .enqueue(OutboxRow(stream: stream, sequence: number, item: .message(message), since: .zero))
      }
    }
    func push(_ isEnough: () -> Bool) async throws {
      for _ in 0..<2000 where !isEnough() {
        let batch = batch()
        do {
          try await store.commit(batch)
          try await memory.commit(batch)
          sequence += 20
        } catch {
          faults.append(error)
        }
      }
    }

    // It stays full for a while: nothing that comes back from the disk is taken for its death.
    try await push { faults.count == 5 }
    #expect(faults == Array(repeating: .full, count: 5))
    let full = sequence
    try FileManager.default.removeItem(atPath: filler)
    try await push { sequence == full + 200 }
    #expect(sequence == full + 200)
    #expect(faults.count == 5)
    let expected = ComparableHistory(try memory.history())
    #expect(ComparableHistory(try store.history()) == expected)
    store.close()
    store = try NodeStore(directory: disk.path + "/store")
    #expect(ComparableHistory(try store.history()) == expected)
    store.close()
  }

  @Test("A store that cannot be made for want of room says so and is made later")
  func noRoomToOpen() async throws {
    let disk = try SmallDisk(kilobytes: 1024)
    defer { disk.remove() }
    let filler = disk.path + "/filler"
    #expect(FileManager.default.createFile(atPath: filler, contents: nil))
    let handle = try FileHandle(forWritingTo: URL(filePath: filler))
    while (try? handle.write(contentsOf: Data(count: 4096))) != nil {}
    try handle.close()
    let error = #expect(throws: RunBusError.self) { try NodeStore(directory: disk.path + "/store") }
    #expect(error?.code == .store)
    #expect(error?.message.contains("\n") == false)
    try FileManager.default.removeItem(atPath: filler)
    let store = try NodeStore(directory: disk.path + "/store")
    try await store.commit([.setTerm(3)])
    #expect(store.notices == [])
    store.close()
  }
}

/// A file system of its own with little room.
struct SmallDisk {
  let path: String

  /// Mounting takes root; a container may forbid it even then.
  static var canBeMade: Bool {
    #if os(Linux)
      guard geteuid() == 0, let disk = try? SmallDisk(kilobytes: 64) else { return false }
      disk.remove()
      return true
    #else
      return false
    #endif
  }

  init(kilobytes: Int) throws {
    var template = Array("/tmp/rb-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw RunBusError(.store, "no scratch directory") }
    path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    #if os(Linux)
      if mount("tmpfs", path, "tmpfs", 0, "size=\(kilobytes)k") == 0 { return }
    #endif
    rmdir(path)
    throw RunBusError(.store, "no file system could be mounted")
  }

  func remove() {
    #if os(Linux)
      umount2(path, Int32(MNT_DETACH))
    #endif
    rmdir(path)
  }
}
