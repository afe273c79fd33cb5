package import RunCore

/// Why bytes were refused: the sender broke a rule of the schema. The receiver's state has not changed.
package enum WireError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A rule of the schema is broken; the text names it in one line.
  case malformed(String)
  /// A command of a kind that this version does not know; ``Codec/unsupportedCommand(in:term:revision:)`` prepares the
  /// answer.
  case unsupportedKind(CommandID)
  /// A hello or a request in another version of the wire, which cannot be decoded further.
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
