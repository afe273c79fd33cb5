@testable import RunCore

extension MemberID {
  /// A member with a small number as its key.
  static func runner(_ number: Int) -> MemberID {
    MemberID((0..<32).map { UInt8(truncatingIfNeeded: number >> (8 * (31 - $0))) })!
  }

  static let anna = runner(1)
  static let ben = runner(2)
  static let cleo = runner(3)
  static let dora = runner(4)
}

extension LogHash {
  /// A hash whose first eight bytes are a number.
  static func number(_ number: UInt64) -> LogHash {
    LogHash((0..<32).map { $0 < 8 ? UInt8(truncatingIfNeeded: number >> (8 * (7 - $0))) : 0 })!
  }
}

extension LogTime {
  static func seconds(_ count: Int64) -> LogTime { .zero + .seconds(count) }
}

extension RoomCard {
  static func card(_ name: String, level: Int = 3, _ gender: Gender? = nil, circle: String? = nil) -> RoomCard {
    RoomCard(nickname: Nickname(name)!, level: level, gender: gender, circle: circle)
  }
}

extension RoomTerms {
  /// Three places, 100 s, a countdown of 5 s.
  static let plain = RoomTerms(goal: .seconds(100), places: 3)
  /// The same with a start.
  static let atTheLake = RoomTerms(
    goal: .seconds(100), places: 3, start: RoomStart(label: "Lake", latitude: 52_520, longitude: 13_405))
  /// A search for 100 s of running, for two minutes.
  static let search = RoomTerms(kind: .matched(.plain, left: .seconds(120)), goal: .seconds(100), places: 2)
}

extension Seek {
  static let plain = Seek(goal: .seconds(100))
}

extension RoomRecord {
  static func run(
    _ decimetres: Int?, version: UInt32 = 1, seconds: Int64 = 100, isFinished: Bool = true
  ) -> RoomRecord {
    RoomRecord(
      version: version, decimetres: decimetres, elapsed: .seconds(seconds), isFinished: isFinished,
      run: RunID(high: 0, low: 1))
  }
}

/// The machine and the model, which are told the same.
struct RoomPair {
  var machine = RoomMachine()
  var model = RoomModel()
  /// Each author's last number, were every entry judged.
  var numbers: [MemberID: UInt64] = [:]
  var count: UInt64 = 0
  /// Where the two differ.
  var complaint: String?

  /// The digest after so many entries.
  static func digest(after count: UInt64) -> LogHash {
    count < 64 ? digests[Int(count)] : .number(count &* 0x9E37_79B9_7F4A_7C15)
  }
  private static let digests = (0..<64).map { LogHash.number(UInt64($0) &* 0x9E37_79B9_7F4A_7C15) }

  /// The author's next entry, or another one.
  func entry(
    _ author: MemberID, _ ask: RoomAskKind, at time: LogTime, number: UInt64? = nil, seen: Seen = .nothing,
    ownsRoom: Bool = true
  ) -> RoomEntry {
    RoomEntry(
      position: count + 1, time: time, author: author, number: number ?? (numbers[author] ?? 0) + 1, seen: seen,
      ask: ask, ownsRoom: ownsRoom)
  }

  @discardableResult
  mutating func hear(_ entry: RoomEntry) -> Folded {
    count += 1
    let digest = Self.digest(after: count)
    let said = machine.apply(entry, digest: digest)
    let right = model.apply(entry, digest: digest)
    if case .verdict = right { numbers[entry.author] = entry.number }
    if said != right { complain("the machine says \(said), the model \(right)") }
    compare()
    return said
  }

  mutating func advance(to time: LogTime) {
    machine.advance(to: time)
    model.advance(to: time)
    compare()
  }

  /// Compares what the two show.
  private mutating func compare() {
    let states = (machine.state, model.state)
    if states.0 != states.1 { complain("the machine's state is \(states.0), the model's \(states.1)") }
    let results = (machine.result, model.result)
    if results.0 != results.1 {
      complain("the machine's result is \(shown(results.0)), the model's \(shown(results.1))")
    }
    let deadlines = (machine.deadline, model.deadline)
    if deadlines.0 != deadlines.1 {
      complain("the machine's deadline is \(shown(deadlines.0)), the model's \(shown(deadlines.1))")
    }
    if let broken = machine.check() { complain("the machine breaks a rule: \(broken)") }
  }

  private func shown(_ value: (some Any)?) -> String { value.map { "\($0)" } ?? "none" }

  mutating func complain(_ text: String) { complaint = complaint ?? text }

  /// What was heard, and the first complaint.
  var story: String {
    let told = model.heard.map {
      "\($0.at.nanoseconds) ns: \($0.entry.author.bytes.last!) \($0.entry.number) \($0.entry.ask) -> \($0.answer)"
    }
    return (told + [complaint ?? "no complaint"]).joined(separator: "\n")
  }
}

extension RoomMachine {
  /// The machine without the events of its last call, which depend on the steps in which time passed.
  var quiet: RoomMachine {
    var copy = self
    copy.advance(to: state.time)
    return copy
  }
}
