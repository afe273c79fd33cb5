package import RunCore
import SwiftProtobuf

// What a hub stores of rooms.
extension Codec {
  /// Encodes a row of a room. Its room, fleet and author are those of the contents.
  package static func stored(_ row: RoomRow) -> [UInt8] {
    var message = WireStoredRoomRow()
    switch row {
    case .followed(let run, let fleet):
      message.row = .followed(data(run))
      if let fleet { message.fleet = data(fleet) }
    case .entry(let read):
      var entry = WireStoredRoomEntry()
      entry.position = read.entry.position
      entry.timeNs = read.entry.time.nanoseconds
      entry.content = self.message(
        content(read.entry.author, read.entry.number, read.entry.seen, read.entry.ask, nonce: noNonce(read.entry.ask)))
      entry.hash = data(read.hash)
      entry.digest = data(read.digest)
      entry.ownsRoom = read.entry.ownsRoom
      if let taken = read.taken { entry.takenNs = taken.nanoseconds }
      message.row = .entry(entry)
    case .lost: message.row = .lost(true)
    case .own(let number, let ask, let nonce, let seen, let id):
      var own = WireStoredRoomOwn()
      own.content = self.message(content(nobody, number, seen, ask, nonce: nonce))
      if let id { own.ask = data(id) }
      message.row = .own(own)
    }
    return stored(message)
  }

  /// Reads a row of a room.
  package static func roomRow(_ bytes: [UInt8]) throws(StoredError) -> RoomRow {
    let message: WireStoredRoomRow = try open(bytes)
    return try reading { () throws(WireError) in
      switch message.row {
      case .followed(let run):
        return .followed(
          run: try identifier(run, "run id"), fleet: message.hasFleet ? try identifier(message.fleet, "fleet id") : nil)
      case .entry(let entry):
        let content = try value(entry.content)
        return .entry(
          ReadEntry(
            entry: RoomEntry(
              position: entry.position, time: LogTime(nanoseconds: entry.timeNs), author: content.author,
              number: content.number, seen: content.seen, ask: content.ask, ownsRoom: entry.ownsRoom),
            hash: try bytes32(entry.hash, "hash"), digest: try bytes32(entry.digest, "digest"),
            taken: entry.hasTakenNs ? LogTime(nanoseconds: entry.takenNs) : nil))
      case .own(let own):
        let content = try value(own.content)
        return .own(
          number: content.number, content.ask, nonce: content.nonce, seen: content.seen,
          ask: own.hasAsk ? try identifier(own.ask, "id of an ask") : nil)
      case .lost: return .lost
      case nil: throw .unknown("a row of a room")
      }
    }
  }

  /// The author of a row that names none: it is the hub's own.
  private static let nobody: MemberID = {
    guard let nobody = MemberID([UInt8](repeating: 0, count: MemberID.byteCount)) else { preconditionFailure() }
    return nobody
  }()

  /// An `open` has a number; that of an entry that was read is not needed any more.
  private static func noNonce(_ ask: RoomAskKind) -> RoomNonce? {
    if case .open = ask { RoomNonce(high: 0, low: 0) } else { nil }
  }

  private static func content(
    _ author: MemberID, _ number: UInt64, _ seen: Seen, _ ask: RoomAskKind, nonce: RoomNonce?
  ) -> RoomContent {
    RoomContent(
      fleet: FleetID(high: 0, low: 0), room: RoomID(high: 0, low: 0), author: author, number: number, seen: seen,
      ask: ask, nonce: nonce)
  }
}
