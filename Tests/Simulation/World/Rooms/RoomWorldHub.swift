import RunCore

/// A hub of a simulated fleet, as far as rooms are concerned.
struct RoomWorldHub {
  let member: MemberID
  /// How far its clock is from the world's, and how many parts in 10^9 it is too fast.
  private let offset: BusDuration
  private let drift: Int64
  /// How fast the runner runs, decimetres a second.
  var pace: Int

  var isAlive = false
  var life = 0
  var desk: TogetherDesk
  var disk: [RoomID: [RoomRow]] = [:]
  var diskFreeAt = BusTime.zero
  /// The readings of logs.
  var feeds: [RoomID: RoomWorldFeed] = [:]
  var wakesAt: BusTime?
  /// When the run was started and stopped, by the hub's own clock.
  var (started, stopped): (BusTime?, BusTime?)
  /// What its runner was told to notice, in all lives.
  var cues: Set<RoomCue.Kind> = []
  var run: RunID?
  /// The asks of the runner, and what each was told last.
  var asks: [Identifier<RoomAskTag>: (wish: RoomAsk.Wish, answer: RoomAnswer?)] = [:]
  var isGone = false
  /// Since when it lives, by its own clock.
  var bornAt = BusTime.zero
  /// By how much the log's time may have been wrong when the log had lost entries.
  var errorAtLoss = BusDuration.zero
  /// Whether the room went back to recruiting without its having read so before its start.
  var wasHeld = false
  /// Whether it was in a room that became void.
  var wasVoid = false
  /// Whether the log was changed before it had read it.
  var isBlind = false
  /// Whether the runner has removed the run's record.
  var hasRemoved = false

  init(_ member: MemberID, place: Int, using random: inout WorldRandom) {
    self.member = member
    offset = .seconds(Int64.random(in: 0...1_000_000, using: &random))
    drift = Int64.random(in: -50_000...50_000, using: &random)
    pace = Int.random(in: 15...60, using: &random)
    desk = TogetherDesk(Self.settings(member, place))
  }

  private static func settings(_ member: MemberID, _ place: Int) -> TogetherDesk.Settings {
    TogetherDesk.Settings(
      fleet: FleetID(high: 0, low: 1), member: member, card: RoomCard(nickname: Nickname("runner\(place)")!))
  }

  /// The hub's own clock.
  func local(_ now: BusTime) -> BusTime {
    now + offset + BusDuration(nanoseconds: now.nanoseconds / 1_000_000_000 * drift)
      + BusDuration(nanoseconds: now.nanoseconds % 1_000_000_000 * drift / 1_000_000_000)
  }
  /// A span of the hub's clock, in the world's time.
  func exact(_ span: BusDuration) -> BusDuration {
    BusDuration(nanoseconds: span.nanoseconds - Int64(Int128(span.nanoseconds) * Int128(drift) / 1_000_000_000))
  }
  /// The same, a little more rather than less.
  func real(_ span: BusDuration) -> BusDuration {
    span + BusDuration(nanoseconds: abs(span.nanoseconds) / 1_000_000_000 * 60_000 + 60_000)
  }

  /// Whether the entry of an ask, as the log has it, is durable here.
  func hasKept(_ ask: Identifier<RoomAskTag>) -> Bool {
    disk.values.contains { rows in
      let numbers = rows.compactMap { row in
        if case .own(let number, _, _, _, ask) = row { number } else { nil }
      }
      return rows.contains { row in
        if case .entry(let read) = row {
          read.entry.author == member && numbers.contains(read.entry.number)
        } else {
          false
        }
      }
    }
  }

  /// Begins a life with what is durable.
  mutating func begin() {
    isAlive = true
    life += 1
    desk = TogetherDesk(desk.settings, rows: disk)
    feeds = [:]
    wakesAt = nil
  }

  /// What the hub's run measures.
  func standing(since: BusDuration, goal: BusDuration, speed: BusSpeed) -> RunStanding? {
    guard let run, started != nil else { return nil }
    let elapsed = min(speed.bus(fromReal: since), goal)
    return RunStanding(
      run: run, phase: .running, elapsed: elapsed,
      decimetres: hasRemoved ? nil : Int(elapsed.nanoseconds / 1_000_000) * pace / 1000)
  }
}

/// A reading of a log. What it brings comes in order.
struct RoomWorldFeed {
  let reading: RoomReading
  /// Of which copy of the log it is.
  let copy: Int
  /// From where the next entries are.
  var from: UInt64
  /// When what was read before has arrived.
  var freeAt: BusTime
  /// The digest after what was read.
  var digest: LogHash?
}
