package import RunCore

/// Why bytes were refused: the sender broke a rule of the schema. The receiver's state has not changed.
package enum WireError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A rule of the schema is broken; the text names it in one line.
  case malformed(String)
  /// A command of a kind that this version does not know; ``Codec/unsupportedCommand(in:term:revision:)`` prepares the
  /// answer.
  case unsupportedKind(CommandID)
  /// A frame, delivery or event of a kind that this version does not know; the text names what is not known. It has no
  /// effect and gets no answer, because a later version may send it to every node.
  case unknown(String)
  /// A hello or a request in another version of the wire, which cannot be decoded further.
  case versionMismatch(UInt32)

  package var description: String {
    switch self {
    case .malformed(let reason): reason
    case .unsupportedKind(let id): "command \(id) is of a kind that this version does not know"
    case .unknown(let what): "\(what) is not known to this version"
    case .versionMismatch(let version):
      "the other side speaks version \(version) of the wire, this one speaks \(wireVersion)"
    }
  }
}
