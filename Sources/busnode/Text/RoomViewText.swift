import RunBus
import RunScripts

/// The room of a runner as its screens show it, in words.
enum RoomViewText {
  /// The first digits of the room's id, by which it is named.
  static func short(_ room: String) -> String { String(room.prefix(8)) }

  /// The names of members by their ids; two alike have the first digits of their keys.
  static func names(_ view: RoomView) -> [String: String] {
    var names: [String: String] = [:]
    for member in view.members {
      let isDouble = view.members.count { $0.nickname == member.nickname } > 1
      names[member.id] = member.nickname + (isDouble ? " (\(member.id.prefix(4)))" : "")
    }
    return names
  }

  /// Where the room stands: `recruiting`, `search`, `starts in 4 s`, `settling, result provisional`.
  static func stage(_ view: RoomView) -> String {
    switch view.stage {
    case .recruiting where view.isMatched && view.members.count < 2: "search"
    case .cancelled where view.isMatched: "cancelled (a search)"
    case .countdown: countdown(view.startsIn) ?? "countdown"
    case .settling, .over: view.stage.rawValue + (view.settled.map { ", result \($0.rawValue)" } ?? "")
    case .recruiting, .gathering, .running, .cancelled: view.stage.rawValue
    case .unknown: "a stage that this version does not know"
    }
  }

  /// `starts in 4 s`, rounded up so that it ends with 1; `nil` while the start is not known.
  static func countdown(_ startsIn: BusDuration?) -> String? {
    guard let startsIn else { return nil }
    guard startsIn > .zero else { return "starts now" }
    let seconds = startsIn.seconds.rounded(.up)
    return "starts in \(seconds < 100 ? "\(Sentence.whole(seconds)) s" : DurationText.countdown(startsIn))"
  }

  /// `3 of 4`, how many are in and may be; `3 runners` once nobody enters any more.
  static func places(_ view: RoomView) -> String {
    switch view.stage {
    case .recruiting, .unknown: "\(view.members.count) of \(view.places)"
    case .gathering, .countdown, .running, .settling, .over, .cancelled:
      view.members.count == 1 ? "1 runner" : "\(view.members.count) runners"
    }
  }

  /// What the room waits for, and how far the runner is from the start; empty where only time counts.
  static func gate(_ view: RoomView) -> [String] {
    let names = names(view)
    func missing(_ isThere: (RoomView.Member) -> Bool, _ what: String) -> String {
      let who = view.members.filter { !isThere($0) }.map { $0.isSelf ? "you" : names[$0.id] ?? "?" }
      return "waits for: \(who.joined(separator: ", ")) (\(what))"
    }
    var words: [String]
    switch view.gate {
    case nil: return []
    case .open: words = [view.own?.isOwner == true ? "all is ready: begin it" : "all is ready: its owner begins it"]
    case .tooFew: words = ["waits for: another runner"]
    case .notReady: words = [missing(\.isReady, "not ready")]
    case .notHere: words = [missing(\.isHere, "not at the start")]
    }
    if view.gate == .open, view.stage == .gathering {
      words = [view.own?.isOwner == true ? "all are at the start: proceed" : "all are at the start: its owner proceeds"]
    }
    if let meters = view.metersToStart, view.own?.isHere == false { words.append("you are \(meters) m from the start") }
    return words
  }

  /// What makes the view uncertain; empty when nothing does.
  static func doubts(_ view: RoomView) -> [String] {
    var words: [String] = []
    if view.isLost { words.append("the log has lost this room") }
    if view.isProvisional { words.append("by the clock; the log does not say so yet") }
    if !view.members.isEmpty, view.own == nil { words.append("you have no place in it") }
    return words
  }

  /// `18 m behind`, for the one before; `nil` for the first one.
  static func behind(_ standing: RoomView.Standing, in units: Units) -> String? {
    standing.metersBehind.map { "\(units.heightText($0)) behind" }
  }

  /// `2 of 4, 120 m behind`, on a lock screen.
  static func place(_ room: LiveRoom, in units: Units = .metric) -> String {
    "\(room.place) of \(room.count)" + (room.metersBehind.map { ", \(units.heightText($0)) behind" } ?? "")
  }

  /// `771.2 m`, `771.2 m (unconfirmed)`, `distance unknown`.
  static func distance(_ finish: RoomView.Finish) -> String {
    guard let meters = finish.meters else { return "distance unknown" }
    return "\(RoomText.tenths(meters)) m\(finish.isConfirmed ? "" : " (unconfirmed)")"
  }

  /// Something that the runner should notice, in a sentence.
  static func sentence(_ cue: RoomCue) -> String {
    switch cue.kind {
    case .started: "the run of the room has started"
    case .overtaken: "\(cue.nickname ?? "another runner") is ahead of you now"
    case .won: "you have won"
    case .drawn: "drawn: you share the first place"
    case .lost: "you have lost"
    case .cancelled: "the room is over for you before its run"
    }
  }

  /// The room in one line: `room 32d9626b: running · 3 runners · 1. Ben 0.77 km · 2. Anna 0.75 km, 18 m behind`.
  static func line(_ view: RoomView, in units: Units = .metric) -> String {
    let names = names(view)
    var parts = ["room \(short(view.room)): \(stage(view))"]
    if let goal = view.goal { parts.append("goal \(DurationText.clock(goal))") }
    parts.append(places(view))
    parts += gate(view)
    for member in view.ranked {
      let name = names[member.id] ?? "?"
      if let finish = member.finish {
        parts.append("\(finish.place). \(name) \(distance(finish))\(finish.outcome.map { ", \($0.rawValue)" } ?? "")")
      } else if view.hasBegun, let standing = member.standing {
        var words = [standing.place.map { "\($0). \(name)" } ?? name]
        words[0] += standing.meters.map { " \(units.distanceText($0))" } ?? ""
        if let behind = behind(standing, in: units) { words.append(behind) }
        if standing.isStale { words.append(standing.age.map { "\(Sentence.old($0.seconds)) old" } ?? "not heard yet") }
        parts.append(words.joined(separator: ", "))
      }
    }
    return (parts + doubts(view)).joined(separator: " · ")
  }
}
