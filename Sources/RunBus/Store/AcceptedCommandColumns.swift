import Foundation
import GRDB
import RunCore

/// An accepted command as columns, in `accepted` and in `verdicts`.
enum AcceptedCommandColumns {
  static let names = """
    command, kind, source, run, base_revision, base_command, run_offset, device, origin, sender, sequence, pressed_at, \
    arrived_at, flags
    """
  static let placeholders = "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"

  private static let uncertain: Int64 = 1
  private static let stopFollows: Int64 = 2

  static func values(_ press: AcceptedCommand) -> [(any DatabaseValueConvertible)?] {
    let command = press.command
    return [
      command.id.data, command.kind.rawValue, Data(command.source.rawValue.utf8), command.runID?.data,
      command.base.map { Int64(bitPattern: $0.revision) }, command.base?.commandID?.data,
      command.runOffset?.nanoseconds, press.deviceID.rawValue, word(press.origin), press.store?.data,
      Int64(bitPattern: press.sequence), press.pressedAt.nanoseconds, press.arrivedAt.nanoseconds,
      (press.isUncertain ? uncertain : 0) | (press.stopFollows ? stopFollows : 0),
    ]
  }

  private static func word(_ origin: AcceptedCommand.Origin) -> String {
    switch origin {
    case .ownButton: "button"
    case .store: "store"
    case .request: "request"
    }
  }

  private static func origin(_ word: String?, of sender: StoreID?) -> AcceptedCommand.Origin? {
    switch (word, sender) {
    case ("button", nil): .ownButton
    case ("store", let store?): .store(store)
    case ("request", nil): .request
    default: nil
    }
  }

  /// `nil` when the row does not contain an accepted command.
  static func read(_ row: Row) -> AcceptedCommand? {
    guard let id: CommandID = row.identifier("command"), let kind = row.text("kind").flatMap(CommandKind.init),
      let source = row.data("source"), let deviceID = row.text("device").flatMap({ DeviceID($0) }),
      let sender: StoreID? = row.optionalIdentifier("sender"), let origin = origin(row.text("origin"), of: sender),
      let sequence = row.integer("sequence"), let pressedAt = row.integer("pressed_at"),
      let arrivedAt = row.integer("arrived_at"), let flags = row.integer("flags")
    else { return nil }
    guard let runID: RunID? = row.optionalIdentifier("run"),
      let baseCommand: CommandID? = row.optionalIdentifier("base_command"),
      let baseRevision: Int64? = row.optionalInteger("base_revision"),
      let runOffset: Int64? = row.optionalInteger("run_offset")
    else { return nil }
    let base = baseRevision.map {
      ObservedRevision(revision: UInt64(bitPattern: $0), commandID: baseCommand)
    }
    let command = Command(
      id: id, kind: kind, source: ControlSource(rawValue: String(decoding: source, as: UTF8.self)), runID: runID,
      base: base, runOffset: runOffset.map(BusDuration.init(nanoseconds:)))
    return AcceptedCommand(
      command: command, deviceID: deviceID, origin: origin,
      sequence: UInt64(bitPattern: sequence), pressedAt: BusTime(nanoseconds: pressedAt),
      arrivedAt: BusTime(nanoseconds: arrivedAt), isUncertain: flags & uncertain != 0,
      stopFollows: flags & stopFollows != 0)
  }
}

/// Accessors that return `nil` for a value of another type; GRDB's subscripts trap.
extension Row {
  func integer(_ column: String) -> Int64? {
    let value: DatabaseValue? = self[column]
    guard case .int64(let number)? = value?.storage else { return nil }
    return number
  }
  func real(_ column: String) -> Double? {
    let value: DatabaseValue? = self[column]
    switch value?.storage {
    case .double(let number)?: return number
    case .int64(let number)?: return Double(number)
    default: return nil
    }
  }
  func text(_ column: String) -> String? {
    let value: DatabaseValue? = self[column]
    guard case .string(let text)? = value?.storage else { return nil }
    return text
  }
  /// An empty blob is not NULL. `nil` also for a row without the column, which is damaged.
  func data(_ column: String) -> Data? {
    let value: DatabaseValue? = self[column]
    guard case .blob(let data)? = value?.storage else { return nil }
    return data
  }
  func isNull(_ column: String) -> Bool {
    let value: DatabaseValue? = self[column]
    return value?.isNull ?? false
  }
  func identifier<Kind>(_ column: String) -> Identifier<Kind>? {
    data(column).flatMap { Identifier(bytes: $0) }
  }
  func integer(at index: Int) -> Int64? {
    let value: DatabaseValue = self[index]
    guard case .int64(let number) = value.storage else { return nil }
    return number
  }
  func data(at index: Int) -> Data? {
    let value: DatabaseValue = self[index]
    guard case .blob(let data) = value.storage else { return nil }
    return data
  }
  /// `.some(nil)` for NULL, `nil` for a value that is neither NULL nor an identifier.
  func optionalIdentifier<Kind>(_ column: String) -> Identifier<Kind>?? {
    let value: DatabaseValue? = self[column]
    guard let value, !value.isNull else { return .some(nil) }
    guard let identifier: Identifier<Kind> = self.identifier(column) else { return nil }
    return .some(identifier)
  }
  /// `.some(nil)` for NULL, `nil` for a value that is neither NULL nor an integer.
  func optionalInteger(_ column: String) -> Int64?? {
    let value: DatabaseValue? = self[column]
    guard let value, !value.isNull else { return .some(nil) }
    guard let number = integer(column) else { return nil }
    return .some(number)
  }
}
