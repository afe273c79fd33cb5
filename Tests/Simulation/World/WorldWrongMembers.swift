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
  /// Runs that arrive whole and whose stop never comes, by several streams.
  case unfinishedRuns
  /// Starts, alone and as whole runs, that name a run that is on, over, forgotten or called otherwise.
  case namedStarts
  /// Ids of commands that others have sent, with the same content or another one.
  case copiedCommands
  /// The hub's name, another device's name or store, other sessions' numbers, two sessions of one store.
  case borrowedNames
  /// Terms, sequences, ages, places in a run, clocks and readings at the ends of what the wire carries.
  case extremeNumbers
  /// Acknowledgements and marks of what was never sent, steps back, tombstones over everything.
  case falseMarks
  /// Many of everything: commands, readings, values, messages, greetings, questions.
  case floods
  /// Old frames again and in another order; a life that begins from an old copy of its store.
  case repetitions
  /// Presses as anybody makes them, but too many.
  case presses
}

/// A large attack on one thing that the hub keeps, once in a world: its bound is to be reached.
enum WrongSiege: CaseIterable {
  /// Commands of runs that are held for their stops, by several devices.
  case unfinishedRuns
  /// Newest values: more keys than one device may have, or more bytes than all may.
  case values
  /// Devices that are never heard again.
  case devices
  /// Verdicts that are never acknowledged.
  case verdicts
  /// Commands of many names at once.
  case commands
  /// Transitions, until the hub has forgotten the first run.
  case oblivion

  /// How many misdeeds it takes.
  var rounds: Int {
    switch self {
    case .unfinishedRuns, .values, .devices, .commands: 1
    case .verdicts: 10
    case .oblivion: 16
    }
  }
}

/// One connection of a wrong member, with what it says of itself there.
struct WrongVoice {
  let connection: UInt64
  var name: DeviceID
  var store: StoreID
  var isOneShot = false
  /// Takes its verdicts, as an honest member does.
  var acknowledges = false
  /// Part of a siege: it acknowledges nothing, ever.
  var isSilent = false
  /// 0 before the welcome.
  var session: UInt64 = 0
  /// The next place of each stream.
  var next: [StreamID.Kind: UInt64] = [:]
  var lastVerdict: UInt64 = 0
  /// What it says once it is welcomed.
  var waiting: [PeerMessage] = []
  /// The last that it said.
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

/// A member that breaks rules: no node, only something that speaks frames.
struct WrongMember {
  let name: DeviceID
  let habits: [WrongHabit]
  var siege: WrongSiege?
  /// How many rounds of it are left, once it has begun.
  var rounds = 0
  var voices: [WrongVoice] = []
  /// What it was like some time ago.
  var copy: WrongVoice?
}

/// What anybody can hear on the bus, and wrong members use.
struct WrongRumours {
  private static let commandsMax = 24
  private static let runsMax = 24
  private(set) var commands: [(command: Command, device: DeviceID)] = []
  /// The last runs, the present one last; the first of all stands before them.
  private(set) var runs: [RunID] = []
  private(set) var base = ObservedRevision(revision: 0, commandID: nil)
  private(set) var term: UInt64 = 0

  mutating func hear(_ event: BusEvent) {
    switch event {
    case .command(let command, let device):
      commands.append((command, device))
      if commands.count > Self.commandsMax { commands.removeFirst() }
    case .snapshot(let message): hear(message.snapshot)
    case .receipt, .presence, .message, .route: break
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
  /// Everything that a wrong member makes up has this in the upper half of its id.
  static let mark: UInt64 = 13
  /// Connections of wrong members are numbered from here.
  private static let connectionsFrom: UInt64 = 1 << 40

  var members: [WrongMember] = []
  var rumours = WrongRumours()
  /// The device whose name is borrowed; what is promised to it is less.
  var victim: Int?
  /// Its store is borrowed, too: nobody can tell the two apart.
  var isStoreBorrowed = false
  /// How many devices they have made up beside themselves.
  var namesInvented = 0
  private var lastNumber: UInt64 = 0

  /// Draws one to three members, or none.
  init(seed: UInt64, _ wanted: WrongMembers, peerCount: Int, loss: World.Loss) {
    var random = WorldRandom(seed: seed, 7)
    let isWrong = random.next().isMultiple(of: 2)
    guard wanted == .always || wanted == .mixed && isWrong else { return }
    for name in ["mallory", "mallet", "trudy"].prefix([1, 1, 2, 3].randomElement(using: &random)!) {
      let habits = WrongHabit.allCases.shuffled(using: &random).prefix(.random(in: 2...4, using: &random))
      members.append(WrongMember(name: DeviceID(name)!, habits: Array(habits)))
    }
    // They are dear: a world of so many has one.
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

  /// Where a connection belongs.
  func voice(on connection: UInt64) -> (member: Int, voice: Int)? {
    for (index, member) in members.enumerated() {
      if let voice = member.voices.firstIndex(where: { $0.connection == connection }) { return (index, voice) }
    }
    return nil
  }
}

extension Identifier {
  /// A wrong member has made it up.
  var isWrong: Bool { high == WrongParty.mark }
}
