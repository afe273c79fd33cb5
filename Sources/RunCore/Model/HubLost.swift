/// A run may have stopped: the hub that records it has been silent for too long. What an app tells its owner then is "look
/// at your phone".
public struct HubLost: Hashable, Sendable, Codable {
  /// The run that was on when the hub was last heard.
  public var runID: RunID?
  /// The device that holds the hub.
  public var deviceID: DeviceID?
  /// The last publication that was seen. In a later life than the one that saw it, the first of its revision.
  public var order: SnapshotOrder
  /// Real time since the hub was last heard; since this peer began when it has not been heard since.
  public var silence: BusDuration

  /// A loss from its parts.
  public init(runID: RunID?, deviceID: DeviceID?, order: SnapshotOrder, silence: BusDuration) {
    self.runID = runID
    self.deviceID = deviceID
    self.order = order
    self.silence = silence
  }
}

/// How far what a peer shows can be believed.
public struct ViewState: Hashable, Sendable {
  /// Real time since the hub was last heard: how old the view is. `nil` when it was not heard in this life of the peer.
  public var age: BusDuration?
  /// The hub has missed three heartbeats, or has said goodbye: the run may be another one by now.
  public var isStale: Bool
  /// The hub has ended in good order: nobody records until it is back.
  public var isHubOffDuty: Bool

  /// A state from its parts.
  public init(age: BusDuration?, isStale: Bool, isHubOffDuty: Bool) {
    self.age = age
    self.isStale = isStale
    self.isHubOffDuty = isHubOffDuty
  }
}

/// What a peer's store remembers of its watch over the hub, so that a silence that goes on across its lives is told once.
public struct HubFailureMark: Hashable, Sendable {
  /// What the next silence comes to.
  public enum Duty: Int, Hashable, Sendable, CaseIterable {
    /// An alarm, when it lasts too long while a run is on.
    case armed = 0
    /// Nothing: the hub has said goodbye.
    case dismissed = 1
    /// Nothing more: this silence was told.
    case alarmed = 2
  }
  /// What the next silence comes to.
  public var duty: Duty
  /// The last alarm, of this silence or an earlier one.
  public var lastAlarm: HubLost?

  /// Armed, and never alarmed, unless told otherwise.
  public init(duty: Duty = .armed, lastAlarm: HubLost? = nil) {
    self.duty = duty
    self.lastAlarm = lastAlarm
  }
}
