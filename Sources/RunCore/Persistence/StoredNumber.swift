/// The bounds of the numbers that are read from a store. What is outside was not written by a node: its row is damaged.
///
/// Nodes add to these numbers and subtract from them. Within the bounds no sum leaves the range of the integers, and
/// no saturated sum stands for a moment that stays due.
package enum StoredNumber {
  /// Numbers that came over the wire, and have the bound that they have there: sequences and versions of newest values.
  package static let counters: ClosedRange<Int64> = 0...(1 << 62)
  /// Numbers that this node counts on: revisions, positions and changes of records. The next four billion of them are
  /// within the bound of the wire too, so that a receiver accepts them.
  package static let own: ClosedRange<Int64> = 0...((1 << 62) - (1 << 32))
  /// Moments and spans, in nanoseconds: 146 years on either side.
  package static let times: ClosedRange<Int64> = -(1 << 62)...(1 << 62)
  /// Numbers of devices in a journal. As many are left for devices to come.
  package static let devices: ClosedRange<UInt32> = 0...UInt32.max / 2

  /// A number of nanoseconds as it is stored. One beyond the bounds, to which only a senseless age leads, is the last
  /// one within.
  package static func clamped(_ nanoseconds: Int64) -> Int64 {
    min(max(nanoseconds, times.lowerBound), times.upperBound)
  }
  /// A moment as it is stored, in nanoseconds.
  package static func nanoseconds(_ moment: BusTime) -> Int64 { clamped(moment.nanoseconds) }
}
