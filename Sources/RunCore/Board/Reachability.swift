/// The state of a peer's connection to its hub: whether the peer can send now.
///
/// The hub becomes unreachable at once when the connection closes or the hub says goodbye, and otherwise after three
/// missed heartbeats (6 s while a run is running, 30 s otherwise). ``ViewState`` says whether the state on the
/// screen may be old. It becomes stale only after three missed heartbeats or a goodbye, so a connection that is lost
/// for a moment shows here only.
public struct Reachability: Hashable, Sendable {
  /// Whether the hub has answered in the present connection and has not been silent for three heartbeats since.
  public var isReachable: Bool
  /// Real time since the peer last heard from the hub; `nil` if it never has.
  public var lastHeardAge: BusDuration?
  /// The duration of the last round trip; `nil` if there was none.
  public var roundTrip: BusDuration?
  /// Why the hub did not let this peer in when it was asked last, for a person: the device name belongs to another
  /// machine, or the hub's tables are full. `nil` when it did, or was not asked yet. The peer goes on asking.
  public var refusal: String?

  /// A state from its parts; by default of a peer that has not heard from its hub.
  public init(
    isReachable: Bool = false, lastHeardAge: BusDuration? = nil, roundTrip: BusDuration? = nil, refusal: String? = nil
  ) {
    self.refusal = refusal
    self.isReachable = isReachable
    self.lastHeardAge = lastHeardAge
    self.roundTrip = roundTrip
  }
}
