/// The hub's side of pairing. It takes one token at a time, for a limited time, from one device.
///
/// | state | event | next state |
/// |---|---|---|
/// | closed | ``open(token:until:)`` | open |
/// | open | the token, by any key | asking |
/// | open | the fifth wrong token | closed |
/// | asking | the person's decision | closed |
/// | open, asking | time, or ``close(_:)`` | closed |
/// | open, asking | ``open(token:until:)`` | open, for another token |
struct OpenPairing: Sendable {
  /// How many wrong tokens close it.
  static let failuresMax = 5
  /// How long it stays open, real time.
  package static let openFor = BusDuration.seconds(120)

  private enum State: Sendable {
    case closed(PairingEnd)
    case open
    case asking(PairingCandidate, ConnectionID)
  }
  private var state = State.closed(.notOpened)
  /// The token of the pairing that was opened last; it names that pairing to the person's orders.
  private var token: [UInt8] = []
  private var failures = 0
  /// When it closes, bus time; `nil` while it is closed.
  private(set) var deadline: BusTime?

  /// How far the pairing that was opened last has come.
  var stage: PairingStage {
    switch state {
    case .closed(let end): .closed(end)
    case .open: .open
    case .asking(let candidate, _): .asking(candidate)
    }
  }

  /// How far the pairing of a token has come.
  func stage(of token: [UInt8]) -> PairingStage {
    if token == self.token { return stage }
    return .closed(self.token.isEmpty ? .notOpened : .replaced)
  }

  /// Whether it takes requests.
  var isOpen: Bool { if case .closed = state { false } else { true } }

  /// Opens it for a token. The pairing of an earlier token ends as ``PairingEnd/replaced``; a device that asked with that
  /// token asks again with the new one.
  mutating func open(token: [UInt8], until: BusTime) {
    self.token = token
    state = .open
    failures = 0
    deadline = until
  }

  /// Ends it.
  mutating func close(_ end: PairingEnd) {
    guard isOpen else { return }
    state = .closed(end)
    deadline = nil
  }

  /// The answer to a request.
  enum Answer: Hashable, Sendable {
    /// The person is asked.
    case wait
    /// The request is refused, for a reason that a person reads.
    case refuse(String)
  }

  /// A device shows a token. The first presentation uses the token up: only the same key may repeat it.
  mutating func present(
    _ request: PairingRequest, by key: KeyFingerprint, isNameTaken: Bool, on connection: ConnectionID
  ) -> Answer {
    switch state {
    case .closed: return .refuse("this hub pairs no device now: open pairing on the hub again")
    case .open where token == request.token:
      let candidate = PairingCandidate(
        key: key, deviceID: request.deviceID, role: request.role, sources: request.sources, isNameTaken: isNameTaken)
      state = .asking(candidate, connection)
      return .wait
    case .asking(let candidate, _) where token == request.token && candidate.key == key:
      state = .asking(candidate, connection)
      return .wait
    case .open:
      failures += 1
      if failures >= Self.failuresMax { close(.tooManyFailures) }
      return .refuse(Self.wrongToken)
    // The token is used up, so a guess is no danger any more; to end the pairing of another device would be one.
    case .asking: return .refuse(Self.wrongToken)
    }
  }

  private static let wrongToken = "the token is wrong or was used: open pairing on the hub again"

  /// The person decides about the candidate of a pairing.
  ///
  /// - Returns: the candidate's connection; `nil` if another one, or none, waits.
  mutating func decide(_ key: KeyFingerprint, of token: [UInt8], _ end: PairingEnd) -> ConnectionID? {
    guard token == self.token, case .asking(let candidate, let connection) = state, candidate.key == key else {
      return nil
    }
    close(end)
    return connection
  }
}
