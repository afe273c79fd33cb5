import DequeModule

/// The news that a reader has not taken yet, in order.
///
/// A snapshot, and every other state of which only the newest counts, replaces the one of its kind that waits, and moves to
/// the end. Verdicts on the node's own commands all wait: there are no more than the app has given commands. News that other
/// devices cause have a bound; above it the oldest is left out, and ``NodeNews/missed(_:)`` gives the number.
package struct NewsQueue: Sendable {
  /// How much of what others cause is kept.
  package static let othersMax = 1024

  /// What stands in for a kind of which only the newest counts.
  private enum Kind: Hashable { case snapshot, predicted, link, view, lockScreen, devices, route, splits, room }

  private var slots: Deque<NodeNews?> = []
  /// The number of the first slot.
  private var first = 0
  /// The numbers of the slots with the newest of their kinds.
  private var newest: [Kind: Int] = [:]
  /// The numbers of the slots with what others cause, in order.
  private var others: Deque<Int> = []
  /// How much was left out and is not told yet.
  private var missed = 0

  package init() {}

  /// How much memory it takes, in elements.
  var slotCount: Int { slots.count }
  /// Whether nothing waits.
  package var isEmpty: Bool { slots.isEmpty && missed == 0 }

  /// Adds something that the node has learned.
  package mutating func put(_ news: NodeNews) {
    var news = news
    let kind = Self.kind(of: news)
    if let kind {
      if let number = newest[kind], number >= first, let old = slots[number - first] {
        news = join(old, news)
        slots[number - first] = nil
      }
      newest[kind] = first + slots.count
    } else if !Self.isKept(news) {
      others.append(first + slots.count)
    }
    slots.append(news)
    while others.count > Self.othersMax {
      slots[others.removeFirst() - first] = nil
      missed += 1
    }
    removeTaken()
    if slots.count > 4 * (newest.count + others.count + 64) { compact() }
  }

  /// Takes the oldest; `nil` when nothing waits.
  package mutating func take() -> NodeNews? {
    if missed > 0 {
      defer { missed = 0 }
      return .missed(missed)
    }
    guard let news = slots.first else { return nil }
    if others.first == first { others.removeFirst() }
    slots.removeFirst()
    first += 1
    removeTaken()
    return news
  }

  /// What stands for two news of a kind. A break of the link that is left out may have hidden what others did.
  private mutating func join(_ old: NodeNews, _ new: NodeNews) -> NodeNews {
    switch (old, new) {
    case (.route(let old), .route(let new)): return .route(old.followed(by: new))
    case (.link(let old), .link(let new)):
      if !old.isReachable, new.isReachable { missed += 1 }
      return .link(new)
    default: return new
    }
  }

  private mutating func removeTaken() {
    while let slot = slots.first, slot == nil {
      slots.removeFirst()
      first += 1
    }
  }

  /// Closes the gaps, which would grow where an old verdict waits and snapshots replace each other behind it.
  private mutating func compact() {
    let left = slots.compactMap { $0 }
    (first, newest, others) = (0, [:], [])
    slots = []
    for (number, news) in left.enumerated() {
      if let kind = Self.kind(of: news) { newest[kind] = number } else if !Self.isKept(news) { others.append(number) }
      slots.append(news)
    }
  }

  private static func kind(of news: NodeNews) -> Kind? {
    switch news {
    case .snapshot: .snapshot
    case .predicted: .predicted
    case .link: .link
    case .view: .view
    case .lockScreen: .lockScreen
    case .devices: .devices
    case .route: .route
    case .splits: .splits
    case .room: .room
    case .hubLost, .command, .receipt, .ownReceipt, .presence, .record, .cue, .missed: nil
    }
  }

  private static func isKept(_ news: NodeNews) -> Bool {
    if case .ownReceipt(let receipt) = news, case .verdict = receipt.stage { true } else { false }
  }
}
