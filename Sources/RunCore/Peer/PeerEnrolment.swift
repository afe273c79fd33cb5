/// What a paired device knows of its bus by the hub's word, and the key that it announces to the hub.
struct PeerEnrolment: Sendable {
  /// What the hub told last; `nil` for a peer without a key.
  private(set) var told: Enrolment?
  /// The key that the hub is to know of this machine, until it does.
  private var announcing: KeyFingerprint?

  init(_ told: Enrolment?) { self.told = told }

  /// Keeps what the hub tells. It may know the announced key from now on.
  ///
  /// - Returns: whether it is a next key of the hub that was not kept here. A hello tells the hub that it is.
  @discardableResult mutating func note(_ news: Enrolment, in turn: inout PeerCore.Turn) -> Bool {
    guard let before = told, news.listVersion >= before.listVersion else { return false }
    let known = announcing.flatMap { $0 == news.nextDeviceKey ? $0 : nil }
    if known != nil { announcing = nil }
    guard news != before || known != nil else { return false }
    told = news
    turn.act(.enrolled(news, announced: known))
    return news.nextHubKey != nil && news.nextHubKey != before.nextHubKey
  }

  /// Announces the key that replaces this machine's own when it is first used, now and in every session until the hub
  /// knows it.
  mutating func announce(_ key: KeyFingerprint, over link: UInt64?, in turn: inout PeerCore.Turn) {
    announcing = key
    announceAgain(over: link, in: &turn)
  }

  /// Announces the key in a new session, if there is one to announce.
  func announceAgain(over link: UInt64?, in turn: inout PeerCore.Turn) {
    if let announcing { turn.send(.announceKey(announcing), over: link) }
  }
}
