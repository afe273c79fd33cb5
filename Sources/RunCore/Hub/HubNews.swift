// What an action of a core tells the readers of its node.
extension HubCore {
  /// The news of an action that a core has just returned; `nil` for an action that tells nothing. Static, because a call
  /// of a method would copy the whole hub for each action.
  package static func news(of action: Action) -> NodeNews? {
    switch action {
    case .receipt(let receipt): .ownReceipt(receipt)
    case .show(let snapshot): .snapshot(snapshot)
    case .showLive(let activity): .lockScreen(activity)
    case .publish(let event): NodeNews(event)
    case .record(let news): .record(news)
    case .open, .send, .forward, .commit, .messageReceipt, .refusePost, .hand, .keep, .readJournal, .readRecord,
      .spooledCommandJudged, .answer, .recovered, .admit, .cutConnections, .useNextKey, .listenForPairing, .forbade,
      .note, .room, .ended:
      nil
    }
  }
}
