public import RunCore

/// The room as the event `room` writes it, without that word.
///
/// Spans are real time and hold at the moment at which the hub made the view.
extension RoomView: Codable {
  private enum CodingKeys: String, CodingKey {
    case term, number, room, stage, goalSeconds, places, matched, start, toStartMeters, gate, startsInSeconds, settled,
      provisional, lost, members
  }

  /// Reads a room that ``encode(to:)`` or `busnode` has written. A stage of a later version reads as `unknown`; a gate
  /// and a word for the result that this version does not know read as `nil`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      order: Order(term: try container.need(.term), number: try container.need(.number)),
      room: try container.need(.room), goal: try container.readSeconds(.goalSeconds),
      places: try container.need(.places), isMatched: try container.need(.matched),
      startLabel: try container.read(.start), metersToStart: try container.read(.toStartMeters),
      stage: try container.word(.stage, unknown: .unknown), gate: try container.readWord(.gate),
      startsIn: try container.readSeconds(.startsInSeconds), settled: try container.readWord(.settled),
      members: try container.need(.members), isProvisional: try container.need(.provisional),
      isLost: try container.need(.lost))
  }

  /// Writes the room in the form that `docs/json.md` in the repository of the package describes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(order.term, .term)
    try container.write(order.number, .number)
    try container.write(room, .room)
    try container.write(stage.rawValue, .stage)
    try container.write(seconds: goal, .goalSeconds)
    try container.write(places, .places)
    try container.write(isMatched, .matched)
    try container.write(startLabel, .start)
    try container.write(metersToStart, .toStartMeters)
    try container.write(gate?.rawValue, .gate)
    try container.write(seconds: startsIn, .startsInSeconds)
    try container.write(settled?.rawValue, .settled)
    try container.write(isProvisional, .provisional)
    try container.write(isLost, .lost)
    try container.write(members, .members)
  }
}

/// A member of a room: an element of `members`.
extension RoomView.Member: Codable {
  private enum CodingKeys: String, CodingKey {
    case id, nickname, level, you, owner, ready, here, standing, finish
  }

  /// Reads a member that ``encode(to:)`` or `busnode` has written.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      id: try container.need(.id), nickname: try container.need(.nickname), level: try container.need(.level),
      isSelf: try container.need(.you), isOwner: try container.need(.owner), isReady: try container.need(.ready),
      isHere: try container.need(.here), standing: try container.read(.standing), finish: try container.read(.finish))
  }

  /// Writes the member in the form that `docs/json.md` in the repository of the package describes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(id, .id)
    try container.write(nickname, .nickname)
    try container.write(level, .level)
    try container.write(isSelf, .you)
    try container.write(isOwner, .owner)
    try container.write(isReady, .ready)
    try container.write(isHere, .here)
    try container.write(standing, .standing)
    try container.write(finish, .finish)
  }
}

/// How far a member has come: `standing` of a member.
extension RoomView.Standing: Codable {
  private enum CodingKeys: String, CodingKey {
    case place, distanceMeters, behindMeters, paceSecondsPerKilometer, phase, ageSeconds, stale
  }

  /// Reads a standing that ``encode(to:)`` or `busnode` has written. A phase of a later version reads as `unknown`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let phase: String? = try container.read(.phase)
    self.init(
      place: try container.read(.place), meters: try container.read(.distanceMeters),
      metersBehind: try container.read(.behindMeters),
      paceSecondsPerKilometer: try container.read(.paceSecondsPerKilometer),
      phase: phase.map { RunPhase(rawValue: $0) ?? .unknown }, age: try container.readSeconds(.ageSeconds),
      isStale: try container.need(.stale))
  }

  /// Writes the standing in the form that `docs/json.md` in the repository of the package describes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(place, .place)
    try container.write(number: meters, .distanceMeters)
    try container.write(number: metersBehind, .behindMeters)
    try container.write(paceSecondsPerKilometer, .paceSecondsPerKilometer)
    try container.write(phase, .phase)
    try container.write(seconds: age, .ageSeconds)
    try container.write(isStale, .stale)
  }
}

/// What came out for a member: `finish` of a member.
extension RoomView.Finish: Codable {
  private enum CodingKeys: String, CodingKey { case place, distanceMeters, confirmed, outcome }

  /// Reads a finish that ``encode(to:)`` or `busnode` has written. An outcome of a later version reads as `nil`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      place: try container.need(.place), meters: try container.read(.distanceMeters),
      isConfirmed: try container.need(.confirmed), outcome: try container.readWord(.outcome))
  }

  /// Writes the finish in the form that `docs/json.md` in the repository of the package describes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(place, .place)
    try container.write(number: meters, .distanceMeters)
    try container.write(isConfirmed, .confirmed)
    try container.write(outcome?.rawValue, .outcome)
  }
}

/// Something in a room that the runner should notice: the event `cue`, without that word.
extension RoomCue: Codable {
  private enum CodingKeys: String, CodingKey { case room, cue, nickname }

  /// Reads a cue that ``encode(to:)`` or `busnode` has written.
  ///
  /// - Throws: `DecodingError`, also for a kind that this version does not know: there is nothing to tell then.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let word: String = try container.need(.cue)
    guard let kind = Kind(rawValue: word) else { throw container.flaw(.cue, "no cue that this version knows: \(word)") }
    self.init(room: try container.need(.room), kind: kind, nickname: try container.read(.nickname))
  }

  /// Writes the cue in the form that `docs/json.md` in the repository of the package describes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(room, .room)
    try container.write(kind.rawValue, .cue)
    try container.write(nickname, .nickname)
  }
}
