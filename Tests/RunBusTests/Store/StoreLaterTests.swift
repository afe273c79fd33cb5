import Foundation
import GRDB
import RunCore
import SwiftProtobuf
import Testing

@testable import RunBus
@testable import RunWire

@Suite("What waits for a node of a later version in a store that is damaged or cannot be looked at")
struct StoreLaterTests {
  private let scratch: ScratchDirectory
  private let hub = OutboundStreamID(receiver: StoreID(high: 0, low: 7), kind: .commands)
  private let press = Command(id: CommandID(high: 9, low: 1), kind: .lap, source: .watch)

  init() throws { scratch = try ScratchDirectory() }

  private var path: String { scratch.file("node.sqlite") }

  /// A store in which a press of an unknown kind waits between two others.
  private func makeStore(in directory: String? = nil) async throws {
    let store = try NodeStore(directory: directory ?? scratch.path)
    try await store.commit(
      (1...3).map { .enqueue(OutboxRow(stream: hub, sequence: $0, item: .command(press), since: .zero)) })
    store.close()
    let path = directory.map { $0 + "/node.sqlite" } ?? path
    try StoredRows.change("outbox", "item", "position % 256 = 2", at: path) { (stored: inout WireStoredItem) in
      stored.command.kind = .UNRECOGNIZED(6)
    }
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  }

  private func damageMark(at places: [Int]) throws {
    var bytes = try Data(contentsOf: URL(filePath: path))
    for place in places { bytes[place] ^= 1 << 3 }
    try bytes.write(to: URL(filePath: path))
  }

  private func refused(_ directory: String, _ code: RunBusError.Code, _ words: String) {
    let error = #expect(throws: RunBusError.self) { try NodeStore(directory: directory) }
    #expect(error?.code == code && error?.message.contains(words) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("\n") == false)
  }

  // Once broken: One wrong byte of the mark, and a press that waited for a later version became a tombstone.
  @Test("A store whose mark is almost whole is refused like one whose mark is", arguments: 60..<64)
  func mark(byte: Int) async throws {
    try await makeStore()
    let before = try StoredRows.bytes("outbox", "item", at: path)
    try damageMark(at: [byte])
    refused(scratch.path, .storeMismatch, "something to send of a newer RunBus: update this one")
    #expect(try StoredRows.bytes("outbox", "item", at: path) == before)
    guard case .unusable(let reason) = StoreHealth(of: DeviceID("phone"), in: scratch.path) else {
      return #expect(Bool(false), "a doctor calls it well")
    }
    #expect(reason.contains("newer RunBus"))
  }

  @Test("A doctor names a mark that is damaged", arguments: [[61], [61, 62]])
  func doctor(places: [Int]) async throws {
    let store = try NodeStore(directory: scratch.path)
    store.close()
    try damageMark(at: places)
    guard case .unusable(let reason) = StoreHealth(of: DeviceID("phone"), in: scratch.path) else {
      return #expect(Bool(false), "a doctor calls it well")
    }
    #expect(reason.contains("version mark") && reason.contains(places.count == 1 ? "rebuilds it" : "sets it aside"))
  }

  @Test("Of a store that is set aside, what waits for a later version stays there and is named")
  func setAside() async throws {
    try await makeStore()
    let later = try StoredRows.bytes("outbox", "item", at: path)[1]
    try damageMark(at: [61, 62])
    var store = try NodeStore(directory: scratch.path)
    #expect(store.notices.count == 1)
    #expect(store.notices.first?.contains("1 row(s) of a newer RunBus that wait stay in the file set aside") == true)
    let rows = try store.peerHistory().delivery.rows
    #expect(rows.map(\.sequence) == [1, 2] && rows.allSatisfy { $0.item == .command(press) })
    store.close()
    let left = try StoredRows.bytes("outbox", "item", at: scratch.file("damaged-1/node.sqlite"))
    #expect(left.count == 3 && left[1] == later)
    store = try NodeStore(directory: scratch.path)
    #expect(store.notices == [])
    store.close()
  }

  // Once broken: A node that could not look for what waits started, and deleted it.
  @Test(
    "A store that cannot be looked at is refused, and nothing of it changes", arguments: ["-shm", "-wal"],
    [true, false])
  func obstructed(suffix: String, isPipe: Bool) async throws {
    try await makeStore()
    let before = try Data(contentsOf: URL(filePath: path))
    let place = path + suffix
    if isPipe { #expect(mkfifo(place, 0o600) == 0) } else { #expect(mkdir(place, 0o700) == 0) }
    refused(scratch.path, .store, "\(place) is not a file: move it away")
    guard case .unusable(let reason) = StoreHealth(of: DeviceID("phone"), in: scratch.path) else {
      return #expect(Bool(false), "a doctor calls it well")
    }
    #expect(reason.contains("is not a file"))
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
    rmdir(place)
    unlink(place)
    refused(scratch.path, .storeMismatch, "newer RunBus")
  }

  // Once broken: busnode doctor waited for ever for a writer of a pipe.
  @Test("A doctor names a pipe in the place of a store", .timeLimit(.minutes(1)))
  func pipe() throws {
    #expect(mkfifo(path, 0o600) == 0)
    guard case .unusable(let reason) = StoreHealth(of: DeviceID("phone"), in: scratch.path) else {
      return #expect(Bool(false), "a doctor calls it well")
    }
    #expect(reason == "\(path) is not a file: move it away")
  }

  @Test(
    "It is refused on a disk that is full, too, which has no room for shared memory",
    .enabled(if: SmallDisk.canBeMade, "a file system is mounted: needs root on Linux"))
  func fullDisk() async throws {
    let disk = try SmallDisk(kilobytes: 1024)
    defer { disk.remove() }
    let directory = disk.path + "/store"
    try await makeStore(in: directory)
    let before = try Data(contentsOf: URL(filePath: directory + "/node.sqlite"))
    let filler = open(disk.path + "/filler", O_WRONLY | O_CREAT, 0o600)
    let page = [UInt8](repeating: 1, count: 4096)
    while write(filler, page, page.count) > 0 {}
    close(filler)
    refused(directory, .storeMismatch, "nothing was changed")
    #expect(try Data(contentsOf: URL(filePath: directory + "/node.sqlite")) == before)
    unlink(disk.path + "/filler")
    refused(directory, .storeMismatch, "newer RunBus")
  }
}
