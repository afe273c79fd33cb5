/// When a peer last heard its hub, and how long the hub may be silent.
///
/// The hub answers each ping. So it may be silent for three of the peer's own intervals before it counts as unreachable.
struct HubHearing: Hashable, Sendable {
  /// When the hub was last heard; `nil` if it never was.
  private(set) var heardAt: BusTime?
  /// When the hub counts as unreachable unless it is heard before; `nil` if it was never heard.
  private(set) var silentAt: BusTime?
  /// How long the hub may be silent.
  private(set) var silence: BusDuration

  /// A hub that was never heard.
  init(silence: BusDuration) { self.silence = silence }

  /// Notes that the hub was heard.
  mutating func hear(at now: BusTime) {
    heardAt = now
    silentAt = now + silence
  }

  /// Sets how long the hub may be silent since it was last heard.
  mutating func setSilence(_ silence: BusDuration) {
    self.silence = silence
    silentAt = heardAt.map { $0 + silence }
  }

  /// Shortens the silence. The hub has answered at the longer interval until now, so the shorter silence counts from now
  /// at the earliest.
  mutating func shorten(to silence: BusDuration, at now: BusTime) {
    self.silence = silence
    silentAt = silentAt.map { min($0, now + silence) }
  }
}
