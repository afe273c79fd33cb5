// Judging: the arbiter decides about accepted presses. The hub writes down what follows.
extension HubCommands {
  /// The write that makes an accepted command a late one.
  static func isLate(_ id: CommandID) -> StoreOperation { .reclassify(id, .late) }

  /// Judges the presses that wait for no window.
  ///
  /// - Parameter isPast: whether a run has a record, had one, or will get one.
  mutating func judgeLate(at now: BusTime, isPast: @escaping (RunID) -> Bool) -> Settlement {
    arbiter.judgeLate(at: now, isPast: isPast)
  }

  /// Settles the open window as of a moment, if its deadline has come by then.
  mutating func settle(at moment: BusTime, isPast: @escaping (RunID) -> Bool) -> Settlement {
    arbiter.settle(at: moment, isPast: isPast)
  }

  /// Releases the held presses of a stream that brings nothing more, and returns the writes for that. They are judged
  /// without their stop.
  mutating func abandon(_ stream: StreamID) -> [StoreOperation] {
    let fallen = arbiter.abandon(stream)
    book.release(fallen)
    return fallen.map(Self.isLate)
  }

  /// Rejects the unjudged commands of a device that is not paired any more.
  mutating func rejectAll(of device: DeviceID) -> Settlement {
    arbiter.reject(.forbidden) { $0.origin != .ownButton && $0.deviceID == device }
  }

  /// Uses a raised term for verdicts from now on.
  mutating func setTerm(_ term: UInt64) { arbiter.setTerm(term) }

  /// Forgets the aliases of a run whose journal is dropped.
  mutating func forgetAliases(of run: RunID) { arbiter.forgetAliases(of: run) }

  /// Lets presses of an unfinished run wait until it is decided what becomes of it.
  mutating func waitForDecision(about run: RunID, diedAt: BusTime, isAsked: Bool) {
    arbiter.waitForDecision(about: run, diedAt: diedAt, isAsked: isAsked)
  }

  /// The decision is made.
  mutating func decided() { arbiter.decided() }

  /// Whether a press belongs to a whole run that waits for its stop.
  func isOfHeldRun(_ press: AcceptedCommand) -> Bool { arbiter.isOfHeldRun(press) }

  /// Archives the verdicts of a settlement and owes them to whoever sent the commands.
  ///
  /// - Parameter isGivenUp: whether nothing is owed to a store any more, because the device moved to another.
  mutating func answer(
    _ settlement: Settlement, _ operations: inout [StoreOperation], _ then: inout [Durable], at now: BusTime,
    isGivenUp: (StoreID, DeviceID) -> Bool
  ) {
    for answer in settlement.answers {
      let press = answer.press
      let claimants = book.judge(answer.verdict, at: now)
      operations.append(.judge(answer.verdict, press, judgedAt: now))
      then.append(.answer(Receipt(answer.verdict, at: now), press))
      // A stream that the hub has forgotten has no mark, and nothing is owed to its store.
      let sender = press.stream.flatMap { marks.hasBegun($0) ? $0.sender : nil }
      for store in [sender].compactMap({ $0 }) + claimants where !isGivenUp(store, press.deviceID) {
        owe(answer.verdict, to: store, &operations, &then, at: now)
      }
    }
  }

  /// Forgets verdicts that are too old or too many, and returns the write for that.
  mutating func forgetOldVerdicts(at now: BusTime) -> [StoreOperation] {
    book.prune(at: now).map { [.forgetVerdicts(judgedBefore: $0)] } ?? []
  }
}
