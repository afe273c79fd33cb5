import RunCore

/// The reason why a file cannot be read as a recording, with its position where there is one.
struct RecordingFlaw: Error {
  let reason: String
  var line: Int?
  var column: Int?

  init(_ reason: String, line: Int? = nil, column: Int? = nil) {
    self.reason = reason
    self.line = line
    self.column = column
  }
}

/// What was left out while reading, counted by kind, with the line (in FIT, the byte) of the first of each kind.
struct ReadingNotes {
  enum Kind: Int, CaseIterable {
    case noCharacter, noTime, badTime, farTime, badPosition, decimalComma, badNumber, outOfOrder, sorted
    case notCumulative, otherActivity, otherTrack, otherLap, lapWithoutPoints, lapDistance, lapLeftOut, repeatedLap
    case lapBegin, undeclaredPrefix, notOnFoot
  }
  private var counts: [Kind: (count: Int, line: Int)] = [:]
  /// The sentence about what is damaged, and what a repair of the XML left out.
  var damage: String?
  /// What `line` counts.
  var unit = "line"

  mutating func add(_ kind: Kind, line: Int, count: Int = 1) { counts[kind, default: (0, line)].count += count }
  func count(of kind: Kind) -> Int { counts[kind]?.count ?? 0 }

  /// One sentence for the damage and for each kind.
  var sentences: [String] {
    (damage.map { [$0] } ?? [])
      + Kind.allCases.compactMap { kind in
        counts[kind].map { kind.sentence(count: $0.count) + " (first at \(unit) \($0.line))" }
      }
  }
}

extension ReadingNotes.Kind {
  fileprivate func sentence(count: Int) -> String {
    func noun(_ one: String, _ many: String) -> String { count == 1 ? "1 \(one)" : "\(count) \(many)" }
    switch self {
    case .noCharacter:
      return noun("line", "lines") + " with bytes that are no characters, which were replaced"
    case .noTime: return noun("trackpoint", "trackpoints") + " without a time skipped"
    case .badTime: return noun("trackpoint", "trackpoints") + " with an unreadable time skipped"
    case .farTime: return noun("trackpoint", "trackpoints") + " more than a day away from the others skipped"
    case .badPosition: return noun("position", "positions") + " outside the globe skipped"
    case .decimalComma: return noun("position", "positions") + " with a decimal comma skipped"
    case .badNumber:
      return noun("reading", "readings") + (count == 1 ? " that is" : " that are") + " no possible number skipped"
    case .outOfOrder:
      return noun("trackpoint", "trackpoints") + (count == 1 ? " that goes" : " that go") + " back in time skipped"
    case .sorted: return noun("trackpoint", "trackpoints") + " out of order put in order by time"
    case .notCumulative: return noun("distance", "distances") + " that do not add up skipped"
    case .otherActivity: return noun("further activity", "further activities") + " in the file skipped"
    case .otherTrack: return noun("further track", "further tracks") + " in the file skipped"
    case .otherLap:
      return noun("lap", "laps") + " beyond the first \(RecordedTrack.lapsMax) skipped"
    case .lapWithoutPoints:
      return noun("lap", "laps") + " without trackpoints: time and distance count, without a route"
    case .lapDistance:
      return noun("lap", "laps") + " without distances in the trackpoints: the total of the lap counts"
    case .lapBegin:
      return noun("lap", "laps") + " without trackpoints at the beginning: the rest of the lap's distance counts there"
    case .lapLeftOut: return noun("lap", "laps") + " without trackpoints skipped"
    case .repeatedLap:
      return noun("lap", "laps") + (count == 1 ? " that repeats" : " that repeat") + " the whole track, read once"
    case .undeclaredPrefix: return noun("undeclared XML prefix", "undeclared XML prefixes") + " ignored"
    case .notOnFoot:
      return
        "the file says that this is a ride: it is measured as a run, and fixes too fast for a runner do not count"
    }
  }
}
