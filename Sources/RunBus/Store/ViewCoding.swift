import Foundation
import RunCore

/// Encodes the last snapshot that a peer has seen, without metrics: they would be outdated when they are read, and make
/// the write of every tick larger.
enum ViewCoding {
  static func encode(_ view: Snapshot) -> Data {
    var writer = ByteWriter()
    writer.append(view.order.term)
    writer.append(view.order.revision)
    writer.append(view.order.tick)
    writer.append(view.phase.rawValue)
    writer.append(optional: view.runID) { $0.append($1) }
    writer.append(optional: view.changedBy) { $0.append($1) }
    writer.append(optional: view.startedAt) { $0.append($1.nanoseconds) }
    writer.append(view.capturedAt.nanoseconds)
    return writer.data
  }

  /// `nil` for bytes that no version of this code has written.
  static func decode(_ data: Data) -> Snapshot? {
    var reader = ByteReader(data)
    guard let term = reader.unsigned(), let revision = reader.unsigned(), let tick = reader.unsigned(),
      let phase = reader.text().flatMap(RunPhase.init), let runID: RunID? = reader.optional({ $0.identifier() }),
      let changedBy = reader.optional({ $0.change() }),
      let startedAt = reader.optional({ $0.signed().map(BusTime.init(nanoseconds:)) }),
      let capturedAt = reader.signed(), reader.isAtEnd
    else { return nil }
    return Snapshot(
      order: SnapshotOrder(term: term, revision: revision, tick: tick), phase: phase, runID: runID,
      changedBy: changedBy, startedAt: startedAt, capturedAt: BusTime(nanoseconds: capturedAt), metrics: RunMetrics())
  }
}

extension Snapshot {
  /// The snapshot as a store keeps it.
  var withoutMetrics: Snapshot {
    var view = self
    view.metrics = RunMetrics()
    return view
  }
}

/// Encodes the newest value of a key. Spellings that Swift treats as equal share a row (`identity`), so the key's own
/// spelling is stored with the value.
enum LatestCoding {
  static func identity(_ key: String) -> Data { Data(key.precomposedStringWithCanonicalMapping.utf8) }

  static func encode(_ key: String, _ message: AppMessage) -> Data {
    var writer = ByteWriter()
    writer.append(key)
    writer.append(message)
    return writer.data
  }

  /// `nil` for bytes that no version of this code has written.
  static func decode(_ data: Data) -> (key: String, message: AppMessage)? {
    var reader = ByteReader(data)
    guard let key = reader.text(), let message = reader.message() else { return nil }
    return (key, message)
  }
}
