import ArgumentParser
import RunBus

struct RoomResultShow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "result", abstract: "Show what came out of a room's run.",
    discussion: """
        busnode room result          the phone's last run in a room
        busnode room result 1f0a2b3c
        busnode room result --wait --timeout 2m

      Without ROOM the phone is asked; a room that is named is read from the log of its fleet, without a phone. A result is \
      provisional until all records are in, complete then, and final a day after the end of the run. With --wait the \
      command ends when it is complete or final.

      EXIT STATUS:
        0   the result is shown
        1   there is none, or the room was cancelled
        3   there is no such room
        6   --timeout: it is not complete yet; what there is is shown
        69  no phone of this bus runs here
      """)

  @Argument(help: ArgumentHelp("The room: its id, or at least 4 of its first digits.", valueName: "room"))
  var room: String?

  @OptionGroup var bus: BusOptions
  @OptionGroup var fleet: FleetOptions

  @Flag(help: "Wait until all records are in.")
  var wait = false

  @Option(help: ArgumentHelp("How long to wait (default: as long as it takes).", valueName: "time"))
  var timeout: TimeArgument?

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  func validate() throws {
    guard timeout == nil || wait else { throw ValidationError(Tongue.say(.timeoutWithWait)) }
  }

  func run() async throws {
    bus.startLog()
    let deadline = timeout.map { ContinuousClock.now + .nanoseconds($0.span.nanoseconds) }
    guard let room else {
      let hub = try await LocalHub.find(at: try bus.hubLocation())
      var chosen: RoomID?
      let report = try await settled(by: deadline) { () async throws -> RoomReport? in
        let reports = try await hub.ask(.rooms)
        let report = chosen.map { id in reports.first { $0.room == id } } ?? newest(of: reports)
        chosen = report?.room
        return report
      }
      return try show(report, me: report?.me)
    }
    let location = try bus.hubLocation()
    let key: MemberKey?
    do throws(RunBusError) {
      key = try MemberKey.present(location.keyName, in: KeyFiles())
    } catch {
      throw Failure(error)
    }
    // The log stays open while it is waited for.
    let report = try await fleet.room(room) { id, log, fleet throws(SharedLogError) in
      try await settled(by: deadline) { () async throws(SharedLogError) -> RoomReport? in
        try await RoomFolds.fold(id, of: log, fleet: fleet)
      }
    }
    try show(report, me: key?.id)
  }

  /// The room whose run started last; with `--wait` the one whose run is to come.
  private func newest(of reports: [RoomReport]) -> RoomReport? {
    if wait, let first = reports.first, !first.state.stage.isEnd, RoomResult(first.state) == nil { return first }
    return reports.filter { RoomResult($0.state) != nil }.max {
      ($0.state.stage.startsAt ?? .zero) < ($1.state.stage.startsAt ?? .zero)
    }
  }

  /// Looks, with `--wait` until there is nothing more to come or the time is over.
  private func settled<Trouble: Error>(
    by deadline: ContinuousClock.Instant?, _ look: () async throws(Trouble) -> RoomReport?
  ) async throws(Trouble) -> RoomReport? {
    while true {
      let report = try await look()
      guard wait, let report, !report.state.stage.isEnd,
        RoomResult(report.state)?.standing ?? .provisional == .provisional
      else { return report }
      if let deadline, ContinuousClock.now >= deadline { return report }
      try? await Task.sleep(for: .milliseconds(200))
    }
  }

  /// - Parameter me: The bus's own runner, if it has ever taken part.
  private func show(_ report: RoomReport?, me: MemberID?) throws {
    guard let report else {
      throw Failure(
        code: "noResult",
        message: Tongue.say(.noRunBegun),
        exitStatus: ExitStatus.failure)
    }
    guard let result = RoomResult(report.state) else {
      if wait, !report.state.stage.isEnd {
        throw Failure(
          code: "noResult", message: Tongue.say(.runNotBegun, ["stage": report.state.stage.spoken]),
          exitStatus: ExitStatus.noVerdict)
      }
      var why = Tongue.say(.roomIs, ["stage": report.state.stage.spoken])
      if case .cancelled(let end) = report.state.stage {
        why = Tongue.say(.roomWasCancelled, ["reason": RoomText.reason(end)])
      }
      throw Failure(
        code: "noResult", message: Tongue.say(.roomNoResult, ["reason": why]), exitStatus: ExitStatus.failure)
    }
    if json {
      try Output.jsonLine(RoomResultJSON(report, result, me: me))
    } else {
      for line in RoomText.outcome(report, result, me: me) { try Output.line(line) }
    }
    if wait, result.standing == .provisional { throw QuietExit(exitStatus: ExitStatus.noVerdict) }
  }
}

struct RoomLog: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "Show the entries of a room's log, each with its verdict.",
    discussion: """
      Without a phone: it reads the log of the fleet. Entries that no reader counts (with another signature than their \
      author's, of another room or fleet) are not shown. Times are those of the log's clock.
      """)

  @Argument(help: ArgumentHelp("The room: its id, or at least 4 of its first digits.", valueName: "room"))
  var room: String

  @OptionGroup var fleet: FleetOptions

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  func run() async throws {
    let entries = try await fleet.room(room) { room, log, fleet throws(SharedLogError) in
      try await RoomFolds.judged(in: room, of: log, fleet: fleet)
    }
    if json {
      let names = RoomLogText.names(of: entries)
      return try entries.forEach {
        try Output.jsonLine(RoomEntryJSON($0, message: RoomLogText.sentence($0, names)))
      }
    }
    for line in RoomLogText.lines(entries) { try Output.line(line) }
  }
}
