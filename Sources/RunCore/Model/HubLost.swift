/// An alarm of a peer: the hub has been silent for too long while a run was on, so the run may not be recorded any
/// more. An app should ask its owner to check the phone.
public struct HubLost: Hashable, Sendable {
  /// The run that was on when the peer last heard from the hub.
  public var runID: RunID?
  /// The hub's device.
  public var deviceID: DeviceID?
  /// The last snapshot that the peer knows. Its tick is 0 when the peer has restarted since.
  public var order: SnapshotOrder
  /// Real time since the peer last heard from the hub, or since the peer started if it has not heard from it since
  /// then.
  public var silence: BusDuration

  /// A loss from its parts.
  public init(runID: RunID?, deviceID: DeviceID?, order: SnapshotOrder, silence: BusDuration) {
    self.runID = runID
    self.deviceID = deviceID
    self.order = order
    self.silence = silence
  }
}

/// How current the state is that a peer shows.
///
/// It differs from the peer's reachability (``Reachability``). A lost connection makes the hub unreachable at
/// once, but the view stale only when the hub has been silent for three heartbeats, so that a short loss is not shown.
/// A goodbye of the hub does both at once. A screen shows ``isStale``; an app that wants to send something now looks at
/// the reachability.
public struct ViewState: Hashable, Sendable {
  /// Real time since the peer last heard from the hub; `nil` if it has not since the peer started.
  public var age: BusDuration?
  /// Whether the hub has missed three heartbeats or has said goodbye. The hub's run may have changed since.
  public var isStale: Bool
  /// Whether the hub has said goodbye. Nothing is recorded until it is back.
  public var isHubOffDuty: Bool

  /// A state from its parts.
  public init(age: BusDuration?, isStale: Bool, isHubOffDuty: Bool) {
    self.age = age
    self.isStale = isStale
    self.isHubOffDuty = isHubOffDuty
  }
}

/// The state of a peer's hub failure detector in its store. A peer that restarts during a silence of the hub does not
/// raise the alarm again.
package struct HubFailureMark: Hashable, Sendable {
  /// What the peer does when the hub stays silent.
  package enum Duty: Int, Hashable, Sendable, CaseIterable {
    /// The peer raises an alarm when the silence lasts too long while a run is on.
    case armed = 0
    /// The peer expects silence, because the hub has said goodbye.
    case dismissed = 1
    /// The peer has already raised the alarm for this silence.
    case alarmed = 2
  }
  /// What the peer does when the hub stays silent.
  package var duty: Duty
  /// The last alarm, of this silence or an earlier one.
  package var lastAlarm: HubLost?

  /// A mark from its parts; by default armed and without an earlier alarm.
  package init(duty: Duty = .armed, lastAlarm: HubLost? = nil) {
    self.duty = duty
    self.lastAlarm = lastAlarm
  }
}
