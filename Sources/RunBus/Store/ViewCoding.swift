import Foundation
import RunCore
import RunWire

/// Encodes the last snapshot that a peer has seen, as the event in which a hub publishes it.
enum ViewCoding {
  static func encode(_ view: Snapshot) -> Data {
    Data(Codec.encode(BusEvent.snapshot(StateMessage(snapshot: view, age: .zero))))
  }

  /// `nil` for bytes that no version of this code has written.
  static func decode(_ data: Data) -> Snapshot? {
    guard case .snapshot(let message)? = try? Codec.busEvent(Array(data)) else { return nil }
    return message.snapshot
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
