import Foundation
package import RunBus

/// What ``UpRunners`` plays, and how.
package struct RunnersPlan: Sendable {
  /// One runner, with a phone and a bus.
  package struct Runner: Hashable, Sendable {
    package let nickname: String
    package let bus: BusName
    package let seed: UInt64
    /// Seconds for a kilometre.
    package let pace: Int
    /// Where the runner sets out from, metres from the room's start, and in which direction, degrees from north.
    package let metres: Double
    package let bearing: Double
  }

  /// How many runners there may be: as many as a room has places.
  package static let runnersBounds = RoomTerms.placesBounds
  /// Where modelled runs begin.
  package static let start = RoomStart(label: "Start", latitude: 52_500, longitude: 13_400)
  /// How far the runners are from the start at first, metres.
  package static let metresBounds = 130.0...400.0
  /// A step of the way to the start, metres, and how long it takes, real time.
  static let (stepMetres, stepTime) = (20.0, Duration.milliseconds(250))
  private static let names = [
    "Anna", "Ben", "Cleo", "Dan", "Emma", "Finn", "Gina", "Hugo", "Ida", "Jan", "Kira", "Leo", "Mia", "Nils", "Olga",
    "Paul", "Quinn", "Rosa", "Sam", "Tina", "Udo", "Vera", "Willi", "Xenia", "Yuri", "Zoe", "Arne", "Bea", "Carl",
    "Dora", "Emil", "Fee",
  ]

  package var executable: String
  /// Changes of the environment of all phones.
  package var environment: [String: String?]
  package var fleet: BusName
  package var runners: [Runner]
  package var goal: RunGoal
  package var speed: BusSpeed
  /// Whether the room has a start, to which the runners walk.
  package var gathers: Bool
  /// Further arguments of all phones.
  package var arguments: [String]
  /// How wrong the clocks of the phones are, in a test.
  package var clockErrors: [BusName: ClockError] = [:]

  /// A plan for a number of runners in ``runnersBounds``.
  ///
  /// - Parameter name: The name of the fleet; the buses have it with `-1`, `-2` … behind it.
  package init(
    executable: String, environment: [String: String?], name: String, count: Int, goal: RunGoal, speed: BusSpeed,
    gathers: Bool, arguments: [String]
  ) {
    guard let fleet = BusName(name) else { preconditionFailure("\(name) is no bus name") }
    self.executable = executable
    self.environment = environment
    self.fleet = fleet
    self.goal = goal
    self.speed = speed
    self.gathers = gathers
    self.arguments = arguments
    let span = Self.metresBounds.upperBound - Self.metresBounds.lowerBound
    runners = (0..<count).map { number in
      guard let bus = BusName("\(name)-\(number + 1)") else { preconditionFailure("\(name) is too long") }
      return Runner(
        nickname: Self.names[number % Self.names.count], bus: bus, seed: UInt64(number + 1),
        // 37 and 160 have no common divisor: all paces differ, and the first runner is not the fastest one.
        pace: 290 + (60 + 37 * number) % 160,
        metres: Self.metresBounds.lowerBound + span * Double(number) / Double(max(1, count - 1)),
        bearing: 360 * Double(number) / Double(count))
    }
  }

  /// The arguments of a runner's phone.
  func arguments(of runner: Runner) -> [String] {
    // The recording is longer than the run, so that nobody stands still before its end.
    let length = min(goal.time + .seconds(60), .seconds(24 * 3600))
    return [
      "phone", "--bus", runner.bus.rawValue, "--together", fleet.rawValue, "--nick", runner.nickname, "--synthetic",
      "--seed", "\(runner.seed)", "--pace", "\(runner.pace)", "--duration", DurationText.exactSeconds(length),
      "--speed", "\(speed.factor)", "--json", "--stdin",
    ] + arguments + (clockErrors[runner.bus].map { ["--clock-error", $0.text] } ?? [])
  }

  /// What the room is for.
  var terms: RoomTerms {
    RoomTerms(
      goal: goal.time, speed: speed, places: max(RoomTerms.placesBounds.lowerBound, runners.count),
      start: gathers ? Self.start : nil)
  }

  /// How long everything may take: the run, the minute after which records are stated, and a minute for the rest, more
  /// for many phones, which take turns on the machine's cores.
  var patience: Duration {
    .nanoseconds(speed.real(fromBus: goal.time + .seconds(60)).nanoseconds)
      + .seconds(60 + 2 * max(0, runners.count - 4))
  }

  /// How far a runner is from the start after some steps, metres.
  func metres(of runner: Runner, after steps: Int) -> Double {
    max(10, runner.metres - Self.stepMetres * Double(steps))
  }

  /// Where a runner is after some steps, as an order to the phone.
  func place(of runner: Runner, after steps: Int) -> NodeOrder {
    let metres = metres(of: runner, after: steps)
    let (latitude, longitude) = (Double(Self.start.latitude) / 1000, Double(Self.start.longitude) / 1000)
    // Close enough for some hundred metres: a degree of the meridian has 111.2 km.
    let degrees = metres / 111_200
    let bearing = runner.bearing * .pi / 180
    return .place(
      latitude: latitude + degrees * cos(bearing),
      longitude: longitude + degrees * sin(bearing) / cos(latitude * .pi / 180))
  }
}

/// What happens while ``UpRunners`` plays, for a face.
package enum RunnersNews: Sendable {
  /// All phones answer.
  case ready(RunnersPlan)
  /// A phone was asked something, and this is its answer.
  case asked(nickname: String, ask: String, RoomAnswer, names: [MemberID: String])
  /// Who is in the room, as the owner's phone sees it.
  case roster(RoomReport)
  /// Who is not at the start yet, and how far from it.
  case gathering(missing: [(nickname: String, metres: Int)])
  /// Real time until the start.
  case countdown(BusDuration)
  /// Bus time since the start, and the marks of the members so far.
  case running(BusDuration, RoomReport)
  /// The room as a phone sees it at the end.
  case result(nickname: String, RoomReport)
}

/// Shows what happens while ``UpRunners`` plays.
package protocol RunnersFace: Sendable {
  func show(_ news: RunnersNews)
}

/// How ``UpRunners`` has ended.
package struct RunnersResult: Sendable {
  /// Why it did not come to its end.
  package enum Failure: Error, Hashable, Sendable {
    case died(String, NodeEnding, lastErrors: [String])
    /// This has not come within the time.
    case late(String)
    /// A phone has not done what it was asked.
    case refused(String, ask: String, RoomAnswer)
    /// A phone could not be asked.
    case unasked(String, String)
  }
  package var views: [RunnerView]
  package var differences: [String]
  package var failure: Failure?
  package var isInterrupted: Bool
}
