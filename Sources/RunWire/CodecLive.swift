import RunCore
import SwiftProtobuf

// What the hub pushes to lock screens.
extension Codec {
  /// The largest number on a lock screen.
  private static let numberMax: UInt32 = 1 << 31 - 1

  static func message(_ live: LiveMessage) -> WireLivePush {
    let (push, content) = (live.push, live.push.content)
    var message = WireLivePush()
    message.order = self.message(push.order)
    message.runID = data(content.runID)
    message.phase = word(content.phase)
    if let source = content.changedBy { message.changedBy = source.rawValue }
    message.recovering = content.isRecovering
    message.activeNs = content.clock.active.nanoseconds
    message.clockAtNs = content.clock.at.nanoseconds
    message.ticking = content.clock.isTicking
    if let value = known(content.numbers.distanceMeters) { message.distanceMeters = value }
    if let value = known(content.numbers.paceSecondsPerKilometer) { message.currentPaceSecondsPerKilometer = value }
    if let value = known(content.numbers.averagePaceSecondsPerKilometer) {
      message.averagePaceSecondsPerKilometer = value
    }
    if let value = number(content.numbers.heartRateBpm) { message.heartRateBpm = value }
    if let value = number(content.numbers.elevationGainMeters) { message.elevationGainMeters = value }
    message.lapCount = number(content.numbers.lapCount) ?? 0
    message.pending = content.pending.map { word($0) }
    message.number = push.number
    message.kind = word(push.kind)
    message.pushedAtNs = push.pushedAt.nanoseconds
    message.ageNs = live.age.nanoseconds
    if let staleAt = push.staleAt { message.staleAtNs = staleAt.nanoseconds }
    message.budgetLeft = number(push.budgetLeft) ?? 0
    message.activity = number(push.activity) ?? 0
    if let startsAt = content.startsAt { message.startsAtNs = startsAt.nanoseconds }
    if let room = content.room, let place = number(room.place), let count = number(room.count) {
      message.room.place = place
      message.room.count = count
      if let value = known(room.metersBehind) { message.room.metersBehind = value }
    }
    return message
  }

  static func value(_ message: WireLivePush) throws(WireError) -> LiveMessage {
    guard message.hasOrder else { throw .malformed("push without its order") }
    let numbers = LiveNumbers(
      distanceMeters: try known(message.hasDistanceMeters, message.distanceMeters, "distance"),
      paceSecondsPerKilometer: try known(
        message.hasCurrentPaceSecondsPerKilometer, message.currentPaceSecondsPerKilometer, "pace"),
      averagePaceSecondsPerKilometer: try known(
        message.hasAveragePaceSecondsPerKilometer, message.averagePaceSecondsPerKilometer, "average pace"),
      heartRateBpm: message.hasHeartRateBpm ? try whole(message.heartRateBpm) : nil,
      elevationGainMeters: message.hasElevationGainMeters ? try whole(message.elevationGainMeters) : nil,
      lapCount: try whole(message.lapCount))
    // Each kind counts once; a kind of a later version cannot be shown.
    let pending = Set(message.pending.compactMap { kind($0) })
    let content = LiveContent(
      runID: try identifier(message.runID, "run id"), phase: phase(message.phase),
      changedBy: message.hasChangedBy ? try source(message.changedBy) : nil, isRecovering: message.recovering,
      clock: LiveClock(
        active: try span(message.activeNs, "active time"), at: BusTime(nanoseconds: message.clockAtNs),
        isTicking: message.ticking),
      numbers: numbers, pending: pending.sorted { $0.rawValue < $1.rawValue },
      startsAt: message.hasStartsAtNs ? BusTime(nanoseconds: message.startsAtNs) : nil,
      room: message.hasRoom ? try value(message.room) : nil)
    let push = LivePush(
      order: try value(message.order), content: content, number: try counter(message.number, "number of a push"),
      kind: kind(message.kind), pushedAt: BusTime(nanoseconds: message.pushedAtNs),
      staleAt: message.hasStaleAtNs ? BusTime(nanoseconds: message.staleAtNs) : nil,
      budgetLeft: try whole(message.budgetLeft), activity: try whole(message.activity))
    return LiveMessage(push: push, age: try span(message.ageNs, "age of a push"))
  }

  private static func value(_ message: WireLiveRoom) throws(WireError) -> LiveRoom {
    LiveRoom(
      place: try whole(message.place), count: try whole(message.count),
      metersBehind: try known(message.hasMetersBehind, message.metersBehind, "metres behind"))
  }

  /// A number that the wire carries; `nil` for one that no lock screen shows.
  private static func number(_ value: Int?) -> UInt32? {
    value.flatMap { UInt32(exactly: $0) }.flatMap { $0 <= numberMax ? $0 : nil }
  }

  private static func whole(_ value: UInt32) throws(WireError) -> Int {
    guard value <= numberMax else { throw .malformed("number on a lock screen is out of range") }
    return Int(value)
  }

  private static func word(_ kind: LivePushKind) -> WireLivePushKind {
    switch kind {
    case .phase: .phase
    case .final: .final
    case .pending: .pending
    case .numbers: .numbers
    case .alive: .alive
    case .renewal: .renewal
    case .unknown: .unspecified
    }
  }

  private static func kind(_ word: WireLivePushKind) -> LivePushKind {
    switch word {
    case .phase: .phase
    case .final: .final
    case .pending: .pending
    case .numbers: .numbers
    case .alive: .alive
    case .renewal: .renewal
    case .unspecified, .UNRECOGNIZED: .unknown
    }
  }
}
