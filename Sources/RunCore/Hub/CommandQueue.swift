/// How the places for commands that wait to be judged are shared, so that no sender takes them from another one
/// (docs/protocol.md, "Busy").
struct CommandQueue: Sendable {
  /// Who takes places.
  enum Sender: Hashable, Sendable {
    /// The hub's own buttons.
    case own
    /// A device, by its sessions.
    case device(DeviceID)
    /// What a one-shot or a request calls itself: anybody can say so.
    case stated(DeviceID)
  }

  /// Places in all, and at most of one sender.
  static let (placesMax, senderMax) = (1024, 256)
  /// Places that are kept for the hub's own buttons, for each device of its own, and how many devices have some.
  static let (ownPlaces, devicePlaces, devicesMax) = (64, 8, 32)
  /// Commands without a verdict, held ones and those of runs that have just fallen apart included.
  static let commandsMax = placesMax + 2 * HeldRuns.totalMax

  private struct Command: Sendable {
    let sender: Sender
    /// Its run waits for a stop: it takes no place, for ``HeldRuns`` bounds it.
    var isHeld: Bool
  }
  private var commands: [CommandID: Command] = [:]
  private var taken: [Sender: Int] = [:]
  /// The devices that have places of their own.
  private(set) var devices: Set<DeviceID> = []

  /// How many places a sender has taken.
  func places(of sender: Sender) -> Int { taken[sender] ?? 0 }

  /// Whether a sender gets one more place, of those kept for it or of the common ones.
  func hasPlace(for sender: Sender) -> Bool {
    let count = places(of: sender)
    guard count < Self.senderMax else { return false }
    guard count >= kept(for: sender) else { return true }
    let free = Self.placesMax - Self.ownPlaces - Self.devicesMax * Self.devicePlaces
    return taken.reduce(0) { $0 + max(0, $1.value - kept(for: $1.key)) } < free
  }

  private func kept(for sender: Sender) -> Int {
    switch sender {
    case .own: Self.ownPlaces
    case .device(let device): devices.contains(device) ? Self.devicePlaces : 0
    case .stated: 0
    }
  }

  /// A device that is here gets places of its own, if there are any left: those of a device that is gone and has nothing
  /// here go to the next.
  mutating func keepPlaces(for device: DeviceID, isHere: (DeviceID) -> Bool) {
    guard !devices.contains(device) else { return }
    if devices.count >= Self.devicesMax {
      let gone = devices.filter { !isHere($0) && places(of: .device($0)) == 0 }
      guard let first = gone.min() else { return }
      devices.remove(first)
    }
    devices.insert(device)
  }

  /// A command was accepted.
  mutating func accept(_ id: CommandID, from sender: Sender, isHeld: Bool) {
    commands[id] = Command(sender: sender, isHeld: isHeld)
    if !isHeld { taken[sender, default: 0] += 1 }
  }

  /// Held commands wait for no stop any more.
  mutating func release(_ ids: [CommandID]) {
    for id in ids {
      guard let command = commands[id], command.isHeld else { continue }
      commands[id]?.isHeld = false
      taken[command.sender, default: 0] += 1
    }
  }

  /// A command was judged.
  mutating func judge(_ id: CommandID) {
    guard let command = commands.removeValue(forKey: id), !command.isHeld else { return }
    let left = places(of: command.sender) - 1
    taken[command.sender] = left > 0 ? left : nil
  }
}

/// What a hub says of commands that it does not take: the first time, and again after a minute without any.
struct BusyNotes: Sendable {
  private static let quiet = BusDuration.seconds(60)
  private var refusedAt: BusTime?

  /// A command is refused at a moment of real time; whether to say so.
  mutating func refuse(at now: BusTime) -> Bool {
    defer { refusedAt = now }
    return refusedAt.map { now - $0 >= Self.quiet } ?? true
  }
}

// Whether the hub takes one more command of a sender.
extension HubCore {
  /// Why a command is not taken now; `nil` when it is.
  ///
  /// - Parameter store: the sender's store, when it has a stream.
  mutating func reasonToRefuse(_ sender: CommandQueue.Sender, store: StoreID? = nil, at now: BusTime) -> String? {
    if let store, owesEnough(store) { return "it does not take the verdicts that it is owed" }
    if commits.isCongested { return "the store is far behind" }
    if case .device(let device) = sender { queue.keepPlaces(for: device) { sessions.isReachable($0) } }
    guard !queue.hasPlace(for: sender) else { return nil }
    return "too many commands wait to be judged"
  }

  /// Says once that commands are refused.
  mutating func noteRefusal(of who: String, _ reason: String, at now: BusTime, into actions: inout [Action]) {
    guard busyNotes.refuse(at: monotonic(at: now)) else { return }
    actions.append(.note("a command of \(who) is refused for now, and perhaps others after it: \(reason)"))
  }

  /// A store does not take the verdicts that it is owed: with those that are still to be judged there are as many as it may
  /// have. So many of all stores together leave each its share.
  func owesEnough(_ store: StoreID) -> Bool {
    let owed = verdictStreams[store]?.rows.count ?? 0
    let most = owed >= Self.owedShare && owedVerdicts >= settings.owedVerdictsMax ? Self.owedShare : Self.owedMax
    guard owed + unjudged.count >= most else { return false }
    var count = owed
    for press in unjudged.values where press.stream.sender == store || claims[press.command.id]?.contains(store) == true
    {
      count += 1
    }
    return count >= most
  }

  /// Verdicts that one store may be owed, and that each may be owed however many others are.
  static let (owedMax, owedShare) = (OutboundStream.Bounds.verdicts.rowsMax, 16)

  /// How many verdicts all stores are owed.
  private var owedVerdicts: Int {
    var count = 0
    // By place: a stream is large, and a loop over them copies each.
    for place in verdictStreams.values.indices { count += verdictStreams.values[place].rows.count }
    return count
  }

  /// Whose place a press takes.
  func sender(of press: AcceptedCommand) -> CommandQueue.Sender {
    if press.stream == ownStream { return .own }
    return isNumbered(press.stream) ? .device(press.deviceID) : .stated(press.deviceID)
  }
}
