public import Foundation
public import RunCore

/// What a lock screen shows of a run, in the form that a lock screen takes: dates instead of bus time, and less than
/// 4 KB as JSON.
///
/// On iOS it is the content state of an activity; the file `docs/devices.md` in the repository of the package maps it to
/// ActivityKit:
///
/// ```swift
/// for await state in await node.liveActivityStates() {
///   await activity.update(ActivityContent(state: state, staleDate: state.staleDate, relevanceScore: state.relevance))
/// }
/// ```
///
/// The clock needs no further update to go on: ``clockZero`` is an anchor for a text that counts by itself.
public struct LiveActivityState: Hashable, Sendable {
  /// The most bytes that a lock screen takes: ActivityKit's limit for a content state.
  public static let encodedBytesMax = 4096

  /// The snapshot that it shows.
  public var order: SnapshotOrder
  /// What is visible of the run, with presses of this node that wait for their verdict. Its clock is in bus time: use
  /// ``clockZero`` and ``standing``.
  public var content: LiveContent
  /// When active time was zero if it had ticked all along; `nil` while the clock stands.
  public var clockZero: Date?
  /// How many seconds of active time pass in a second: 1, except in a replay.
  public var clockRate: Double
  /// When the run of the runner's room starts, while its countdown is on: an anchor for a text that counts down by itself.
  public var startDate: Date?
  /// Whether the run may have changed since: the push is too old, or the hub is silent.
  public var isStale: Bool
  /// Whether the hub has been silent for so long that the run may have stopped.
  public var isHubLost: Bool
  /// When the screen becomes stale unless another state comes before; `nil` when nothing goes on.
  public var staleDate: Date?
  /// How important the activity is beside others, from 0 to 100.
  public var relevance: Double
  /// Whether the run is over, or the countdown to it was held, so that the activity can end.
  public var isFinal: Bool
  /// Counts the pushes of the hub.
  public var push: UInt64
  /// Why the hub pushed.
  public var pushKind: LivePushKind
  /// When the hub pushed.
  public var pushedAt: Date
  /// How many pushes of numbers the hub's budget holds.
  public var budgetLeft: Int
  /// Counts the activities of the run: another number means that another activity takes over.
  public var activity: Int

  /// The state of an activity.
  ///
  /// - Parameters:
  ///   - activity: What a node's lock screen shows.
  ///   - clock: The node's clock, for the dates.
  public init(_ activity: LiveActivity, clock: NodeClock) {
    let push = activity.push
    order = push.order
    content = push.content
    content.pending = activity.pending
    clockRate = clock.speed.factor
    let live = push.content.clock
    let passed = clock.speed.real(fromBus: live.active).seconds
    clockZero = live.isTicking ? clock.date(of: live.at).addingTimeInterval(-passed) : nil
    startDate = push.content.startsAt.map { clock.date(of: $0) }
    isStale = activity.isStale
    isHubLost = activity.isHubLost
    staleDate = push.staleAt.map { clock.date(of: $0) }
    relevance = Double(push.relevance)
    isFinal = push.isFinal
    self.push = push.number
    pushKind = push.kind
    pushedAt = clock.date(of: push.pushedAt)
    budgetLeft = push.budgetLeft
    self.activity = push.activity
  }

  /// Active time while the clock stands, seconds; `nil` while it ticks.
  public var standing: Double? { content.clock.isTicking ? nil : content.clock.active.seconds }

  /// Active time at a date, seconds.
  public func activeSeconds(at date: Date) -> Double {
    guard let clockZero else { return content.clock.active.seconds }
    return max(content.clock.active.seconds, date.timeIntervalSince(clockZero) * clockRate)
  }

  /// The commands that make sense in the phase, in the order of buttons; none in the countdown of a room, which starts the
  /// run by itself.
  public var buttons: [CommandKind] {
    if content.phase == .idle, content.startsAt != nil { return [] }
    let machine = RunMachine(phase: content.phase)
    return [.start, .pause, .resume, .lap, .stop].filter { machine.allows($0) }
  }
}

extension Node {
  /// What a lock screen shows, as ``liveActivities()`` tells it, in the form that a lock screen takes. The stream ends
  /// with the node.
  public nonisolated func liveActivityStates() async -> AsyncStream<LiveActivityState> {
    let activities = await liveActivities()
    let (states, continuation) = AsyncStream.makeStream(
      of: LiveActivityState.self, bufferingPolicy: .bufferingNewest(1))
    let following = Task {
      for await activity in activities {
        if let clock { continuation.yield(LiveActivityState(activity, clock: clock)) }
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in following.cancel() }
    return states
  }
}
