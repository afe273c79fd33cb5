/// What a node repeats on its streams, and what is repeated to it. Both are normal on a link that breaks, and both cost
/// it something.
package struct DeliveryTally: Hashable, Sendable {
  /// Presses, verdicts, readings and messages that went out though this life of the node had sent them before.
  package var retransmissions: Int64 = 0
  /// Those that came in though the node had them.
  package var duplicates: Int64 = 0

  /// Nothing was repeated.
  package init() {}

  /// Whether nothing was repeated.
  package var isEmpty: Bool { retransmissions == 0 && duplicates == 0 }
}
