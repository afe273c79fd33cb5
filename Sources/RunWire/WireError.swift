package import RunCore

/// Why bytes from the wire were not taken. Whoever sent them broke a rule of the schema; nothing has changed here.
package enum WireError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A rule of the schema is broken; which one, in one line.
  case malformed(String)
  /// A command of a kind that this version does not know; ``Codec/unsupportedCommand(in:term:revision:)`` makes the answer.
  case unsupportedKind(CommandID)
  /// A hello in another version of the wire that cannot be read any further.
  case versionMismatch(UInt32)

  package var description: String {
    switch self {
    case .malformed(let reason): reason
    case .unsupportedKind(let id): "command \(id) is of a kind that this version does not know"
    case .versionMismatch(let version):
      "the other side speaks version \(version) of the wire, this one speaks \(wireVersion)"
    }
  }
}
