// What an action of a core tells the readers of its node.
extension PeerCore {
  /// The news of an action that the core has just returned; `nil` for an action that tells nothing.
  package func news(of action: Action, at now: BusTime) -> NodeNews? {
    switch action {
    case .receipt(let receipt): .ownReceipt(receipt)
    case .show(let snapshot): .snapshot(snapshot)
    case .showLive(let activity): .lockScreen(activity)
    case .hear(let event): NodeNews(event)
    case .reachability: .link(reachability(at: now))
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
