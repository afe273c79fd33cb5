/// How often devices may raise a hub's term: each time is a commit and a snapshot to everybody.
struct TermRaises: Sendable {
  /// A bus has fewer devices than this, and each raises the term once after its hub has lost its store.
  static let most = 16
  /// In this time, real.
  static let span = BusDuration.seconds(60)
  private var since: BusTime?
  private var count = 0

  /// Counts one more; `false` when there were too many lately.
  mutating func admit(at now: BusTime) -> Bool {
    if since.map({ now - $0 >= Self.span }) ?? true { (since, count) = (now, 0) }
    guard count < Self.most else { return false }
    count += 1
    return true
  }
}
