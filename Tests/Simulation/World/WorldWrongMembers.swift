import RunCore

/// Which worlds have members that break the rules.
package enum WrongMembers: String, Sendable, CaseIterable {
  /// No world.
  case none
  /// Half of them; the seed says which.
  case mixed
  /// Every world.
  case always
}

/// One way of breaking rules. A wrong member has a few of them.
enum WrongHabit: CaseIterable {
  /// Whole runs whose stop never comes, on several streams.
  case unfinishedRuns
  /// Starts, alone and in whole runs, that name a run that is on, over or forgotten, or an alias.
  case namedStarts
  /// Ids of other devices' commands, with the same or another content.
  case copiedCommands
  /// The hub's name, another device's name or store, other sessions' numbers, two sessions of one store.
  case borrowedNames
  /// Terms, sequences, ages, positions in a run, clocks and readings at the limits of what the wire can carry.
  case extremeNumbers
  /// Acknowledgements and marks of what was never sent, marks that go back, tombstones over everything.
  case falseMarks
  /// Too many of everything: commands, readings, values, messages, hellos, queries.
  case floods
  /// Old frames again and in another order; an incarnation that begins from an old copy of its store.
  case repetitions
  /// Ordinary presses, but too many.
  case presses
  /// Versions of the list of devices that the hub has not handed out, with proofs of others or of nothing.
  case falseVersions
  /// Of one thing, many times what a paired device may do of it: hellos, readings, questions, messages.
  case hurry
}

/// A large attack on one thing that the hub keeps, at most one kind in a world, to reach its bound.
enum WrongSiege: CaseIterable {
  /// Commands of whole runs that are held for their stops, by several devices.
  case unfinishedRuns
  /// Newest values: more keys than one device may have, or more bytes than all may.
  case values
  /// Devices that are never heard again.
  case devices
  /// Verdicts that are never acknowledged.
  case verdicts
  /// Commands of many devices at once.
  case commands
  /// Transitions, until the hub has forgotten the first run.
  case oblivion

  /// How many misdeeds the siege takes.
  var rounds: Int {
    switch self {
    case .unfinishedRuns, .values, .devices, .commands: 1
    case .verdicts: 10
    case .oblivion: 16
    }
  }
}

/// One connection of a wrong member, with the name and store that it states there.
struct WrongVoice {
  let connection: UInt64
  var name: DeviceID
  var store: StoreID
  /// It acknowledges its verdicts, as an honest member does.
  var acknowledges = false
  /// Part of a siege: it never acknowledges anything.
  var isSilent = false
  /// 0 before the welcome.
  var session: UInt64 = 0
  /// The next sequence number of each stream.
  var next: [StreamID.Kind: UInt64] = [:]
  var lastVerdict: UInt64 = 0
  /// What it sends once it is welcomed.
  var waiting: [PeerMessage] = []
  /// The last messages that it sent.
  var said: [PeerMessage] = []

  init(connection: UInt64, name: DeviceID, store: StoreID) {
    (self.connection, self.name, self.store) = (connection, name, store)
  }

  mutating func place(_ kind: StreamID.Kind) -> UInt64 {
    let place = next[kind] ?? 1
    next[kind] = place < 1 << 62 ? place + 1 : place
    return place
  }
}

/// A member that breaks rules: not a node, only a sender of frames.
struct WrongMember {
  let name: DeviceID
  let habits: [WrongHabit]
  var siege: WrongSiege?
  /// How many rounds of the siege are left, once it has begun.
  var rounds = 0
  var voices: [WrongVoice] = []
  /// An earlier copy of one of its voices.
  var copy: WrongVoice?
}

/// What everybody can hear on the bus; wrong members use it.
struct WrongRumours {
  private static let commandsMax = 24
  private static let runsMax = 24
  private(set) var commands: [(command: Command, device: DeviceID)] = []
  /// The first run of all, then the last runs; the present one is last.
  private(set) var runs: [RunID] = []
  private(set) var base = ObservedRevision(revision: 0, commandID: nil)
  private(set) var term: UInt64 = 0

  mutating func hear(_ event: BusEvent) {
    switch event {
    case .command(let command, let device):
      commands.append((command, device))
      if commands.count > Self.commandsMax { commands.removeFirst() }
    case .snapshot(let message): hear(message.snapshot)
    case .receipt, .presence, .message, .route, .live, .room, .cue: break
    }
  }

  private mutating func hear(_ snapshot: Snapshot) {
    base = ObservedRevision(revision: snapshot.order.revision, commandID: snapshot.changedBy?.commandID)
    term = snapshot.order.term
    guard let run = snapshot.runID, runs.last != run else { return }
    runs.append(run)
    if runs.count > Self.runsMax { runs.remove(at: 1) }
  }
}

/// The wrong members of a world.
struct WrongParty {
  /// The upper half of every id that a wrong member invents.
  static let mark: UInt64 = 13
  /// Connections of wrong members are numbered from here.
  private static let connectionsFrom: UInt64 = 1 << 40

  var members: [WrongMember] = []
  var rumours = WrongRumours()
  /// The identity of all wrong members.
  let identity: ConnectionIdentity
  /// The peer whose name is borrowed.
  private(set) var victim: Int?
  /// The victim, if the hub cannot tell it from the wrong members by its identity: less is promised to it.
  var harmed: Int? { identity == .localOwner ? victim : nil }
  /// Whether its store is borrowed too: then the hub cannot tell the two apart.
  private(set) var isStoreBorrowed = false
  /// When this life of the hub welcomed them, in the last seconds.
  var paced: [PacedKind: (life: UInt64, times: [BusTime])] = [:]
  /// The last proof of a version of the list that they were told.
  var proof: ListProof?
  /// How many device names they have invented.
  var namesInvented = 0
  private var lastNumber: UInt64 = 0

  /// Draws one to three members, or none.
  init(
    seed: UInt64, _ wanted: WrongMembers, identity: ConnectionIdentity, peerCount: Int, loss: World.Loss
  ) {
    self.identity = identity
    var random = WorldRandom(seed: seed, 7)
    let isWrong = random.next().isMultiple(of: 2)
    guard wanted == .always || wanted == .mixed && isWrong else { return }
    for name in ["mallory", "mallet", "trudy"].prefix([1, 1, 2, 3].randomElement(using: &random)!) {
      let habits = WrongHabit.allCases.shuffled(using: &random).prefix(.random(in: 2...4, using: &random))
      members.append(WrongMember(name: DeviceID(name)!, habits: Array(habits)))
    }
    // A siege costs much time, so only one of eight worlds has one.
    if random.next().isMultiple(of: 8) { members[0].siege = WrongSiege.allCases.randomElement(using: &random)! }
    guard loss == .none, random.next().isMultiple(of: 3) else { return }
    victim = .random(in: 0..<peerCount, using: &random)
    isStoreBorrowed = random.next().isMultiple(of: 4)
  }

  static func isWrong(_ connection: UInt64) -> Bool { connection >= connectionsFrom }

  mutating func number() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  mutating func connection() -> UInt64 { Self.connectionsFrom + number() }

  mutating func identifier<Kind>() -> Identifier<Kind> { Identifier(high: Self.mark, low: number()) }

  /// The member and the voice of a connection.
  func voice(on connection: UInt64) -> (member: Int, voice: Int)? {
    for (index, member) in members.enumerated() {
      if let voice = member.voices.firstIndex(where: { $0.connection == connection }) { return (index, voice) }
    }
    return nil
  }
}

extension Identifier {
  /// Whether a wrong member invented this id.
  var isWrong: Bool { high == WrongParty.mark }
}
