import Foundation
import RunBus
import RunScripts

/// A line of `up --runners --json`.
struct RunnersLineJSON: Encodable {
  private enum Key: String, CodingKey { case event, at }

  let event: String
  let at = DayTime.text(unixSeconds: Date().timeIntervalSince1970)
  let body: any Encodable & Sendable

  init(event: String, body: any Encodable & Sendable) { (self.event, self.body) = (event, body) }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(event, forKey: .event)
    try container.encode(at, forKey: .at)
    try body.encode(to: encoder)
  }
}

/// The bodies of ``RunnersLineJSON``.
enum RunnersJSON {
  struct Phones: Encodable, Sendable {
    struct Phone: Encodable, Sendable {
      let nickname: String
      let bus: String
      let paceSecondsPerKilometer: Int
    }
    let fleet: String
    let goalSeconds: Double
    let speed: Double
    let phones: [Phone]
  }
  struct Asked: Encodable, Sendable {
    let nickname: String
    let ask: String
    /// `done` or `rejected`.
    let outcome: String
    let message: String
  }
  struct Gathering: Encodable, Sendable {
    struct Missing: Encodable, Sendable {
      let nickname: String
      let meters: Int
    }
    let missing: [Missing]
  }
  struct Countdown: Encodable, Sendable { let startsInSeconds: Double }
  struct Running: Encodable, Sendable {
    struct Mark: Encodable, Sendable {
      let nickname: String
      let elapsedSeconds: Double
      let distanceMeters: Double
    }
    let elapsedSeconds: Double
    let marks: [Mark]
  }
  struct Seen: Encodable, Sendable {
    private enum Key: String, CodingKey { case nickname }
    let nickname: String
    let room: RoomJSON

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(nickname, forKey: .nickname)
      try room.encode(to: encoder)
    }
  }
  struct Summary: Encodable, Sendable {
    let agreed: Bool
    let differences: [String]
    let runners: Int
    @Explicit var room: String?
    @Explicit var entries: UInt64?
    @Explicit var digest: String?
    @Explicit var startSkewSeconds: Double?

    init(_ result: RunnersResult) {
      agreed = result.differences.isEmpty
      differences = result.differences
      runners = result.views.count
      let report = result.views.first?.report
      _room = Explicit(wrappedValue: report?.room.description)
      _entries = Explicit(wrappedValue: report?.count)
      _digest = Explicit(wrappedValue: report?.digest?.description)
      _startSkewSeconds = Explicit(wrappedValue: RunnersAgreement.skew(of: result.views))
    }
  }
}

extension RunnersLineJSON {
  /// - Parameter sentence: What is said about an answer.
  init(_ news: RunnersNews, sentence: (RoomAnswer, [MemberID: String]) -> String) {
    switch news {
    case .ready(let plan):
      event = "phones"
      body = RunnersJSON.Phones(
        fleet: plan.fleet.rawValue, goalSeconds: plan.goal.time.seconds, speed: plan.speed.factor,
        phones: plan.runners.map {
          RunnersJSON.Phones.Phone(nickname: $0.nickname, bus: $0.bus.rawValue, paceSecondsPerKilometer: $0.pace)
        })
    case .asked(let nickname, let ask, let answer, let names):
      event = "asked"
      body = RunnersJSON.Asked(
        nickname: nickname, ask: ask, outcome: Self.isDone(answer) ? "done" : "rejected",
        message: sentence(answer, names))
    case .roster(let report):
      event = "roster"
      body = RoomJSON(report)
    case .gathering(let missing):
      event = "gathering"
      body = RunnersJSON.Gathering(
        missing: missing.map { RunnersJSON.Gathering.Missing(nickname: $0.nickname, meters: $0.metres) })
    case .countdown(let span):
      event = "countdown"
      body = RunnersJSON.Countdown(startsInSeconds: span.seconds)
    case .running(let elapsed, let report):
      event = "running"
      let marks = report.state.members.compactMap { member in
        member.mark.map {
          RunnersJSON.Running.Mark(
            nickname: member.card.nickname.text, elapsedSeconds: $0.elapsed.seconds,
            distanceMeters: Double($0.decimetres) / 10)
        }
      }
      body = RunnersJSON.Running(elapsedSeconds: elapsed.seconds, marks: marks)
    case .result(let nickname, let report):
      event = "result"
      body = RunnersJSON.Seen(nickname: nickname, room: RoomJSON(report))
    }
  }

  private static func isDone(_ answer: RoomAnswer) -> Bool {
    guard case .judged(_, let verdict) = answer else { return false }
    if case .rejected = verdict { return false }
    return true
  }
}
