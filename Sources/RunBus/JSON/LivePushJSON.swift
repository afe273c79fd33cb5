public import RunCore

/// The content of a lock screen: keys of the event `live`, and of the state that `busnode widget --json` writes.
extension LiveContent: Codable {
  private enum CodingKeys: String, CodingKey {
    case runId, phase, changedBy, recovering, activeSeconds, clockAtBusNanoseconds, clockTicks, distanceMeters,
      paceSecondsPerKilometer, averagePaceSecondsPerKilometer, heartRateBpm, elevationGainMeters, lapCount, pending,
      startsAtBusNanoseconds, room
  }

  /// Reads a content that ``encode(to:)`` or `busnode` has written. A phase of a later version reads as `unknown`;
  /// waiting commands of unknown kinds are left out.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let source: String? = try container.read(.changedBy)
    let pending: [String] = try container.need(.pending)
    self.init(
      runID: try container.need(.runId), phase: try container.word(.phase, unknown: .unknown),
      changedBy: source.map { ControlSource(rawValue: $0) }, isRecovering: try container.need(.recovering),
      clock: LiveClock(
        active: try container.needSeconds(.activeSeconds),
        at: try container.readNanoseconds(.clockAtBusNanoseconds) ?? .zero,
        isTicking: try container.need(.clockTicks)),
      numbers: LiveNumbers(
        distanceMeters: try container.read(.distanceMeters),
        paceSecondsPerKilometer: try container.read(.paceSecondsPerKilometer),
        averagePaceSecondsPerKilometer: try container.read(.averagePaceSecondsPerKilometer),
        heartRateBpm: try container.read(.heartRateBpm),
        elevationGainMeters: try container.read(.elevationGainMeters), lapCount: try container.need(.lapCount)),
      pending: pending.compactMap { CommandKind(rawValue: $0) },
      startsAt: try container.readNanoseconds(.startsAtBusNanoseconds), room: try container.read(.room))
  }

  /// Writes the content in the form that `docs/json.md` in the repository of the package describes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(runID, .runId)
    try container.write(phase, .phase)
    try container.write(changedBy?.rawValue, .changedBy)
    try container.write(isRecovering, .recovering)
    try container.write(seconds: clock.active, .activeSeconds)
    try container.write(nanoseconds: clock.at, .clockAtBusNanoseconds)
    try container.write(clock.isTicking, .clockTicks)
    try container.write(numbers.distanceMeters, .distanceMeters)
    try container.write(numbers.paceSecondsPerKilometer, .paceSecondsPerKilometer)
    try container.write(numbers.averagePaceSecondsPerKilometer, .averagePaceSecondsPerKilometer)
    try container.write(numbers.heartRateBpm, .heartRateBpm)
    try container.write(numbers.elevationGainMeters, .elevationGainMeters)
    try container.write(numbers.lapCount, .lapCount)
    try container.write(pending.map(\.rawValue), .pending)
    try container.write(nanoseconds: startsAt, .startsAtBusNanoseconds)
    try container.write(room, .room)
  }
}

/// How the runner stands in the room of the run: `room` of a lock screen.
extension LiveRoom: Codable {
  private enum CodingKeys: String, CodingKey { case place, count, behindMeters }

  /// Reads a line that ``encode(to:)`` or `busnode` has written.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      place: try container.need(.place), count: try container.need(.count),
      metersBehind: try container.read(.behindMeters))
  }

  /// Writes the line in the form that `docs/json.md` in the repository of the package describes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(place, .place)
    try container.write(count, .count)
    try container.write(number: metersBehind, .behindMeters)
  }
}

/// A push to lock screens: the event `live`, without that word.
extension LiveMessage: Codable {
  private enum CodingKeys: String, CodingKey {
    case term, revision, tick, push, pushKind, pushedAtBusNanoseconds, staleAtBusNanoseconds, budgetLeft, activity,
      ageSeconds
  }

  /// Reads a push that ``encode(to:)`` has written. A kind of a later version reads as `unknown`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      push: LivePush(
        order: SnapshotOrder(
          term: try container.need(.term), revision: try container.need(.revision), tick: try container.need(.tick)),
        content: try LiveContent(from: decoder), number: try container.need(.push),
        kind: try container.word(.pushKind, unknown: .unknown),
        pushedAt: try container.readNanoseconds(.pushedAtBusNanoseconds) ?? .zero,
        staleAt: try container.readNanoseconds(.staleAtBusNanoseconds), budgetLeft: try container.need(.budgetLeft),
        activity: try container.need(.activity)),
      age: try container.readSeconds(.ageSeconds) ?? .zero)
  }

  /// Writes the push in the form that `docs/json.md` in the repository of the package describes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try push.content.encode(to: encoder)
    try container.write(push.order.term, .term)
    try container.write(push.order.revision, .revision)
    try container.write(push.order.tick, .tick)
    try container.write(push.number, .push)
    try container.write(push.kind.rawValue, .pushKind)
    try container.write(nanoseconds: push.pushedAt, .pushedAtBusNanoseconds)
    try container.write(nanoseconds: push.staleAt, .staleAtBusNanoseconds)
    try container.write(push.budgetLeft, .budgetLeft)
    try container.write(push.activity, .activity)
    try container.write(seconds: age, .ageSeconds)
  }
}
