/// A sport of FIT, with its kind.
struct FITSport: Equatable {
  private let sport: UInt8
  private let kind: UInt8

  /// A sport from its two numbers; `nil` without the first one.
  init?(_ sport: Double?, _ kind: Double?) {
    guard let sport = sport.flatMap({ UInt8(exactly: $0) }) else { return nil }
    self.sport = sport
    self.kind = kind.flatMap { UInt8(exactly: $0) } ?? 0
  }

  var isRun: Bool { sport == 1 || isTreadmill }

  /// Whether it is a run, or a walk or hike, which is measured like one. A device without a list of sports writes 0.
  var isOnFoot: Bool { isRun || [0, 11, 16, 17, 35].contains(sport) }

  /// Older watches write a run on a treadmill as fitness equipment of that kind.
  private var isTreadmill: Bool { sport == 4 && kind == 1 }

  /// Its name in a sentence: "it records cycling".
  var name: String { Self.names[sport] ?? "another sport (number \(sport) of FIT)" }

  private static let names: [UInt8: String] = [
    2: "cycling", 3: "a change between two sports", 4: "fitness equipment", 5: "swimming", 6: "basketball", 7: "soccer",
    8: "tennis", 9: "American football", 10: "training", 12: "cross-country skiing", 13: "alpine skiing",
    14: "snowboarding", 15: "rowing", 18: "several sports", 19: "paddling", 20: "flying", 21: "e-biking",
    22: "motorcycling", 23: "boating", 24: "driving", 25: "golf", 26: "hang gliding", 27: "horseback riding",
    28: "hunting", 29: "fishing", 30: "inline skating", 31: "rock climbing", 32: "sailing", 33: "ice skating",
    34: "sky diving", 36: "snowmobiling", 37: "stand-up paddling", 38: "surfing", 39: "wakeboarding",
    40: "water skiing", 41: "kayaking", 42: "rafting", 43: "windsurfing", 44: "kitesurfing", 47: "boxing",
    48: "floor climbing", 53: "diving",
  ]
}

/// The kinds of FIT files that hold no activity.
enum FITFileKind {
  static let activity: UInt8 = 4

  /// What a file of a kind holds, in a sentence: "a FIT file of settings".
  static func name(_ kind: UInt8) -> String {
    switch kind {
    case 1: "a device"
    case 2: "settings"
    case 3: "the settings of a sport"
    case 5: "a workout"
    case 6: "a course"
    case 7: "a schedule"
    case 9: "body weight"
    case 10: "totals"
    case 11: "goals"
    case 14: "blood pressure"
    case 15, 28, 32: "daily monitoring"
    case 20: "summaries of activities"
    case 34, 35: "segments"
    default: "another kind (number \(kind) of FIT)"
    }
  }
}
