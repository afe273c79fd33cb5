/// The commands that the hub has accepted: those without a verdict, which stores and connections are owed their
/// verdicts, and the verdicts of the last two days.
struct CommandBook: Sendable {
  /// How far a command has come.
  enum Stage: Sendable {
    /// It is accepted and has no verdict.
    case unjudged(AcceptedCommand)
    case judged(Verdict)
  }

  /// Normally at most two stores send one id: a device's store, and its new store after it lost the first. Further
  /// stores are refused and send the command again once it is judged.
  static let claimsMax = 8
  /// More connections than a bus has devices.
  static let waitersMax = 16

  /// The accepted commands without a verdict, with the device and stream that their receipts go to.
  private(set) var unjudged: [CommandID: AcceptedCommand] = [:]
  private var archive: VerdictArchive
  /// Other stores that sent an unjudged command. Its verdict is owed to each of them as well.
  private var claims: [CommandID: [StoreID]] = [:]
  /// Connections that wait for the verdict of a command that arrived without a numbered stream.
  private var requests: [CommandID: [ConnectionID]] = [:]
  /// Commands that came from this machine's spool and have no verdict yet.
  private var spooled: Set<CommandID> = []
  /// The slots for unjudged commands, by sender.
  private var slots = CommandQueue()
  private var busyNotes = BusyNotes()
  /// The latest press time of each stream. Press times of one stream never decrease.
  private var lastPress: [StreamID: BusTime] = [:]
  private var ownSequence: UInt64 = 0

  /// Restores verdicts, claims and press times. The caller then calls ``accept(_:from:isHeld:)`` for each command that
  /// has no verdict.
  init(_ history: HubHistory) {
    archive = VerdictArchive(history.verdicts)
    for (press, _) in history.accepted {
      claims[press.command.id] = history.claims[press.command.id]
      notePress(press)
    }
    for (_, press, _) in history.verdicts {
      guard let stream = press.stream, history.delivery.watermarks[stream] != nil else { continue }
      notePress(press)
    }
  }

  private mutating func notePress(_ press: AcceptedCommand) {
    guard let stream = press.stream else { return }
    lastPress[stream] = max(lastPress[stream] ?? press.pressedAt, press.pressedAt)
  }

  // MARK: Stages

  /// How far a command has come; `nil` for an unknown one.
  func stage(of id: CommandID) -> Stage? {
    if let verdict = archive[id] { return .judged(verdict) }
    return unjudged[id].map(Stage.unjudged)
  }

  /// Whether a command is known here.
  func knows(_ id: CommandID) -> Bool { archive[id] != nil || unjudged[id] != nil }

  /// The verdict of a command; `nil` if it is unknown or not judged yet.
  func verdict(of id: CommandID) -> Verdict? { archive[id] }

  /// The unjudged presses of the hub's own buttons, in order.
  var ownUnjudged: [AcceptedCommand] {
    unjudged.values.filter { $0.origin == .ownButton }.sorted(by: AcceptedCommand.precedes)
  }

  /// The sequence number of the next press of the hub's own buttons.
  mutating func nextOwnSequence() -> UInt64 {
    ownSequence += 1
    return ownSequence
  }

  /// Adds an accepted command, and charges it to its sender.
  ///
  /// - Parameter isHeld: whether it waits for the stop of its run.
  mutating func accept(_ press: AcceptedCommand, from sender: CommandQueue.Sender, isHeld: Bool) {
    unjudged[press.command.id] = press
    slots.accept(press.command.id, from: sender, isHeld: isHeld)
  }

  /// Charges commands that are no longer held to their senders.
  mutating func release(_ ids: [CommandID]) { slots.release(ids) }

  /// Archives the verdict of a command and frees its slot.
  ///
  /// - Returns: the stores besides the sender that are owed the verdict, in the order in which they sent the command.
  mutating func judge(_ verdict: Verdict, at now: BusTime) -> [StoreID] {
    let id = verdict.commandID
    unjudged[id] = nil
    slots.judge(id)
    archive.keep(verdict, judgedAt: now)
    return claims.removeValue(forKey: id) ?? []
  }

  /// Forgets verdicts that are too old or too many; see ``VerdictArchive/prune(at:)``.
  mutating func prune(at now: BusTime) -> BusTime? { archive.prune(at: now) }

  // MARK: Slots

