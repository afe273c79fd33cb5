import RunCore

/// Finds the connections of a listener that keep messages unfinished.
///
/// libzmq keeps the parts of a message until the last one has come. Its limits count a part or a whole message, so that a
/// message without an end has none. The system counts what has come on a connection, and each whole message says on which
/// connection it came: what came since the look before the last whole message is the most that libzmq keeps of an
/// unfinished one. A connection that keeps more than it may is to be cut, which makes libzmq drop the parts.
///
/// Between two looks the processor sets the limit: some 60 MB a second, because all connections are decrypted on one
/// thread.
struct UnfinishedMessages {
  /// How many bytes may have come on a connection: twice what a device may send at once, because those of whole messages
  /// count until the next one. libzmq's heartbeats count, too: a connection on which nothing else comes reaches it after
  /// days. It is made again, and its sender has done nothing wrong.
  static let bytesMax = UInt64(2 * PacedKind.frames.burst * PacedKind.bytesOfFrame)
  /// How many on all connections together.
  static let totalMax: UInt64 = 64 << 20
  /// From how many on the next look comes soon.
  static let suspectFrom: UInt64 = 256 << 10
  /// More than heartbeats bring from one look to the next.
  static let heartbeatsMax: UInt64 = 4 << 10

  /// A connection that is to be cut.
  struct Offence: Hashable {
    let connection: TCPConnection
    /// The sender of the whole messages on it; `nil` before the first one, and if nothing but heartbeats came since.
    let identity: ConnectionIdentity?
  }

  private struct Entry {
    let connection: TCPConnection
    /// What had come at the last look, and at the look before the last whole message.
    var looked: UInt64 = 0
    var finished: UInt64 = 0
    var identity: ConnectionIdentity?
    /// Whether more than heartbeats came since the last whole message.
    var isBusy = false
    /// Whether a whole message came since the last look.
    var isFinished = false
    /// Whether it kept too much at the last look. Whole messages may wait in libzmq, so one look proves nothing.
    var isSuspect = false
  }
  private var entries: [CInt: Entry] = [:]

  /// Whether there is a connection to look at.
  var isEmpty: Bool { entries.isEmpty }

  /// A connection was accepted.
  mutating func open(_ connection: TCPConnection) { entries[connection.descriptor] = Entry(connection: connection) }

  /// A whole message came on a descriptor.
  mutating func finish(on descriptor: CInt, by identity: ConnectionIdentity?) {
    entries[descriptor]?.isFinished = true
    entries[descriptor]?.identity = identity
  }

  /// Looks at all connections.
  ///
  /// - Parameter received: How many bytes have come on a connection; `nil` when it is gone.
  /// - Returns: the connections to cut, which it forgets, and whether the next look should come soon.
  mutating func look(_ received: (TCPConnection) -> UInt64?) -> (offences: [Offence], soon: Bool) {
    var kept: [(descriptor: CInt, bytes: UInt64)] = []
    for (descriptor, entry) in entries {
      guard let bytes = received(entry.connection), bytes >= entry.looked else {
        entries[descriptor] = nil
        continue
      }
      if entry.isFinished {
        entries[descriptor]?.finished = entry.looked
        entries[descriptor]?.isSuspect = false
        entries[descriptor]?.isBusy = false
      }
      if bytes - entry.looked > Self.heartbeatsMax { entries[descriptor]?.isBusy = true }
      entries[descriptor]?.isFinished = false
      entries[descriptor]?.looked = bytes
      kept.append((descriptor, bytes - (entry.isFinished ? entry.looked : entry.finished)))
    }
    kept.sort { ($0.bytes, $0.descriptor) > ($1.bytes, $1.descriptor) }
    var total = kept.reduce(0) { $0 + $1.bytes }
    var offences: [Offence] = []
    for (descriptor, bytes) in kept {
      guard let entry = entries[descriptor] else { continue }
      let isTooMuch = bytes > Self.bytesMax || total > Self.totalMax
      if isTooMuch { total -= bytes }
      if isTooMuch, entry.isSuspect {
        offences.append(Offence(connection: entry.connection, identity: entry.isBusy ? entry.identity : nil))
        entries[descriptor] = nil
      } else {
        entries[descriptor]?.isSuspect = isTooMuch
      }
    }
    return (offences, (kept.first?.bytes ?? 0) > Self.suspectFrom)
  }
}
