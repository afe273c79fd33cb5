/// Whether two who seek fit.
package enum SeekFit {
  /// What does not fit between two runners, first of goal, gender and level; `nil` when they fit.
  ///
  /// - Parameters:
  ///   - one: The card of one, and what it seeks; `nil` fits nobody.
  ///   - other: The same of the other.
  ///   - levelDifference: How far apart the levels may be.
  package static func unfit(
    _ one: (card: RoomCard, seek: Seek?), _ other: (card: RoomCard, seek: Seek), levelDifference: Int
  ) -> RoomRefusal.Unfit? {
    guard let seek = one.seek, seek.goal == other.seek.goal else { return .goal }
    if let wish = other.seek.wish, one.card.gender != wish { return .gender }
    if let wish = seek.wish, other.card.gender != wish { return .gender }
    return abs(one.card.level - other.card.level) > levelDifference ? .level : nil
  }
}
