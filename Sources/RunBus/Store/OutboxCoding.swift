import Foundation
import RunCore

/// The kind of an outbox row. The numbers are part of the file format and never reused.
enum OutboxKind: Int64 {
  case command = 1
  case sample = 2
  case message = 3
  case verdict = 4
}

/// Encodes the items of an outbox.
enum OutboxCoding {
  static func encode(_ item: OutboxItem) -> (kind: OutboxKind, payload: [UInt8]) {
    var writer = ByteWriter()
    writer.reserve(item.size)
    switch item {
    case .command(let command):
      append(command, to: &writer)
      return (.command, writer.bytes)
    case .sample(let sample, let runID):
      append(sample.moment, to: &writer)
      writer.append(optional: runID) { $0.append($1) }
      // The kind comes first, because the reading takes up the rest of the row.
      var reading = ByteWriter()
      writer.append(UInt8(JournalCoding.append(sample.value, to: &reading).rawValue))
      writer.appendRest(reading.bytes)
      return (.sample, writer.bytes)
    case .message(let message):
      writer.append(message)
      return (.message, writer.bytes)
    case .verdict(let verdict):
      append(verdict, to: &writer)
      return (.verdict, writer.bytes)
    }
  }

  /// `nil` for bytes that no version of this code has written.
  static func decode(kind: OutboxKind, payload: Data) -> OutboxItem? {
    var reader = ByteReader(payload)
    guard let item = read(kind, from: &reader), reader.isAtEnd else { return nil }
    return item
  }

  private static func read(_ kind: OutboxKind, from reader: inout ByteReader) -> OutboxItem? {
    switch kind {
    case .command: return readCommand(from: &reader).map(OutboxItem.command)
    case .sample:
      guard let moment = readMoment(from: &reader), let runID: RunID? = reader.optional({ $0.identifier() }),
        let kind = reader.byte().flatMap({ JournalKind(rawValue: Int64($0)) }),
        let value = JournalCoding.readSample(kind, from: &reader)
      else { return nil }
      return .sample(Sample(moment: moment, value: value), runID: runID)
    case .message: return reader.message().map(OutboxItem.message)
    case .verdict: return readVerdict(from: &reader).map(OutboxItem.verdict)
    }
  }

  private static func append(_ moment: SampleMoment, to writer: inout ByteWriter) {
    switch moment {
    case .at(let time):
      writer.append(UInt8(1))
      writer.append(time.nanoseconds)
    case .runOffset(let offset):
      writer.append(UInt8(2))
      writer.append(offset.nanoseconds)
    }
  }

  private static func readMoment(from reader: inout ByteReader) -> SampleMoment? {
    switch reader.byte() {
    case 1: reader.signed().map { .at(BusTime(nanoseconds: $0)) }
    case 2: reader.signed().map { .runOffset(BusDuration(nanoseconds: $0)) }
    default: nil
    }
  }

  private static func append(_ command: Command, to writer: inout ByteWriter) {
    writer.append(command.id)
    writer.append(JournalCoding.code(command.kind))
    writer.append(command.source.rawValue)
    writer.append(optional: command.runID) { $0.append($1) }
    writer.append(optional: command.base) { writer, base in
      writer.append(base.revision)
      writer.append(optional: base.commandID) { $0.append($1) }
    }
    writer.append(optional: command.runOffset) { $0.append($1.nanoseconds) }
  }

  private static func readCommand(from reader: inout ByteReader) -> Command? {
    guard let id: CommandID = reader.identifier(), let kind = reader.byte().flatMap(JournalCoding.commandKind),
      let source = reader.text(), let runID: RunID? = reader.optional({ $0.identifier() }),
      let base = reader.optional({ reader -> ObservedRevision? in
        guard let revision = reader.unsigned(), let commandID: CommandID? = reader.optional({ $0.identifier() }) else {
          return nil
        }
        return ObservedRevision(revision: revision, commandID: commandID)
      }),
      let runOffset = reader.optional({ $0.signed().map(BusDuration.init(nanoseconds:)) })
    else { return nil }
    return Command(
      id: id, kind: kind, source: ControlSource(rawValue: source), runID: runID, base: base, runOffset: runOffset)
  }

  private static func append(_ verdict: Verdict, to writer: inout ByteWriter) {
    writer.append(verdict.commandID)
    writer.append(JournalCoding.code(verdict.kind))
    writer.append(verdict.source.rawValue)
    switch verdict.outcome {
    case .applied: writer.append(UInt8(1))
    case .coalesced(let into):
      writer.append(UInt8(2))
      writer.append(into)
    case .superseded(let by):
      writer.append(UInt8(3))
      writer.append(by)
    case .rejected(let reason):
      writer.append(UInt8(4))
      writer.append(reason.code)
      if case .illegal(let phase) = reason { writer.append(phase.rawValue) }
    case .unknown: writer.append(UInt8(5))
    }
    writer.append(optional: verdict.runID) { $0.append($1) }
    writer.append(verdict.term)
    writer.append(verdict.revision)
    writer.append(optional: verdict.effectiveAt) { $0.append($1.nanoseconds) }
  }

  private static func readVerdict(from reader: inout ByteReader) -> Verdict? {
    guard let id: CommandID = reader.identifier(), let kind = reader.byte().flatMap(JournalCoding.commandKind),
      let source = reader.text(), let outcome = readOutcome(from: &reader),
      let runID: RunID? = reader.optional({ $0.identifier() }), let term = reader.unsigned(),
      let revision = reader.unsigned(),
      let effectiveAt = reader.optional({ $0.signed().map(BusTime.init(nanoseconds:)) })
    else { return nil }
    return Verdict(
      commandID: id, kind: kind, source: ControlSource(rawValue: source), outcome: outcome, runID: runID, term: term,
      revision: revision, effectiveAt: effectiveAt)
  }

  private static func readOutcome(from reader: inout ByteReader) -> Outcome? {
    switch reader.byte() {
    case 1: return .applied
    case 2: return reader.identifier().map(Outcome.coalesced)
    case 3: return reader.identifier().map(Outcome.superseded)
    case 4:
      guard let code = reader.text() else { return nil }
      guard code == "illegal" else { return RejectionReason(plainCode: code).map(Outcome.rejected) }
      return reader.text().flatMap(RunPhase.init).map { .rejected(.illegal($0)) }
    case 5: return .unknown
    default: return nil
    }
  }
}

extension ByteWriter {
  /// Appends a message; its body takes up the rest of the row.
  mutating func append(_ message: AppMessage) {
    append(message.id)
    append(message.name)
    appendRest(message.body)
  }
  mutating func append<Value>(optional value: Value?, _ write: (inout ByteWriter, Value) -> Void) {
    append(UInt8(value == nil ? 0 : 1))
    if let value { write(&self, value) }
  }
}

extension ByteReader {
  mutating func message() -> AppMessage? {
    guard let id: MessageID = identifier(), let name = text() else { return nil }
    return AppMessage(id: id, name: name, body: takeRest())
  }
  /// `.some(nil)` for a missing value, `nil` for bytes that cannot be read.
  mutating func optional<Value>(_ read: (inout ByteReader) -> Value?) -> Value?? {
    switch byte() {
    case 0: return .some(nil)
    case 1: return read(&self).map { .some($0) }
    default: return nil
    }
  }
}
