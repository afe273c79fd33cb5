import Foundation
import GRDB
import RunCore
import TestSupport
import Testing

@testable import RunBus

@Suite("What a store keeps of rooms")
struct StoreRoomTests {
  private let scratch: ScratchDirectory
  private let rooms = (RoomID(high: 1, low: 1), RoomID(high: 1, low: 2))
  private let rows: [RoomRow] = [
    .followed(run: RunID(high: 2, low: 1), fleet: FleetID(high: 3, low: 1)),
    .own(number: 1, .ready(true), nonce: nil, seen: Seen(count: 3, digest: 9), ask: .init(high: 3, low: 1)),
    .own(number: 2, .leave, nonce: nil, seen: .nothing, ask: nil),
  ]

  init() throws { scratch = try ScratchDirectory() }

  @Test("Rows come back in their order, and those of a forgotten room do not")
  func rows() async throws {
    let store = try NodeStore(directory: scratch.path)
    try await store.commit([.setTerm(1), .keepRoom(rooms.0, [rows[0], rows[1]]), .keepRoom(rooms.1, [rows[0]])])
    try await store.commit([.keepRoom(rooms.0, [rows[2]]), .forgetRoom(rooms.1)])
    store.close()
    let again = try NodeStore(directory: scratch.path)
    #expect(try again.history().rooms == [rooms.0: rows])
    again.close()
  }

  @Test("A store has a table for rooms with its first row, and is a store of this version before and after")
  func table() async throws {
    let path = scratch.file("node.sqlite")
    for expected in [false, true] {
      let store = try NodeStore(directory: scratch.path)
      try await store.commit(expected ? [.keepRoom(rooms.0, rows)] : [.setTerm(1)])
      store.close()
      let queue = try DatabaseQueue(path: path)
      let (hasTable, isMade) = try await queue.read { db in
        (try db.tableExists("room_rows"), try StoreSchema.isMade(db))
      }
      try queue.close()
      #expect(hasTable == expected && isMade)
    }
  }
}
