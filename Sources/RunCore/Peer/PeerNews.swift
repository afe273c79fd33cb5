// What an action of a core tells the readers of its node.
extension PeerCore {
  /// The news of an action that a core has just returned; `nil` for an action that tells nothing. Static, because a call
  /// of a method would copy the whole peer for each action.
  ///
  /// - Parameter link: The state of the connection to the hub now.
  package static func news(of action: Action, link: @autoclosure () -> Reachability) -> NodeNews? {
    switch action {
    case .receipt(let receipt): .ownReceipt(receipt)
    case .show(let snapshot): .snapshot(snapshot)
    case .showLive(let activity): .lockScreen(activity)
    case .hear(let event): NodeNews(event)
    case .reachability: .link(link())
    case .view(let view): .view(view)
    case .hubLost(let lost): .hubLost(lost)
    case .record(let news): .record(news)
    case .send, .subscribe, .commit, .messageReceipt, .refusePost, .hand, .spooledCommandJudged, .answer, .readRecord,
      .answered, .met, .ended, .enrolled, .fail, .note:
      nil
    }
  }

  /// The state of the connection to the hub.
  package func reachability(at now: BusTime) -> Reachability {
    Reachability(
      isReachable: isReachable, lastHeardAge: heardAt.map { now - $0 }, roundTrip: roundTrip, refusal: refusal)
  }
}
