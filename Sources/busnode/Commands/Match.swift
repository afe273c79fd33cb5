import ArgumentParser
import RunBus

struct Match: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "match",
    abstract: "Find another runner for a run of the same length.",
    discussion: """
      The phone seeks among all who seek in its fleet now: the same goal, the same level (after half of the time one \
      more or less), and the gender that each wishes. Level and gender are those of the phone (--level, --gender).

        busnode match --goal 30m --wait && busnode room show --follow

      Without --wait the command ends while the phone seeks: room show, and the terminal of the phone, say how the search \
      ends.

      Once somebody is found the phone is ready by itself: five seconds after both are, the run starts. With --no-ready \
      that is left to room ready, within 30 s. When the other one goes before the start, the search goes on for the rest \
      of its time.

      EXIT STATUS:
        0    the search is on; with --wait somebody is found, with --stop it is over
        3    rejected, or nobody is found: the sentence says why
        5    the log of the rooms does not answer: the phone goes on trying
        6    the phone gave no answer in time
        69   no phone of this bus runs here
        130  interrupted: with --wait that ends the search
      """)

  enum Wish: String, ExpressibleByArgument, CaseIterable { case any, female, male, other }

  @Option(
    help: ArgumentHelp("How long the run is: 30m, 1h30m, 45:00.", valueName: "time"),
    transform: RunGoal.init(option:))
  var goal: RunGoal?

  @Option(help: ArgumentHelp("The gender that the other one is to have.", valueName: "gender"))
  var gender = Wish.any

  @Option(help: ArgumentHelp("How long to seek: 10 s to 1 h (default: 2m).", valueName: "time"))
  var left: TimeArgument?

  @Flag(help: "Wait until somebody is found, or the search is over.")
  var wait = false

  @Flag(help: "Do not get ready when somebody is found.")
  var noReady = false

  @Flag(help: "End the search that is on.")
  var stop = false

  @OptionGroup var options: RoomOptions

  func validate() throws {
    guard !stop else {
      guard goal == nil, gender == .any, left == nil, !wait, !noReady else {
        throw ValidationError(Tongue.say(.stopAlone))
      }
      return
    }
    guard let goal else { throw ValidationError(Tongue.say(.goalNeeded)) }
    guard RoomTerms.goalBounds.contains(goal.time) else { throw ValidationError(Tongue.say(.goalBounds)) }
    if let left, !RoomTerms.leftBounds.contains(left.span) { throw ValidationError(Tongue.say(.leftBounds)) }
  }

  /// How long the search lasts.
  private var span: BusDuration { left?.span ?? RoomTerms.defaultLeft }
  private var spanText: String {
    let seconds = Int(span.seconds)
    return seconds % 60 == 0
      ? Tongue.say(.spanMinutes, ["count": seconds / 60]) : Tongue.say(.spanSeconds, ["count": seconds])
  }

  func run() async throws {
    let hub = try await options.hub()
    guard let goal else { return try await end(of: hub) }
    let search = RoomSearch(
      seek: Seek(goal: goal.time, wish: RoomCard.Gender(rawValue: gender.rawValue)), left: span, getsReady: !noReady)
    let ask = RoomAsk(id: .random(), wish: .match(search))
    guard wait else { return try await say(try await hub.ask(.room(ask)), of: hub) }
    let signals = Signals.stream()
    let answer = try await withThrowingTaskGroup(of: RoomAnswer?.self) { group in
      group.addTask { [span] in try await Self.outcome(of: ask, hub, within: span + Self.grace) }
      group.addTask {
        for await _ in signals { break }
        return nil
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
    if let answer { return try await say(answer, of: hub) }
    let stop = RoomAsk(id: .random(), wish: .unmatch)
    try await say(try await Self.outcome(of: stop, hub, within: options.patience), of: hub, isInterrupted: true)
  }

  /// After how long the answer of a search that is over is missed: its end has to be in the log.
  private static let grace = BusDuration.seconds(15)

  /// Asks until the search is over or has found somebody.
  private static func outcome(
    of ask: RoomAsk, _ hub: LocalHub, within patience: BusDuration
  ) async throws -> RoomAnswer {
    let deadline = ContinuousClock.now + .nanoseconds(patience.nanoseconds)
    while true {
      let answer = try await hub.ask(.room(ask))
      guard case .seeking = answer, ContinuousClock.now < deadline else { return answer }
      try await Task.sleep(for: .milliseconds(100))
    }
  }

  private func end(of hub: LocalHub) async throws {
    let answer = try await Self.outcome(
      of: RoomAsk(id: .random(), wish: .unmatch), hub, within: options.patience)
    try await say(answer, of: hub)
  }

  private func say(_ answer: RoomAnswer, of hub: LocalHub, isInterrupted: Bool = false) async throws {
    let isEnding = stop || isInterrupted
    var room: RoomID?
    let line: (outcome: String, message: String, status: Int32)
    switch answer {
    case .seeking where isEnding:
      line = ("queued", Tongue.say(.searchEndsLater), ExitStatus.queued)
    case .seeking where wait:
      line = ("queued", Tongue.say(.searchGoesOn), ExitStatus.queued)
    case .seeking:
      let message = Tongue.say(.searchingFor, ["time": spanText])
      line = ("done", message, ExitStatus.success)
    case .matched(let found), .pending(let found), .judged(let found, _):
      room = found
      let other = try? await hub.ask(.rooms).first { $0.room == found }
      let names = other.map { report in
        report.state.members.filter { $0.id != report.me }.map(\.card.nickname.text).joined(separator: ", ")
      }
      let message = Tongue.say(
        .matchedWith, ["names": names ?? Tongue.say(.anotherRunner), "room": RoomText.short(found)])
      line =
        isEnding
        ? ("rejected", Tongue.say(.tooLateToEnd, ["message": message]), ExitStatus.rejected)
        : ("done", message, ExitStatus.success)
    case .unmatched(.stopped): line = ("done", RoomText.sentence(.stopped), ExitStatus.success)
    case .unmatched(.nobodyFound):
      line = ("rejected", Tongue.say(.nobodyWithin, ["time": spanText]), ExitStatus.rejected)
    case .unmatched(let end): line = ("rejected", RoomText.sentence(end), ExitStatus.rejected)
    case .refused(let denial): line = ("rejected", RoomText.sentence(denial), ExitStatus.rejected)
    }
    try options.say(
      RoomAskJSON(
        ask: stop ? "unmatch" : "match", room: room?.description, outcome: line.outcome, message: line.message),
      isInterrupted ? ExitStatus.interrupted : line.status)
  }
}