  /// Whether a sender may have one more unjudged command. A device gets slots of its own if any are left.
  mutating func hasSlot(for sender: CommandQueue.Sender, isHere: (DeviceID) -> Bool) -> Bool {
    if case .device(let device) = sender { slots.keepSlots(for: device, isHere: isHere) }
    return slots.hasSlot(for: sender)
  }

  /// Whether slots are reserved for a device.
  func hasReservedSlots(_ device: DeviceID) -> Bool { slots.devices.contains(device) }

  /// How many unjudged commands are not from the hub's own buttons.
  var foreignCount: Int { unjudged.count - slots.slots(of: .own) }

  /// Counts a refusal at a moment of real time and returns whether to log it.
  mutating func noteRefusal(at now: BusTime) -> Bool { busyNotes.refuse(at: now) }

  // MARK: Who is owed a verdict

  /// The result of a claim.
  enum Claim: Sendable {
    /// The command has a verdict, which the store is owed.
    case judged(Verdict)
    /// The store is owed the verdict. This is news, and has to be stored.
    case added
    case known
  }

  /// The greatest number of stores that claim one verdict.
  var claimsOfOneMax: Int { claims.values.lazy.map(\.count).max() ?? 0 }

  /// The greatest number of connections that wait for one verdict.
  var waitersOfOneMax: Int { requests.values.lazy.map(\.count).max() ?? 0 }

  /// Stores that are owed the verdict of an unjudged command.
  var stores: Set<StoreID> { Set(unjudged.values.compactMap(\.store)).union(claims.values.joined()) }

  /// How many verdicts of unjudged commands a store is owed.
  func count(owedTo store: StoreID) -> Int {
    var count = 0
    for press in unjudged.values where press.store == store || isClaimed(press.command.id, by: store) {
      count += 1
    }
    return count
  }

  /// Whether a store other than the sender's has sent an unjudged command.
  func isClaimed(_ id: CommandID, by store: StoreID) -> Bool { claims[id]?.contains(store) ?? false }

  /// Whether one more store can wait for the verdict of a known command.
  func hasRoom(forClaimOf id: CommandID, by store: StoreID) -> Bool {
    guard let press = unjudged[id], press.store != store, let stores = claims[id] else { return true }
    return stores.count < Self.claimsMax || stores.contains(store)
  }

  /// A store has sent a known command: it is owed the verdict as well. The claims of other stores stay.
  mutating func claim(_ id: CommandID, by store: StoreID) -> Claim {
    if let verdict = archive[id] { return .judged(verdict) }
    guard let press = unjudged[id], press.store != store, !isClaimed(id, by: store) else { return .known }
    claims[id, default: []].append(store)
    return .added
  }

  /// Whether one more connection can wait for the verdict of an unjudged command.
  func hasRoom(for connection: ConnectionID, awaiting id: CommandID) -> Bool {
    guard let waiting = requests[id] else { return true }
    return waiting.count < Self.waitersMax || waiting.contains(connection)
  }

  /// Registers a connection for the verdict of an unjudged command: that of its sender, or of a node that forwards it.
  mutating func register(_ connection: ConnectionID, for id: CommandID) {
    guard !requests[id, default: []].contains(connection) else { return }
    requests[id, default: []].append(connection)
  }

  /// The connections that wait for a verdict, in the order in which they asked.
  func connections(awaiting id: CommandID) -> [ConnectionID] { requests[id] ?? [] }

  /// Removes and returns the connections that wait for a verdict.
  mutating func takeConnections(awaiting id: CommandID) -> [ConnectionID] { requests.removeValue(forKey: id) ?? [] }

  /// Notes that a command is in this machine's spool.
  mutating func noteSpooled(_ id: CommandID) { spooled.insert(id) }

  /// Forgets that a command is in the spool; `false` if it was not.
  mutating func takeSpooled(_ id: CommandID) -> Bool { spooled.remove(id) != nil }

  // MARK: Press times

  /// Moves a press time to the last one of its stream if it is earlier, and notes it.
  mutating func order(_ time: BusTime, in stream: StreamID, at now: BusTime) -> BusTime {
    let time = max(time, lastPress[stream] ?? time)
    lastPress[stream] = min(time, now)
    return time
  }

  /// Forgets the last press time of a stream that was given up.
  mutating func forget(_ stream: StreamID) { lastPress[stream] = nil }

  /// What is wrong by its own rules; empty when it is good.
  func check() -> [String] {
    slots.check() + claims.keys.filter { unjudged[$0] == nil }.map { "\($0) has a verdict, and a store waits for it" }
  }
}
