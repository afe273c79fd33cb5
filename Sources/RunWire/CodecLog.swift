package import RunCore
import SwiftProtobuf

/// A commit that the log of a store holds.
package struct LoggedCommit: Sendable {
  /// What it does, in order.
  package var operations: [StoreOperation]
  /// When the store was given it, in seconds since 1970.
  package var wallSeconds: Double
  /// The machine's boot then; empty when it sets no clock.
  package var bootID: String

  /// A commit from its parts.
  package init(_ operations: [StoreOperation], wallSeconds: Double, bootID: String) {
    self.operations = operations
    self.wallSeconds = wallSeconds
    self.bootID = bootID
  }
}

// Commits in the log of a store. What belongs to a press, a reading or a message has a form there. What is rare (records,
// devices, keys, terms) has none: a commit with any of it goes to the tables.
extension Codec {
  /// Encodes a commit; `nil` when the log has no form for one of its operations.
  package static func logged(_ commit: LoggedCommit) -> [UInt8]? {
    var writer = LogWriter()
    var setsClock = false
    for operation in commit.operations {
      guard writer.put(operation) else { return nil }
      if case .setClock = operation { setsClock = true }
    }
    writer.end(wallSeconds: commit.wallSeconds, bootID: setsClock ? commit.bootID : "")
    return writer.bytes
  }

  /// Reads a commit.
  ///
  /// - Parameter unreadable: Called for each operation that breaks a rule of the schema and is left out.
  /// - Throws: ``StoredError/damaged`` for bytes that are no commit; ``StoredError/unknownKind(_:)`` for an operation of a
  ///   later version.
  package static func loggedCommit(
    _ bytes: [UInt8], unreadable: () -> Void
  ) throws(StoredError) -> LoggedCommit {
    guard let message = try? WireStoredCommit(serializedBytes: bytes) else { throw .damaged }
    var operations: [StoreOperation] = []
    operations.reserveCapacity(message.operations.count)
    for part in message.operations {
      do throws(StoredError) {
        operations.append(try operation(part))
      } catch {
        guard error == .damaged else { throw error }
        unreadable()
      }
    }
    return LoggedCommit(operations, wallSeconds: message.wallSeconds, bootID: message.bootID)
  }

  // MARK: Operations

  private static func operation(_ message: WireStoredOperation) throws(StoredError) -> StoreOperation {
    let value = [UInt8](message.value)
    switch message.kind {
    case .accept:
      let stored = try accepted(value)
      return .accept(stored.press, stored.admission)
    case .judge:
      let stored = try verdict(value)
      return .judge(stored.verdict, stored.press, judgedAt: stored.judgedAt)
    case .settle: return .settle(try window(value))
    case .setView: return .setView(try view(value))
    case .setFailureMark: return .setFailureMark(try failureMark(value))
    case .setLatest: return .setLatest(try latestSent(value))
    case .receiveLatest: return .receiveLatest(try latestReceived(value))
    case .append:
      let entry = try entry(value) { _ in DeviceID(message.name) }
      return try reading { () throws(WireError) in
        .append(
          try identifier(message.id, "run id"),
          LedgerEntry(time: entry.time, position: message.sequence, event: entry.event))
      }
    case .enqueue:
      let item: OutboxItem? = message.value.isEmpty ? nil : try item(value)
      return try reading { () throws(WireError) in
        .enqueue(
          OutboxRow(
            stream: try outbound(message), sequence: message.sequence, item: item,
            since: try storedMoment(message.timeNs), isUncertain: message.uncertain, tries: message.tries))
      }
    case .quarantine:
      let since = try reading { () throws(WireError) in try storedMoment(message.timeNs) }
      return .quarantine(try quarantined(value, since: since))
    case .claim, .setWatermark, .setAlias, .endJournal, .setClock, .acknowledge, .remove, .tombstone, .countTries:
      return try reading { () throws(WireError) in try plain(message) }
    case .unspecified, .UNRECOGNIZED: throw .unknownKind("a commit")
    }
  }

  /// An operation without a value.
  private static func plain(_ message: WireStoredOperation) throws(WireError) -> StoreOperation {
    switch message.kind {
    case .claim: return .claim(try identifier(message.id, "command id"), try identifier(message.other, "store id"))
    case .setWatermark:
      let stream = StreamID(sender: try identifier(message.id, "store id"), kind: try kind(message.stream))
      let id: MessageID? = message.other.isEmpty ? nil : try identifier(message.other, "message id")
      return .setWatermark(stream, StreamMark(sequence: message.sequence, id: id))
    case .setAlias: return .setAlias(try identifier(message.id, "run id"), of: try identifier(message.other, "run id"))
    case .endJournal:
      return .endJournal(try identifier(message.id, "run id"), at: try storedMoment(message.timeNs))
    case .setClock: return .setClock(real: try storedMoment(message.timeNs), bus: try storedMoment(message.busNs))
    case .acknowledge: return .acknowledge(try outbound(message), through: message.through)
    case .remove: return .remove(try outbound(message), sequence: message.sequence)
    case .tombstone: return .tombstone(try outbound(message), sequence: message.sequence)
    case .countTries:
      return .countTries(try outbound(message), from: message.sequence, through: message.through)
    default: throw .malformed("operation without a value")
    }
  }

  private static func outbound(_ message: WireStoredOperation) throws(WireError) -> OutboundStreamID {
    OutboundStreamID(receiver: try identifier(message.id, "store id"), kind: try kind(message.stream))
  }

  private static func kind(_ word: WireStoredStreamKind) throws(WireError) -> StreamID.Kind {
    switch word {
    case .commands: return .commands
    case .samples: return .samples
    case .messages: return .messages
    case .verdicts: return .verdicts
    case .unspecified: throw .malformed("stream without a kind")
    case .UNRECOGNIZED: throw .unknown("a kind of stream")
    }
  }
}
