import Foundation
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
    var message = WireStoredCommit()
    message.operations.reserveCapacity(commit.operations.count)
    var setsClock = false
    for operation in commit.operations {
      guard let part = self.message(operation) else { return nil }
      if case .setClock = operation { setsClock = true }
      message.operations.append(part)
    }
    message.wallSeconds = commit.wallSeconds
    if setsClock { message.bootID = commit.bootID }
    return serialize(message)
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

  private static func message(_ operation: StoreOperation) -> WireStoredOperation? {
    switch operation {
    case .accept(let press, let admission): return message(.accept, stored(press, admission))
    case .claim(let command, let store):
      var message = message(.claim, command)
      message.other = data(store)
      return message
    case .judge(let verdict, let press, let judgedAt):
      return message(.judge, stored(verdict, of: press, judgedAt: judgedAt))
    case .setWatermark(let stream, let mark):
      var message = message(.setWatermark, stream.sender)
      message.stream = word(stream.kind)
      message.sequence = mark.sequence
      if let id = mark.id { message.other = data(id) }
      return message
    case .append(let run, let entry):
      var message = message(.append, run)
      message.sequence = entry.position
      message.value = Data(stored(entry.event, at: entry.time, device: 0))
      if case .sample(_, let device) = entry.event { message.name = device.rawValue }
      return message
    case .settle(let window): return message(.settle, stored(window))
    case .setAlias(let alias, let run):
      var message = message(.setAlias, alias)
      message.other = data(run)
      return message
    case .endJournal(let run, let moment):
      var message = message(.endJournal, run)
      message.timeNs = StoredNumber.nanoseconds(moment)
      return message
    case .setClock(let real, let bus):
      var message = WireStoredOperation()
      message.kind = .setClock
      message.timeNs = StoredNumber.nanoseconds(real)
      message.busNs = StoredNumber.nanoseconds(bus)
      return message
    case .setView(let view): return message(.setView, stored(view))
    case .setFailureMark(let mark): return message(.setFailureMark, stored(mark))
    case .enqueue(let row):
      var message = message(.enqueue, row.stream)
      message.sequence = row.sequence
      message.timeNs = StoredNumber.nanoseconds(row.since)
      message.tries = row.tries
      message.uncertain = row.isUncertain
      if let item = row.item { message.value = Data(stored(item)) }
      return message
    case .acknowledge(let stream, let through):
      var message = message(.acknowledge, stream)
      message.through = through
      return message
    case .remove(let stream, let sequence): return message(.remove, stream, sequence)
    case .tombstone(let stream, let sequence): return message(.tombstone, stream, sequence)
    case .countTries(let stream, let first, let last):
      var message = message(.countTries, stream, first)
      message.through = last
      return message
    case .quarantine(let quarantined):
      var message = message(.quarantine, stored(quarantined))
      message.timeNs = StoredNumber.nanoseconds(quarantined.since)
      return message
    case .setLatest(let row): return message(.setLatest, stored(row))
    case .receiveLatest(let row): return message(.receiveLatest, stored(row))
    case .setTerm, .reclassify, .forgetStream, .forgetVerdicts, .expectRecord, .forgetExpected, .keepRecord, .dateRun,
      .dropJournal, .setUnanswered, .discard, .editRecord, .removeRecord, .skipChanges, .setRecordsThrough, .setStoreID,
      .setHub, .meet, .forgetDevice, .own, .disown, .pair, .unpair, .setMemberVersion, .renumber, .drop, .shiftRows,
      .unquarantine:
      return nil
    }
  }

  private static func message(_ kind: WireStoredOperationKind, _ value: [UInt8]) -> WireStoredOperation {
    var message = WireStoredOperation()
    message.kind = kind
    message.value = Data(value)
    return message
  }

  private static func message<Kind>(
    _ kind: WireStoredOperationKind, _ id: Identifier<Kind>
  ) -> WireStoredOperation {
    var message = WireStoredOperation()
    message.kind = kind
    message.id = data(id)
    return message
  }

  private static func message(
    _ kind: WireStoredOperationKind, _ stream: OutboundStreamID, _ sequence: UInt64 = 0
  ) -> WireStoredOperation {
    var message = message(kind, stream.receiver)
    message.stream = word(stream.kind)
    message.sequence = sequence
    return message
  }

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

  private static func word(_ kind: StreamID.Kind) -> WireStoredStreamKind {
    switch kind {
    case .commands: .commands
    case .samples: .samples
    case .messages: .messages
    case .verdicts: .verdicts
    }
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
