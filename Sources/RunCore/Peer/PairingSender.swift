/// The device's side of pairing: it sends its request until the hub has decided.
///
/// | state | event | next state |
/// |---|---|---|
/// | down | the link is up: the request is sent | asking |
/// | asking | a second without a decision: the request is sent again | asking |
/// | asking | the link is down | down |
/// | asking | the hub has paired the key, or refuses | over |
package struct PairingSender: Sendable {
  /// What can happen.
  package enum Event: Sendable {
    /// The connection with the device's key is made.
    case linkUp
    /// The connection is lost, or was not made.
    case linkDown
    /// The hub sent a frame.
    case frame(HubFrame)
    /// Time has passed, and a deadline may have come.
    case deadline
  }

  /// What the driver has to do, in the order in which the actions are returned.
  package enum Action: Hashable, Sendable {
    /// Send a frame to the hub.
    case send(PeerFrame)
    /// The hub has the request and asks its person. Told once.
    case waiting
    /// The key is paired.
    case paired(Enrolment)
    /// The hub has refused, for a reason that a person reads.
    case refused(String)
  }

  /// How long after a request it is sent again, real time.
  static let repeatAfter = BusDuration.seconds(1)

  private enum State: Sendable { case down, asking(again: BusTime), over }
  private var state = State.down
  private var hasWaited = false
  private let request: PairingRequest

  /// A sender of one request.
  package init(_ request: PairingRequest) { self.request = request }

  /// The next moment at which the driver has to feed ``Event/deadline``; `nil` if nothing is due.
  package var deadline: BusTime? { if case .asking(let again) = state { again } else { nil } }

  /// Processes one event and returns the actions for the driver to carry out, in order.
  package mutating func receive(_ event: Event, at now: BusTime) -> [Action] {
    switch (event, state) {
    case (_, .over): return []
    case (.linkUp, _): return ask(at: now)
    case (.linkDown, _): state = .down
    case (.deadline, .asking(let again)) where again <= now: return ask(at: now)
    case (.frame(let frame), .asking): return receive(frame.message)
    case (.deadline, _), (.frame, _): break
    }
    return []
  }

  private mutating func ask(at now: BusTime) -> [Action] {
    state = .asking(again: now + Self.repeatAfter)
    return [.send(PeerFrame(session: 0, sentAt: now, message: .pair(request)))]
  }

  private mutating func receive(_ message: HubMessage) -> [Action] {
    switch message {
    case .pairing(.waiting):
      defer { hasWaited = true }
      return hasWaited ? [] : [.waiting]
    case .pairing(.paired(let enrolment)):
      state = .over
      return [.paired(enrolment)]
    case .pairing(.refused(let reason)):
      state = .over
      return [.refused(reason)]
    case .refused(let refusal):
      state = .over
      return [.refused(refusal.message)]
    default: return []
    }
  }
}
