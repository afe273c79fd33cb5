import RunCore

// Lock screens: in every third world one peer receives pushes to lock screens and nothing else.
extension World {
  /// Whether a peer is a lock screen.
  func isLockScreen(_ index: Int) -> Bool { index == 1 && seed.isMultiple(of: 3) }

  /// The topics of a peer.
  func topics(of index: Int) -> [Topic] { isLockScreen(index) ? [.live] : [.snapshots, .feed, .route] }

  /// A push shows what the hub shows, and only what is durable. It is good for a while, as long as the run is on.
  mutating func check(_ message: LiveMessage) {
    let (push, shown) = (message.push, hub.shown)
    tally.count("push \(push.kind.rawValue)")
    guard message.age == .zero else { return }
    if push.order != shown.order || push.content.phase != shown.phase || push.content.runID != shown.runID
      || push.content.isRecovering != shown.isRecovering
    {
      faults.append(
        "push \(push.number) shows \(push.order) \(push.content.phase), the hub \(shown.order) \(shown.phase)")
    }
    if push.content.phase.isOn, push.staleAt.map({ $0 <= push.pushedAt }) ?? true {
      faults.append("push \(push.number) is stale from the start")
    }
  }

  /// A lock screen that does not say that it is stale was pushed to a short while ago.
  mutating func check(_ activity: LiveActivity, at index: Int) {
    guard isLockScreen(index), !activity.isStale, let now = peers[index].core?.busNow(at: peerNow(index)) else {
      return
    }
    if let staleAt = activity.push.staleAt, staleAt <= now {
      faults.append("the lock screen of peer \(index) shows push \(activity.push.number) as fresh after \(staleAt)")
    }
  }

  /// In the end a lock screen shows the run of the hub.
  mutating func checkLockScreen(_ index: Int) {
    guard isLockScreen(index), let hubCore = hub.core, let activity = peers[index].core?.liveActivity else { return }
    let (content, theirs) = (activity.push.content, hubCore.authoritative)
    // A hub that has lost its store has no run, and pushes nothing about the lost one.
    let isSameRun = content.runID == theirs.runID || theirs.phase == .idle
    if content.phase != theirs.phase || !isSameRun {
      faults.append("the lock screen of peer \(index) shows \(content.phase), the hub \(theirs.phase)")
    }
    if activity.isStale, theirs.phase.isOn { faults.append("the lock screen of peer \(index) is stale") }
  }
}
