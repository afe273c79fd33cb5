/// Limits how often devices may raise a hub's term, because each raise costs a commit and a snapshot to every peer.
struct TermRaises: Sendable {
  /// A bus has fewer devices than this, and each raises the term once after its hub has lost its store.
  static let most = 16
  /// The period of the limit, in real time.
  static let span = BusDuration.seconds(60)
  private var since: BusTime?
  private var count = 0

  /// Counts a raise; `false` if there were too many in the present period.
  mutating func admit(at now: BusTime) -> Bool {
    if since.map({ now - $0 >= Self.span }) ?? true { (since, count) = (now, 0) }
    guard count < Self.most else { return false }
    count += 1
    return true
  }
}
