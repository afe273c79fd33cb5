/// A room that a hub follows: its fold, and what the hub itself has to say there.
struct DeskRoom: Hashable, Sendable {
  /// An entry of the hub's own that waits for its number.
  struct Waiting: Hashable {
    var ask: RoomAskKind
    let nonce: RoomNonce?
    /// The device's ask that it answers; `nil` for what the hub says by itself.
    let id: Identifier<RoomAskTag>?
  }
  /// A numbered entry of the hub's own that was not read in the log yet.
  struct Own: Hashable {
    let number: UInt64
    let ask: RoomAskKind
    let nonce: RoomNonce?
    let seen: Seen
    let id: Identifier<RoomAskTag>?
    /// What its commit is known by; 0 for one of an earlier life.
    let receipt: UInt64
    /// Whether it is durable here.
    var isDurable = false
    /// When it was first appended.
    var sentAt: BusTime?
    /// When to append it again.
    var again: BusTime?
    /// How often it was appended.
    var tries = 0
    /// Whether an earlier life may have appended it: then it says nothing about the log's clock.
    var isInherited = false
  }
  /// Where and when a log has the entry that opened the room.
  struct Opening: Hashable {
    let position: UInt64
    let time: LogTime
  }
  /// How many entries may wait for their number.
  static let waitingMax = 16

  let id: RoomID
  /// The runner's run in this room; `nil` where the hub only looks.
  var run: RunID?
  var machine = RoomMachine()
  /// The last entry that was read.
  var last: ReadEntry?
  /// The reading whose entries count.
  var reading: UInt64 = 0
  /// Whether the first entry of the reading has to be the last one that was read.
  var isOverlapDue = false
  /// When the log was last to be compared with what was read of it; `nil`: it is to be now.
  var provenAt: BusTime?
  /// What was noticed about the log.
  var warnings: Set<RoomWarning> = []
  /// Where and when the log has `open`.
  var opened: Opening?
  /// Whether an earlier life of the hub has taken part.
  var isInherited = false
  /// Why the log cannot be read or written now; `nil` when it can, as far as is known.
  var trouble: String?
  /// When the log was first read to its end since the hub started; `nil` before that.
  var caughtUpAt: BusTime?
  /// Whether the log has lost entries that were read here, so that the room is void.
  var isLost = false
  /// What was read, so that the log can be mended.
  var copy = RoomCopy()
  /// What is done about entries that the log has lost; `nil` while it has lost none.
  var mending: RoomMending?
  /// When the room's run started, by the hub's own clock, as far as that is known without the log's.
  var startedAt: BusTime?
  var waiting: [Waiting] = []
  /// At most one: the next is numbered when this one was read.
  var own: Own?
  /// The asks of devices that have a number.
  var asks: [Identifier<RoomAskTag>: UInt64] = [:]
  /// The asks whose verdict was read in the log and is not durable here yet.
  var untold: Set<Identifier<RoomAskTag>> = []
  /// When the hub's last own entry was read.
  var lastOwnAt: BusTime?
  var hasStarted = false
  var hasStopped = false
  /// By how much the log's clock may have been wrong when the start and the stop were pressed.
  var pressError = BusDuration.zero
  /// The elapsed time of the last mark that was asked for.
  var markedThrough = BusDuration.zero
  /// The version of the last record that was asked for.
  var recordVersion: UInt32 = 0
  /// Whether the others' standings are heard.
  var isListening = false
  /// When the own standing was told last.
  var liveAt: BusTime?
  /// Who is ahead in the run; `nil` before the first standing.
  var standings: StandingsTable?
  /// When the runner was told last that another one is ahead now.
  var overtakenAt: BusTime?
  /// The last record that the hub has stated.
  var said: RoomRecord?
  /// How many ticks the hub has added to this countdown.
  var ticks = 0

  init(_ id: RoomID) { self.id = id }

  var isCaughtUp: Bool { caughtUpAt != nil }
  var stage: RoomStage { machine.state.stage }
  /// The fold of what the log has now.
  var log: RoomMachine { mending?.log ?? machine }
  /// What the hub says that it has read. After a loss that is nothing: others have read other logs.
  var seen: Seen {
    guard mending == nil else { return .nothing }
    return last.map { Seen(count: machine.entryCount, digest: $0.digest.prefix) } ?? .nothing
  }

  /// Whether the runner has a place in the room, or asks for one, and the room is not past its run.
  func isActive(_ me: MemberID) -> Bool {
    if isLost { return false }
    switch stage {
    case .settling, .over, .cancelled: return false
    case .none, .recruiting, .gathering, .countdown, .running:
      return machine.state.member(me) != nil || asksForPlace
    }
  }

  private var asksForPlace: Bool {
    let asks = waiting.map(\.ask) + (own.map { [$0.ask] } ?? [])
    return asks.contains {
      switch $0 {
      case .open, .enter: true
      case .ready, .here, .leave, .close, .begin, .proceed, .hold, .cancel, .remove, .stay, .tick, .mark, .record,
        .unknown:
        false
      }
    }
  }

  /// Puts an entry among those that wait. What lets the runner out overtakes what was not sent yet.
  mutating func add(_ entry: Waiting) {
    switch entry.ask {
    case .leave, .hold, .cancel: waiting.insert(entry, at: 0)
    case .open, .enter, .ready, .here, .close, .begin, .proceed, .remove, .stay, .tick, .mark, .record, .unknown:
      waiting.append(entry)
    }
  }

  /// Whether the hub is about to say this by itself.
  func isAboutTo(_ ask: RoomAskKind) -> Bool { own?.ask == ask || waiting.contains { $0.ask == ask } }
}
