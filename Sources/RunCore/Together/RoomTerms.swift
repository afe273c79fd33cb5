/// What a room is for, as its opener states it. It never changes.
package struct RoomTerms: Hashable, Sendable {
  /// Who comes together in a room.
  package enum Kind: Hashable, Sendable {
    /// Opened by an owner, who begins it.
    case opened
    /// Opened by a runner who seeks another one. It has two places, no owner's rights, and begins by itself.
    case matched(Seek, left: BusDuration)
  }
  /// The version of the rules that this program knows; ``RoomMachine`` judges rooms of it and of none other.
  package static let rules: UInt32 = 1

  /// The version of the rules of the room.
  package var rules: UInt32
  /// Who comes together.
  package var kind: Kind
  /// How long the run is, in bus time.
  package var goal: BusDuration
  /// How fast bus time passes for all who run: simulated runners are fast. Everything else in a room is real time.
  package var speed: BusSpeed
  /// How many places there are; 2 in a matched room.
  package var places: Int
  /// How long the countdown is.
  package var countdown: BusDuration
  /// Where the run starts; `nil` for a room without a place.
  package var start: RoomStart?
  /// The circle whose runners may enter; `nil` for all.
  package var circle: String?

  /// Terms from their parts.
  package init(
    rules: UInt32 = Self.rules, kind: Kind = .opened, goal: BusDuration, speed: BusSpeed = .realTime,
    places: Int = Self.defaultPlaces, countdown: BusDuration = Self.defaultCountdown, start: RoomStart? = nil,
    circle: String? = nil
  ) {
    self.rules = rules
    self.kind = kind
    self.goal = goal
    self.speed = speed
    self.places = places
    self.countdown = countdown
    self.start = start
    self.circle = circle
  }

  /// How long the run lasts by the log's clock.
  package var span: BusDuration { speed.real(fromBus: goal) }
  /// Whether a runner who sought another one opened it.
  package var isMatched: Bool { if case .matched = kind { true } else { false } }
}

extension RoomTerms {
  /// How many places a room may have. Standings are a message of each member to each other one.
  package static let placesBounds = 2...32
  /// How many places a room has if nothing is said.
  package static let defaultPlaces = 4
  /// How long a countdown may be.
  package static let countdownBounds = BusDuration.seconds(3)...BusDuration.seconds(60)
  /// How long a countdown is if nothing is said.
  package static let defaultCountdown = BusDuration.seconds(5)
  /// How long a run may be.
  package static let goalBounds = BusDuration.seconds(1)...BusDuration.seconds(24 * 3600)
  /// How long a search may last.
  package static let leftBounds = BusDuration.seconds(10)...BusDuration.seconds(3600)
  /// How long a search lasts if nothing is said.
  package static let defaultLeft = BusDuration.seconds(120)
}

/// Whom a runner seeks, besides the goal.
package struct Seek: Hashable, Sendable {
  /// How long the run is to be.
  package var goal: BusDuration
  /// The gender that the other one is to have; `nil` for any.
  package var wish: RoomCard.Gender?
  /// A search from its parts.
  package init(goal: BusDuration, wish: RoomCard.Gender? = nil) { (self.goal, self.wish) = (goal, wish) }
}

/// Where a run starts, to about 100 m.
package struct RoomStart: Hashable, Sendable {
  /// What the place is called; at most 64 bytes.
  package var label: String
  /// Thousandths of a degree north, −90,000 to 90,000.
  package var latitude: Int
  /// Thousandths of a degree east, −180,000 to 180,000.
  package var longitude: Int
  /// A place from its parts.
  package init(label: String, latitude: Int, longitude: Int) {
    self.label = label
    self.latitude = latitude
    self.longitude = longitude
  }
}
