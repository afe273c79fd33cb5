import Foundation
import GRDB
import RunCore
import RunWire

/// Accessors that return `nil` for a value of another type; GRDB's subscripts trap.
extension Row {
  func integer(_ column: String) -> Int64? {
    let value: DatabaseValue? = self[column]
    guard case .int64(let number)? = value?.storage else { return nil }
    return number
  }
  /// `nil` also for a number out of range (``StoredNumber``).
  func integer(_ column: String, in range: ClosedRange<Int64>) -> Int64? {
    integer(column).flatMap { range.contains($0) ? $0 : nil }
  }
  func counter(_ column: String, in range: ClosedRange<Int64> = StoredNumber.counters) -> UInt64? {
    integer(column, in: range).map(UInt64.init)
  }
  func moment(_ column: String) -> BusTime? {
    integer(column, in: StoredNumber.times).map { BusTime(nanoseconds: $0) }
  }
  /// `.some(nil)` for NULL, `nil` for a value that is neither NULL nor a moment.
  func optionalMoment(_ column: String) -> BusTime?? {
    isNull(column) ? .some(nil) : moment(column).map { .some($0) }
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
  /// `.some(nil)` for NULL, `nil` for a value that is neither NULL nor an integer.
  func optionalInteger(at index: Int) -> Int64?? {
    let value: DatabaseValue = self[index]
    switch value.storage {
    case .null: return .some(nil)
    case .int64(let number): return .some(number)
    default: return nil
    }
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
  /// The bytes of a stored value; their checksum is looked at when they are read.
  func sealed(_ column: String) throws(StoredError) -> [UInt8] {
    guard let data = data(column) else { throw .damaged }
    return [UInt8](data)
  }
}

extension Identifier {
  /// The 16 bytes that the store contains.
  var data: Data { withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Data($0) } }
}
