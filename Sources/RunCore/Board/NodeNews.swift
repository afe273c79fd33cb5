/// Something that a node learns. ``RunBoard`` folds the news of a node into what a screen shows.
public enum NodeNews: Hashable, Sendable {
  /// The state of the run; only the newest counts.
  indirect case snapshot(Snapshot)
  /// The phase with the node's own unanswered commands applied on top; only the newest counts.
  case predicted(RunPhase)
  /// The hub is in reach or not; only the newest counts.
  case link(Reachability)
  /// The state may be old or is fresh again; only the newest counts.
  case view(ViewState)
  /// The hub has been silent for too long while a run was on.
  case hubLost(HubLost)
  /// What a lock screen shows; only the newest counts.
  indirect case lockScreen(LiveActivity)
  /// The hub has accepted a command of a device.
  indirect case command(Command, DeviceID)
  /// A command of a device has reached a stage; those of the node itself are ``ownReceipt(_:)``.
  indirect case receipt(Receipt, DeviceID)
  /// A command of the node itself has reached a stage.
  indirect case ownReceipt(Receipt)
  /// A device is in the hub's reach or not.
  case presence(Presence)
  /// The devices that the hub knows, as it said now; only the newest counts.
  case devices([PeerReport])
  /// A part of the route is new or has changed.
  case route(RouteUpdate)
  /// The kilometres, miles and laps have changed; only the newest counts.
  case splits(RunSplits)
  /// A record was kept or removed.
  indirect case record(RecordNews)
  /// The room in which the runner is; only the newest counts.
  indirect case room(RoomView)
  /// Something in the room that the runner should notice.
  indirect case cue(RoomCue)
  /// So much was left out here, because the reader was too far behind: what others did (commands and their stages,
  /// devices that came or left, records), and never a verdict on a command of the node itself.
  case missed(Int)

  /// The news of an event of the bus; `nil` for one that comes as news of another kind: snapshots, the route and lock
  /// screens, as the node has taken them up.
  package init?(_ event: BusEvent) {
    switch event {
    case .command(let command, let device): self = .command(command, device)
    case .receipt(let receipt, let device): self = .receipt(receipt, device)
    case .presence(let presence): self = .presence(presence)
    case .room(let view): self = .room(view)
    case .cue(let cue): self = .cue(cue)
    case .snapshot, .message, .route, .live: return nil
    }
  }
}
