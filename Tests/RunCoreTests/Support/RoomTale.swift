import Testing

@testable import RunCore

/// A room that a test writes as a transcript: one entry a line, with its verdict. The model hears the same, and an
/// issue is recorded where it differs.
final class RoomTale {
  var pair = RoomPair()

  init() {}

  /// A room that Anna opened at 0, and which others have entered at 0.
  convenience init(_ terms: RoomTerms, others: [MemberID] = [], ready: [MemberID] = []) {
    self.init()
    at(0, .anna, .open(terms, .card("Anna")))
    for other in others { at(0, other, .comes("Other")) }
    for member in ready { at(0, member, .ready(true)) }
  }

  /// Three who gather since 0.
  static var gathering: RoomTale {
    let room = RoomTale(.atTheLake, others: [.ben, .cleo], ready: [.anna, .ben, .cleo])
    room.at(0, .anna, .begin)
    return room
  }
  /// Three who start at 5.
  static var counting: RoomTale {
    let room = RoomTale(.plain, others: [.ben, .cleo], ready: [.anna, .ben, .cleo])
    room.at(0, .anna, .begin)
    return room
  }
  /// Three who run from 5 to 105.
  static var running: RoomTale {
    let room = counting
    room.passes(5)
    return room
  }
  /// Two who found each other and start at 5.
  static var matched: RoomTale { RoomTale(.search, others: [.ben], ready: [.anna, .ben]) }

  /// An entry with the author's next number; what became of it.
  @discardableResult
  func hears(
    _ seconds: Int64, plus nanoseconds: Int64 = 0, _ author: MemberID, _ ask: RoomAskKind, number: UInt64? = nil,
    seen: Seen = .nothing, ownsRoom: Bool = true, _ location: SourceLocation = #_sourceLocation
  ) -> Folded {
    let time = LogTime.seconds(seconds) + BusDuration(nanoseconds: nanoseconds)
    let folded = pair.hear(pair.entry(author, ask, at: time, number: number, seen: seen, ownsRoom: ownsRoom))
    complain(location)
    return folded
  }

  /// An entry with the author's next number; its verdict.
  @discardableResult
  func at(
    _ seconds: Int64, plus nanoseconds: Int64 = 0, _ author: MemberID, _ ask: RoomAskKind, seen: Seen = .nothing,
    ownsRoom: Bool = true, _ location: SourceLocation = #_sourceLocation
  ) -> RoomVerdict? {
    switch hears(seconds, plus: nanoseconds, author, ask, seen: seen, ownsRoom: ownsRoom, location) {
    case .verdict(let verdict): verdict
    case .known, .gap, .leftOut: nil
    }
  }

  /// Lets time pass.
  func passes(_ seconds: Int64, plus nanoseconds: Int64 = 0, _ location: SourceLocation = #_sourceLocation) {
    pair.advance(to: .seconds(seconds) + BusDuration(nanoseconds: nanoseconds))
    complain(location)
  }

  /// Expects a stage that begins by time alone at a moment: not before it, at it, and after it, whether an entry comes
  /// then or time is let pass.
  func turns(
    at seconds: Int64, plus nanoseconds: Int64 = 0, to stage: RoomStage, roster: [MemberID]? = nil,
    _ location: SourceLocation = #_sourceLocation
  ) {
    let moment = LogTime.seconds(seconds) + BusDuration(nanoseconds: nanoseconds)
    let (before, members) = (pair.machine.state.stage, pair.machine.state.members.map(\.id))
    #expect(pair.machine.deadline == moment, sourceLocation: location)
    for byEntry in [false, true] {
      for (shift, isAfter) in [(-1, false), (0, true), (1, true)] as [(Int64, Bool)] {
        var later = pair
        let time = moment + BusDuration(nanoseconds: shift)
        if byEntry { later.hear(later.entry(.runner(99), .tick, at: time, number: 0)) } else { later.advance(to: time) }
        let state = later.machine.state
        #expect(state.stage == (isAfter ? stage : before), "\(shift) ns", sourceLocation: location)
        #expect(state.members.map(\.id) == (isAfter ? roster ?? members : members), sourceLocation: location)
        if let complaint = later.complaint { Issue.record("\(complaint)", sourceLocation: location) }
      }
    }
    pair.advance(to: moment)
  }

  var state: RoomState { pair.machine.state }
  var stage: RoomStage { state.stage }
  var roster: [MemberID] { state.members.map(\.id) }
  /// Each line: who, decimetres, place and outcome.
  var lines: [String] {
    (pair.machine.result?.rows ?? []).map { row in
      let name = ["?", "anna", "ben", "cleo", "dora"][Int(row.member.bytes.last!)]
      let distance = row.decimetres.map { "\($0)\(row.isConfirmed ? "" : "?")" } ?? "-"
      return "\(row.place) \(name) \(distance) \(row.outcome?.rawValue ?? "open")"
    }
  }
  var standing: RoomResult.Standing? { pair.machine.result?.standing }

  private func complain(_ location: SourceLocation) {
    if let complaint = pair.complaint {
      Issue.record("\(complaint)\n\(pair.story)", sourceLocation: location)
      pair.complaint = nil
    }
  }
}

extension RoomAskKind {
  /// Takes a place.
  static func comes(
    _ name: String, level: Int = 3, _ gender: RoomCard.Gender? = nil, circle: String? = nil, metres: Int? = 0,
    seek: Seek? = .plain
  ) -> RoomAskKind {
    .enter(.card(name, level: level, gender, circle: circle), metres: metres, seek: seek)
  }
  static func marks(_ decimetres: Int, after seconds: Int64) -> RoomAskKind {
    .mark(RoomMark(elapsed: .seconds(seconds), decimetres: decimetres))
  }
  static func ran(
    _ decimetres: Int?, version: UInt32 = 1, seconds: Int64 = 100, isFinished: Bool = true
  ) -> RoomAskKind {
    .record(.run(decimetres, version: version, seconds: seconds, isFinished: isFinished))
  }
}
