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
    case .recruiting where view.isMatched && view.members.count < 2: Tongue.say(.viewSearch)
    case .cancelled where view.isMatched: Tongue.say(.viewSearchCancelled)
    case .countdown: countdown(view.startsIn) ?? Tongue.say(.countdown)
    case .settling, .over:
      view.stage.spoken + (view.settled.map { Tongue.say(.viewResult, ["standing": $0.spoken]) } ?? "")
    case .recruiting, .gathering, .running, .cancelled: view.stage.spoken
    case .unknown: Tongue.say(.viewStageUnknown)
    }
  }

  /// `starts in 4 s`, rounded up so that it ends with 1; `nil` while the start is not known.
  static func countdown(_ startsIn: BusDuration?) -> String? {
    guard let startsIn else { return nil }
    guard startsIn > .zero else { return Tongue.say(.startsNow) }
    let seconds = startsIn.seconds.rounded(.up)
    return Tongue.say(
      .startsIn,
      [
        "time": seconds < 100
          ? Tongue.say(.spanSeconds, ["count": Sentence.whole(seconds)]) : DurationText.countdown(startsIn)
      ])
  }

  /// `3 of 4`, how many are in and may be; `3 runners` once nobody enters any more.
  static func places(_ view: RoomView) -> String {
    switch view.stage {
    case .recruiting, .unknown: Tongue.say(.placesOf, ["count": view.members.count, "places": view.places])
    case .gathering, .countdown, .running, .settling, .over, .cancelled:
      view.members.count == 1 ? Tongue.say(.runnersOne) : Tongue.say(.runnersMany, ["count": view.members.count])
    }
  }

  /// What the room waits for, and how far the runner is from the start; empty where only time counts.
  static func gate(_ view: RoomView) -> [String] {
    let names = names(view)
    func missing(_ isThere: (RoomView.Member) -> Bool, _ what: String) -> String {
      let who = view.members.filter { !isThere($0) }.map { $0.isSelf ? Tongue.say(.memberYou) : names[$0.id] ?? "?" }
      return Tongue.say(.gateWaits, ["names": who.joined(separator: ", "), "what": what])
    }
    var words: [String]
    switch view.gate {
    case nil: return []
    case .open: words = [view.own?.isOwner == true ? Tongue.say(.gateOpenOwn) : Tongue.say(.gateOpen)]
    case .tooFew: words = [Tongue.say(.gateTooFew)]
    case .notReady: words = [missing(\.isReady, Tongue.say(.memberNotReady))]
    case .notHere: words = [missing(\.isHere, Tongue.say(.memberNotHere))]
    }
    if view.gate == .open, view.stage == .gathering {
      words = [view.own?.isOwner == true ? Tongue.say(.gateProceedOwn) : Tongue.say(.gateProceed)]
    }
    if let meters = view.metersToStart, view.own?.isHere == false {
      words.append(Tongue.say(.gateDistance, ["distance": meters]))
    }
    return words
  }

  /// What makes the view uncertain; empty when nothing does.
  static func doubts(_ view: RoomView) -> [String] {
    var words: [String] = []
    if view.isLost { words.append(Tongue.say(.doubtLost)) }
    if view.isProvisional { words.append(Tongue.say(.doubtClock)) }
    if !view.members.isEmpty, view.own == nil { words.append(Tongue.say(.doubtNoPlace)) }
    return words
  }

  /// `18 m behind`, for the one before; `nil` for the first one.
  static func behind(_ standing: RoomView.Standing, in units: Units) -> String? {
    standing.metersBehind.map { Tongue.say(.metresBehind, ["distance": units.heightText($0)]) }
  }

  /// `2 of 4, 120 m behind`, on a lock screen.
  static func place(_ room: LiveRoom, in units: Units = .metric) -> String {
    Tongue.say(.rankOf, ["place": room.place, "count": room.count])
      + (room.metersBehind.map { Tongue.say(.rankBehind, ["distance": units.heightText($0)]) } ?? "")
  }

  /// `771.2 m`, `771.2 m (unconfirmed)`, `distance unknown`.
  static func distance(_ finish: RoomView.Finish) -> String {
    guard let meters = finish.meters else { return Tongue.say(.distanceUnknown) }
    return "\(RoomText.tenths(meters)) m\(finish.isConfirmed ? "" : Tongue.say(.unconfirmed))"
  }

  /// Something that the runner should notice, in a sentence.
  static func sentence(_ cue: RoomCue) -> String {
    switch cue.kind {
    case .started: Tongue.say(.cueStarted)
    case .overtaken: Tongue.say(.cueOvertaken, ["name": cue.nickname ?? Tongue.say(.anotherRunner)])
    case .won: Tongue.say(.cueWon)
    case .drawn: Tongue.say(.cueDrawn)
    case .lost: Tongue.say(.cueLost)
    case .cancelled: Tongue.say(.cueCancelled)
    }
  }

  /// The room in one line: `room 32d9626b: running · 3 runners · 1. Ben 0.77 km · 2. Anna 0.75 km, 18 m behind`.
  static func line(_ view: RoomView, in units: Units = .metric) -> String {
    let names = names(view)
    var parts = [Tongue.say(.roomLine, ["room": short(view.room), "stage": stage(view)])]
    if let goal = view.goal { parts.append(Tongue.say(.goalIs, ["goal": DurationText.clock(goal)])) }
    parts.append(places(view))
    parts += gate(view)
    for member in view.ranked {
      let name = names[member.id] ?? "?"
      if let finish = member.finish {
        parts.append("\(finish.place). \(name) \(distance(finish))\(finish.outcome.map { ", \($0.spoken)" } ?? "")")
      } else if view.hasBegun, let standing = member.standing {
        var words = [standing.place.map { "\($0). \(name)" } ?? name]
        words[0] += standing.meters.map { " \(units.distanceText($0))" } ?? ""
        if let behind = behind(standing, in: units) { words.append(behind) }
        if standing.isStale {
          words.append(
            standing.age.map { Tongue.say(.ageAlone, ["age": Sentence.old($0.seconds)]) } ?? Tongue.say(.notHeard))
        }
        parts.append(words.joined(separator: ", "))
      }
    }
    return (parts + doubts(view)).joined(separator: " · ")
  }
}
