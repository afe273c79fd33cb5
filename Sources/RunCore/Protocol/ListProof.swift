/// Evidence that a hub has handed out a version of its list of devices: a MAC over the version and the hub's key, under a
/// secret that lies with the hub's keys and not in its store. A version without it is a number that anybody can state.
package struct ListProof: Hashable, Sendable {
  /// The 32 bytes of the MAC.
  package let bytes: [UInt8]

  /// How many bytes a proof has.
  package static let byteCount = 32

  /// A proof from its bytes; `nil` unless there are ``byteCount`` of them.
  package init?(_ bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes)
    guard self.bytes.count == Self.byteCount else { return nil }
  }

  /// Whether two proofs are the same. The time that this takes does not depend on how many of their bytes are.
  package static func == (one: ListProof, other: ListProof) -> Bool {
    zip(one.bytes, other.bytes).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
