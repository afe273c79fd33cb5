import Foundation
import RunCore

// Records, for shells and for peers. The bytes of a record's body have their own format and are passed on unread.
extension Codec {
  static func message(asking run: RunID, from: Int) -> WireAskRecord {
    var message = WireAskRecord()
    message.runID = data(run)
    message.from = count(from)
    return message
  }

  static func message(editing run: RunID, title: String?, note: String?) -> WireEditRecord {
    var message = WireEditRecord()
    message.runID = data(run)
    if let title { message.title = fitting(title, bytesMax: RecordSummary.titleBytesMax) }
    if let note { message.note = fitting(note, bytesMax: RecordSummary.noteBytesMax) }
    return message
  }

  static func value(_ message: WireEditRecord) throws(WireError) -> Inquiry {
    .editRecord(
      try identifier(message.runID, "run id"),
      title: message.hasTitle
        ? try text(message.title, "title", bytesMax: RecordSummary.titleBytesMax) : nil,
      note: message.hasNote ? try text(message.note, "note", bytesMax: RecordSummary.noteBytesMax) : nil)
  }

  static func message(_ upload: RecordUpload) -> WireRecordUpload {
    var message = WireRecordUpload()
    message.from = count(upload.from)
    message.bytes = Data(upload.bytes)
    message.total = count(upload.total)
    return message
  }

  static func value(_ message: WireRecordUpload) throws(WireError) -> RecordUpload {
    RecordUpload(
      from: try count(message.from, "place of a byte"), bytes: try part(message.bytes),
      total: try count(message.total, "length of a record"))
  }

  /// Encodes as many summaries as fit into the frame, from the first on, and behind them all the removals that fit.
  static func message(
    _ summaries: [RecordSummary], _ removed: [RecordRemoval], total: Int, bytesMax: Int
  ) -> WireRecordSummaries {
    var message = WireRecordSummaries()
    message.total = count(total)
    var bytesLeft = bytesMax - 16
    for summary in summaries.prefix(answerLinesMax) {
      let bytes = summary.encoded
      bytesLeft -= bytes.count + 4
      guard bytesLeft >= 0 else { return message }
      message.summaries.append(Data(bytes))
    }
    for removal in removed.prefix(answerLinesMax - message.summaries.count) {
      bytesLeft -= removalBytesMax
      guard bytesLeft >= 0 else { break }
      message.removed.append(self.message(removal))
    }
    return message
  }

  /// An id of 16 bytes, a version of at most 10, and the tags and lengths around them.
  private static let removalBytesMax = 32

  static func value(_ message: WireRecordSummaries) throws(WireError) -> InquiryAnswer {
    let total = try count(message.total, "count of records")
    let summaries = try reports(message.summaries) { (bytes: Data) in RecordSummary(encoded: Array(bytes)) }
    // The reader counts the summaries to ask for the next ones, so none may be left out.
    let known = summaries.compactMap(\.self)
    guard known.count == summaries.count else { return .failed(.unknownAnswer) }
    let removed = try reports(message.removed) { (line: WireRecordRemoval) throws(WireError) in try value(line) }
    return .records(known, removed: removed, total: total)
  }

  static func message(_ removal: RecordRemoval) -> WireRecordRemoval {
    var message = WireRecordRemoval()
    message.runID = data(removal.runID)
    message.version = removal.version
    return message
  }

  static func value(_ message: WireRecordRemoval) throws(WireError) -> RecordRemoval {
    RecordRemoval(
      runID: try identifier(message.runID, "run id"), version: try counter(message.version, "version of a record"))
  }

  static func message(_ part: RecordPart) -> WireRecordPart {
    var message = WireRecordPart()
    message.runID = data(part.runID)
    message.version = part.version
    message.from = count(part.from)
    message.bytes = Data(part.bytes)
    message.total = count(part.total)
    return message
  }

  static func value(_ message: WireRecordPart) throws(WireError) -> RecordPart {
    RecordPart(
      runID: try identifier(message.runID, "run id"), version: try counter(message.version, "version of a record"),
      from: try count(message.from, "place of a byte"), bytes: try part(message.bytes),
      total: try count(message.total, "length of a record"))
  }

  static func message(_ fetch: RecordFetch) -> WireFetchRecord {
    var message = WireFetchRecord()
    message.after = fetch.after
    message.from = count(fetch.from)
    return message
  }

  static func value(_ message: WireFetchRecord) throws(WireError) -> RecordFetch {
    RecordFetch(
      after: try counter(message.after, "change of records"), from: try count(message.from, "place of a byte"))
  }

  static func message(_ change: RecordChange) -> WireRecordChange {
    var message = WireRecordChange()
    message.number = change.number
    message.runID = data(change.runID)
    message.version = change.version
    if change.isUnreadable { message.summary = Data() }
    if let summary = change.summary { message.summary = Data(summary.encoded) }
    message.from = count(change.from)
    message.bytes = Data(change.bytes)
    message.total = count(change.total)
    return message
  }

  static func value(_ message: WireRecordChange) throws(WireError) -> RecordChange {
    let summary = message.hasSummary ? RecordSummary(encoded: Array(message.summary)) : nil
    return RecordChange(
      number: try counter(message.number, "change of records"), runID: try identifier(message.runID, "run id"),
      version: try counter(message.version, "version of a record"), summary: summary,
      isUnreadable: message.hasSummary && summary == nil, from: try count(message.from, "place of a byte"),
      bytes: try part(message.bytes), total: try count(message.total, "length of a record"))
  }

  private static func part(_ bytes: Data) throws(WireError) -> [UInt8] {
    guard bytes.count <= RecordPart.bytesMax else {
      throw .malformed("more than \(RecordPart.bytesMax) bytes in a part of a record")
    }
    return Array(bytes)
  }
}
