import Foundation
import RunCore

/// Encodes the transitions that a settled window applied.
enum WindowCoding {
  static func encode(_ applied: [SettledWindow.Applied]) -> Data {
    var writer = ByteWriter()
    for one in applied {
      writer.append(JournalCoding.code(one.kind))
      writer.append(one.commandID)
      writer.append(one.runID)
      writer.append(one.revision)
      writer.append(one.effectiveAt.nanoseconds)
    }
    return writer.data
  }

  /// `nil` for bytes that no version of this code has written.
  static func decode(_ data: Data) -> [SettledWindow.Applied]? {
    var reader = ByteReader(data)
    var applied: [SettledWindow.Applied] = []
    while !reader.isAtEnd {
      guard let kind = reader.byte().flatMap(JournalCoding.commandKind), let commandID: CommandID = reader.identifier(),
        let runID: RunID = reader.identifier(), let revision = reader.unsigned(), let effectiveAt = reader.signed()
      else { return nil }
      applied.append(
        SettledWindow.Applied(
          kind: kind, commandID: commandID, runID: runID, revision: revision,
          effectiveAt: BusTime(nanoseconds: effectiveAt)))
    }
    return applied
  }
}
