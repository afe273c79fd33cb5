/// Sends requests to a hub on one connection, without a session: commands until each has its verdict, or one question
/// until it is answered. It decides when they are sent, and what the hub's answers and refusals mean.
///
/// - `down` can go to: `up` (the link comes up).
/// - `up` can go to: `down` (the link is lost), `ended` (everything is answered, or refused for good).
/// - `ended` can go to nothing.
package struct RequestSender: Sendable {
  /// What is asked of the hub.
  package enum Work: Sendable {
    /// To accept these commands, in this order.
    case commands([ForwardedCommand])
    /// The newest snapshot.
    case state
    /// What the hub holds. The answer carries no number, so a connection carries one question.
    case inquiry(Inquiry)
  }

  /// What can happen to a sender.
  package enum Event: Sendable {
    /// The connection is made.
    case linkUp
    /// The connection is lost.
    case linkDown
    /// The hub sent a frame.
    case frame(HubFrame)
    /// A frame could not be sent: the link's queue is full.
    case sendFailed
    /// Time has passed, and the deadline may have come.
    case deadline
  }

  /// What the driver has to do, in the order in which the actions are returned.
  package enum Action: Hashable, Sendable {
    /// Send a frame to the hub.
    case send(PeerFrame)
    /// The hub has answered for the first time, so it has read the commands that were sent.
    case reached
    /// A command has reached a stage. Each stage is told once.
    case receipt(Receipt)
    /// The answer to the question for the state.
    case state(StateMessage)
    /// The answer to the inquiry.
    case answer(InquiryAnswer)
    /// The hub refuses what was sent, and would refuse it again.
    case fail(Refusal)
    /// Everything is answered.
    case finished
  }

  private enum State: Hashable, Sendable {
    case down
    case up(retryAt: BusTime, attempts: Int)
    case ended
  }

  /// At most this many commands are on their way, as in a stream of commands.
  package static let flightMax = 64
  /// The interval at which a request without an answer is repeated in the end.
  private static let repeatEvery = BusDuration.seconds(5)
  /// The number of refusals in a row after which a hub is taken to be unable to read the requests. A single one may
  /// come from a frame that was damaged on its way.
  private static let unreadMax = 3

  private var state = State.down
  private let work: Work
  private let bootID: String
  private var generator: SeededGenerator
  /// The commands without a verdict, in order.
  private var waiting: [ForwardedCommand] = []
  /// Those of them that were sent since the last repetition.
  private var sent: Set<CommandID> = []
  /// Those of them that the hub has.
  private var pending: Set<CommandID> = []
  private var hasReached = false
  /// How many times in a row the hub could not read a request.
  private var unread = 0

  /// A sender without a link.
  ///
  /// - Parameters:
  ///   - bootID: the boot of this machine, by whose clock the commands state their press times; empty when unknown.
  ///   - seed: the seed of jitter.
  package init(_ work: Work, bootID: String, seed: UInt64) {
    self.work = work
    self.bootID = bootID
    generator = SeededGenerator(seed: seed)
    if case .commands(let commands) = work { waiting = commands }
  }

  /// The next moment at which the driver has to feed ``Event/deadline``; `nil` if nothing is due.
  package var deadline: BusTime? {
    switch state {
    case .down, .ended: nil
    case .up(let retryAt, _): retryAt
    }
  }

  /// Processes one event and returns the actions for the driver to carry out, in order.
  package mutating func receive(_ event: Event, at now: BusTime) -> [Action] {
    var actions: [Action] = []
    switch (event, state) {
    case (_, .ended): break
    case (.linkUp, _): sendAll(attempts: 0, at: now, into: &actions)
    case (.linkDown, _): state = .down
    case (_, .down): break
    case (.frame(let frame), .up): if frame.isPossible { receive(frame.message, at: now, into: &actions) }
    case (.sendFailed, .up): retrySoon(at: now)
    case (.deadline, .up(let retryAt, let attempts)):
      if retryAt <= now { sendAll(attempts: attempts, at: now, into: &actions) }
    }
    return actions
  }

  /// Sends what is not answered: when the link comes up, then after 1, 2, 4, and every 5 seconds.
  private mutating func sendAll(attempts: Int, at now: BusTime, into actions: inout [Action]) {
    let wait = min(Self.repeatEvery, .seconds(Int64(1) << Int64(min(attempts, 3))))
    state = .up(retryAt: now + generator.jittered(wait), attempts: attempts + 1)
    sent = []
    switch work {
    case .commands:
      sendCommands(at: now, into: &actions)
      // The hub answers this at once, also while its disk takes no commands.
      if !hasReached { actions.append(.send(frame(Request(.state), at: now))) }
    case .state: actions.append(.send(frame(Request(.state), at: now)))
    case .inquiry(let inquiry): actions.append(.send(frame(Request(.inquiry(inquiry)), at: now)))
    }
  }

  private mutating func sendCommands(at now: BusTime, into actions: inout [Action]) {
    for command in waiting where sent.count < Self.flightMax && !sent.contains(command.command.id) {
      sent.insert(command.command.id)
      actions.append(.send(frame(command.request(at: now, bootID: bootID), at: now)))
    }
  }

  private func frame(_ request: Request, at now: BusTime) -> PeerFrame {
    PeerFrame(session: 0, sentAt: now, message: .request(request))
  }

  // MARK: Answers

  private mutating func receive(_ message: HubMessage, at now: BusTime, into actions: inout [Action]) {
    switch (message, work) {
    case (.refused(let refusal), _): receive(refusal, at: now, into: &actions)
    case (.receipt(let receipt), .commands): receive(receipt, at: now, into: &actions)
    case (.state, .commands): reach(&actions)
    case (.state(let message), .state): end([.state(message), .finished], into: &actions)
    case (.answer(let answer), .inquiry): end([.answer(answer), .finished], into: &actions)
    case (.receipt, _), (.state, _), (.answer, _), (.welcome, _), (.delivery, _), (.pong, _), (.recordChange, _),
      (.room, _),
      (.pairing, _), (.goodbye, _):
      break
    }
  }

  private mutating func receive(_ receipt: Receipt, at now: BusTime, into actions: inout [Action]) {
    let id = receipt.commandID
    guard waiting.contains(where: { $0.command.id == id }) else { return }
    reach(&actions)
    unread = 0
    switch receipt.stage {
    case .queued: break
    case .pending: if pending.insert(id).inserted { actions.append(.receipt(receipt)) }
    case .verdict:
      waiting.removeAll { $0.command.id == id }
      sent.remove(id)
      actions.append(.receipt(receipt))
      if waiting.isEmpty { return end([.finished], into: &actions) }
      sendCommands(at: now, into: &actions)
    }
  }

  /// A busy hub is asked again at the normal time, and one that could not read a request at once. A hub of another
  /// version, or one that does not permit the request or cannot read it several times, will never answer it.
  private mutating func receive(_ refusal: Refusal, at now: BusTime, into actions: inout [Action]) {
    // A hub of another version may call a request what its own version knows.
    guard refusal.version == wireVersion else { return end([.fail(refusal)], into: &actions) }
    switch refusal.code {
    case .versionMismatch, .forbidden: end([.fail(refusal)], into: &actions)
    case .malformed:
      unread += 1
      if unread >= Self.unreadMax { end([.fail(refusal)], into: &actions) } else { retrySoon(at: now) }
    case .busy, .listBehind, .tooFast, .storeBehind: reach(&actions)
    case .unknownSession, .storeRegressed, .unknown: break
    }
  }

  private mutating func retrySoon(at now: BusTime) {
    guard case .up(_, let attempts) = state else { return }
    state = .up(retryAt: now + generator.jittered(.milliseconds(200)), attempts: attempts)
  }

  private mutating func reach(_ actions: inout [Action]) {
    guard !hasReached else { return }
    hasReached = true
    actions.append(.reached)
  }

  private mutating func end(_ last: [Action], into actions: inout [Action]) {
    state = .ended
    reach(&actions)
    actions += last
  }
}
