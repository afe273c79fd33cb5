import ArgumentParser
import RunBus

struct Room: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "room",
    abstract: "Run together with the other runners of this machine: rooms.",
    discussion: """
      A room agrees on who runs, when and for how long, and on what came out. Every phone stays the authority of its own \
      run. A phone takes part with --together:

        busnode phone --bus a --together club --nick Anna --synthetic
        busnode phone --bus b --together club --nick Ben --synthetic

        busnode room open --bus a --goal 30m
        busnode room ls
        busnode room enter 1f0a2b3c --bus b
        busnode room ready --bus a; busnode room ready --bus b
        busnode room begin --bus a
        busnode room show --bus b --follow

      All members start at one moment, by a press with the source room, and stop when the goal is over.

      EXIT STATUS:
        0   done
        3   rejected: the sentence says why
        5   queued: the phone has stored it and goes on trying
        6   no answer in time, or the log is out of reach: nothing was stored
        69  no phone of this bus runs here
      """,
    subcommands: [
      RoomOpen.self, RoomList.self, RoomEnter.self, RoomReady.self, RoomBegin.self, RoomProceed.self, RoomHold.self,
      RoomLeave.self, RoomRemove.self, RoomCancel.self, RoomShow.self, RoomStandings.self, RoomResultShow.self,
      RoomLog.self,
    ])
}

/// What all asks share.
struct RoomOptions: ParsableArguments {
  @OptionGroup var bus: BusOptions

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  @Option(help: ArgumentHelp("How long to wait for the verdict (default: 5).", valueName: "time"))
  var timeout: TimeArgument?

  @Option(
    help: ArgumentHelp("The device of this machine that asks (default: the phone).", valueName: "device"),
    completion: Completions.devices)
  var device: DeviceID?

  /// The phone, with its log on standard error: the first thing of a command.
  func hub() async throws -> LocalHub {
    bus.startLog()
    return try await findHub()
  }

  private func findHub() async throws -> LocalHub { try await LocalHub.find(at: try bus.hubLocation()) }

  /// How fast bus time runs on the phone, which says so to who joins its bus.
  ///
  /// - Parameter hub: The phone, if the command has found it already.
  func speedOfPhone(_ hub: LocalHub?) async throws -> BusSpeed {
    let location = if let hub { hub.location } else { try bus.location() }
    let visit = try BusClient(location, topics: [])
    let patience = patience
    return try await visit.run { peer in
      let reachabilities = await peer.reachabilities()
      let isThere = try await within(Duration(patience)) { await reachabilities.first { $0.isReachable } != nil }
      guard isThere == true else { throw Failure.noAnswer(location, within: patience) }
      return await peer.speed
    }
  }

  /// How long to wait for the verdict.
  var patience: BusDuration { timeout?.span ?? .seconds(5) }

  /// Asks, waits for the verdict and says it. Asking again with the same id does nothing twice.
  ///
  /// - Parameter hub: The phone, if the command has found it already.
  func ask(_ name: String, _ wish: RoomAsk.Wish, of hub: LocalHub? = nil) async throws {
    if hub == nil { bus.startLog() }
    guard let device else {
      let found = if let hub { hub } else { try await findHub() }
      return try await ask(name, wish) { try await found.askRunning(.room($0), within: patience) }
    }
    let location = try bus.location()
    let devices = LocalDevices(location: location)
    try await ask(name, wish) { ask in
      if let answer = try await devices.askRunning(.room(ask), of: device) { return answer }
      guard try await devices.askRunning(.outbox, of: device) == nil else { return nil }
      throw Failure(
        code: "unreachable", message: Tongue.say(.deviceNotRunning, ["device": device, "bus": location.displayName]),
        exitStatus: ExitStatus.noBus)
    }
  }

  /// - Parameter put: Asks, and returns the answer; `nil` when a device has none of the phone yet.
  private func ask(
    _ name: String, _ wish: RoomAsk.Wish, put: (RoomAsk) async throws -> RoomAnswer?
  ) async throws {
    let ask = RoomAsk(id: .random(), wish: wish)
    let deadline = ContinuousClock.now + .nanoseconds(patience.nanoseconds)
    while true {
      switch try await put(ask) {
      case nil:
        guard ContinuousClock.now < deadline else {
          let message = Tongue.say(.askPassedOn)
          return try say(RoomAskJSON(ask: name, room: nil, outcome: "queued", message: message), 5)
        }
      case .pending(let room):
        guard ContinuousClock.now < deadline else {
          let message =
            await trouble(in: room).map { Tongue.say(.askStoredTrouble, ["reason": $0]) }
            ?? Tongue.say(.askStored)
          return try say(RoomAskJSON(ask: name, room: room.description, outcome: "queued", message: message), 5)
        }
        try await Task.sleep(for: .milliseconds(20))
      case .judged(let room, let verdict):
        let names = await names(in: room)
        var isRejected = false
        if case .rejected = verdict { isRejected = true }
        let sentence = RoomText.sentence(verdict, names: names)
        let message =
          isRejected ? sentence : Tongue.say(.askInRoom, ["sentence": sentence, "room": RoomText.short(room)])
        return try say(
          RoomAskJSON(
            ask: name, room: room.description, outcome: isRejected ? "rejected" : "done", message: message),
          isRejected ? ExitStatus.rejected : ExitStatus.success)
      case .refused(.outOfReach):
        let trouble = await trouble(in: nil).map { ": \($0)" } ?? ""
        let message = Tongue.say(.askNothingStored, ["sentence": RoomText.sentence(.outOfReach), "trouble": trouble])
        return try say(RoomAskJSON(ask: name, room: nil, outcome: "outOfReach", message: message), ExitStatus.noVerdict)
      case .refused(let denial):
        return try say(
          RoomAskJSON(ask: name, room: nil, outcome: "rejected", message: RoomText.sentence(denial)),
          ExitStatus.rejected)
      case .seeking, .matched, .unmatched:
        throw Failure(
          code: "failure", message: Tongue.say(.askUnexpected),
          exitStatus: ExitStatus.failure)
      }
    }
  }

  private func names(in room: RoomID) async -> [MemberID: String] {
    guard let reports = try? await findHub().ask(.rooms) else { return [:] }
    return reports.first { $0.room == room }.map { RoomText.names($0.state) } ?? [:]
  }

  /// Why the log of a room is out of reach, or that of any room; `nil` when the phone does not know.
  private func trouble(in room: RoomID?) async -> String? {
    let reports = try? await findHub().ask(.rooms)
    return reports?.first { $0.trouble != nil && (room == nil || $0.room == room) }?.trouble
  }

  /// Says what became of an ask, and ends with that status.
  func say(_ line: RoomAskJSON, _ status: Int32) throws {
    if json { try Output.jsonLine(line) } else { try Output.line(line.message) }
    if status != ExitStatus.success { throw QuietExit(exitStatus: status) }
  }
}

struct RoomOpen: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open", abstract: "Open a room and be its owner.",
    discussion: """
        busnode room open --goal 30m
        busnode room open --goal 45m --start 37.566,126.978 --label "City Hall"

      With --start others enter within 1,000 m of it, and the room gathers before its countdown: all have to be within \
      100 m.
      """)

  @OptionGroup var options: RoomOptions

  @Option(
    help: ArgumentHelp("How long the run is: 30m, 1h30m, 45:00.", valueName: "time"),
    transform: RunGoal.init(option:))
  var goal: RunGoal

  @Option(help: ArgumentHelp("How many places there are: 2 to 32.", valueName: "n"))
  var max = RoomTerms.defaultPlaces

  @Option(
    // South and west begin with a dash.
    parsing: .unconditional, help: ArgumentHelp("Where the run starts, in degrees.", valueName: "lat,lon"))
  var start: PlaceArgument?

  @Option(help: ArgumentHelp("What the start is called.", valueName: "text"))
  var label: String?

  @Option(help: ArgumentHelp("The circle whose runners may enter.", valueName: "name"))
  var circle: String?

  @Option(help: ArgumentHelp("How long the countdown is: 3 to 60 s (default: 5).", valueName: "time"))
  var countdown: TimeArgument?

  @Option(
    help: ArgumentHelp(
      "How fast bus time runs on all phones of the room (default: as on this one).", valueName: "factor"))
  var speed: SpeedArgument?

  func validate() throws {
    guard RoomTerms.placesBounds.contains(max) else { throw ValidationError(Tongue.say(.maxPlaces)) }
    if let countdown, !RoomTerms.countdownBounds.contains(countdown.span) {
      throw ValidationError(Tongue.say(.countdownBounds))
    }
    guard RoomTerms.goalBounds.contains(goal.time) else { throw ValidationError(Tongue.say(.goalBounds)) }
    for text in [label, circle].compactMap({ $0 }) where text.isEmpty || text.utf8.count > 64 {
      throw ValidationError(Tongue.say(.labelBounds))
    }
    if label != nil, start == nil { throw ValidationError(Tongue.say(.labelNamesStart)) }
  }

  func run() async throws {
    let place = start.map { start in
      RoomStart(
        label: label ?? "\(start.latitude),\(start.longitude)", latitude: Int((start.latitude * 1000).rounded()),
        longitude: Int((start.longitude * 1000).rounded()))
    }
    let hub = options.device == nil ? try await options.hub() : nil
    let speed = if let speed { speed.speed } else { try await options.speedOfPhone(hub) }
    let terms = RoomTerms(
      goal: goal.time, speed: speed, places: max, countdown: countdown?.span ?? RoomTerms.defaultCountdown,
      start: place, circle: circle)
    try await options.ask("open", .open(terms), of: hub)
  }
}

/// A place as an argument: degrees north and east.
struct PlaceArgument: ExpressibleByArgument {
  let latitude: Double
  let longitude: Double

  init?(argument: String) {
    let parts = argument.split(separator: ",").map { Double($0) }
    guard parts.count == 2, let latitude = parts[0], let longitude = parts[1], (-90...90).contains(latitude),
      (-180...180).contains(longitude)
    else { return nil }
    (self.latitude, self.longitude) = (latitude, longitude)
  }
}

struct RoomEnter: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "enter", abstract: "Take a place in a room.")

  @Argument(help: ArgumentHelp("The room: its id, or at least 4 of its first digits.", valueName: "room"))
  var room: String

  @OptionGroup var options: RoomOptions
  @OptionGroup var fleet: FleetOptions

  func run() async throws {
    let hub = options.device == nil ? try await options.hub() : nil
    let found = try await fleet.room(room, listedBy: "busnode room ls") { room, _, _ throws(SharedLogError) in room }
    try await options.ask("enter", .enter(found), of: hub)
  }
}

struct RoomReady: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ready", abstract: "Be ready, or with --off not any more.")
  @OptionGroup var options: RoomOptions
  @Flag(help: "Not ready any more.")
  var off = false
  func run() async throws { try await options.ask("ready", .ready(!off)) }
}

struct RoomBegin: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "begin", abstract: "Begin, as the owner, when all are ready: gather at the start, or count down.")
  @OptionGroup var options: RoomOptions
  func run() async throws { try await options.ask("begin", .begin) }
}

struct RoomProceed: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "proceed", abstract: "Count down, as the owner, when all are at the start.")
  @OptionGroup var options: RoomOptions
  func run() async throws { try await options.ask("proceed", .proceed) }
}

struct RoomHold: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hold", abstract: "Stop the countdown; any member may, until a second before the start.")
  @OptionGroup var options: RoomOptions
  func run() async throws { try await options.ask("hold", .hold) }
}

struct RoomLeave: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "leave", abstract: "Give up the place.")
  @OptionGroup var options: RoomOptions
  func run() async throws { try await options.ask("leave", .leave) }
}

struct RoomCancel: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "End the room, as the owner, before its run.")
  @OptionGroup var options: RoomOptions
  func run() async throws { try await options.ask("cancel", .cancel) }
}

struct RoomRemove: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a member for good, as the owner.")
  @Argument(help: ArgumentHelp("The member's nickname, in small or capital letters.", valueName: "nick"))
  var nick: String
  @OptionGroup var options: RoomOptions

  func run() async throws {
    let hub = try await options.hub()
    let report = try await hub.ask(.rooms).first
    let members = report?.state.members ?? []
    // A fleet has a name once, however it is written.
    let found = members.filter { $0.card.nickname.isWritten(like: nick) }
    guard let member = found.first, found.count == 1 else {
      let names = members.map(\.card.nickname.text).joined(separator: ", ")
      throw Failure(
        code: "notIn",
        message: found.isEmpty
          ? names.isEmpty
            ? Tongue.say(.nobodyCalled, ["name": nick]) : Tongue.say(.nobodyCalledOf, ["name": nick, "names": names])
          : Tongue.say(.severalCalled, ["name": nick]),
        exitStatus: ExitStatus.rejected)
    }
    guard member.id != report?.me else {
      return try options.say(
        RoomAskJSON(
          ask: "remove", room: report?.room.description, outcome: "rejected",
          message: Tongue.say(.thatIsYou)), ExitStatus.rejected)
    }
    try await options.ask("remove", .remove(member.id), of: hub)
  }
}

struct RoomShow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show the room in which the runner is, or was last.",
    discussion: """
      With --all it shows every room that the phone follows, the runner's own first: rooms stay until three days after their \
      end. With --follow it shows the room again whenever it has changed, until Ctrl-C or the room's end.
      """)

  @OptionGroup var options: RoomOptions
  @Flag(help: "Show every change.")
  var follow = false
  @Flag(help: "Show every room that the phone follows.")
  var all = false

  func validate() throws {
    if all, follow { throw ValidationError(Tongue.say(.followOneRoom)) }
  }

  func run() async throws {
    let hub = try await options.hub()
    var last: [String] = []
    while true {
      let reports = try await hub.ask(.rooms)
      guard follow else { return try show(all ? reports : Array(reports.prefix(1))) }
      let report = reports.first
      let lines = report.map { RoomText.lasting($0) + [$0.state.stage.word] } ?? []
      if lines != last, let report {
        last = lines
        try show([report])
      }
      if let report, report.state.stage.isEnd { return }
      try await Task.sleep(for: .milliseconds(100))
    }
  }

  private func show(_ reports: [RoomReport]) throws {
    if options.json { return try reports.forEach { try Output.jsonLine(RoomJSON($0)) } }
    guard !reports.isEmpty else {
      return try Output.line(Tongue.say(.followsNoRoom))
    }
    for (place, report) in reports.enumerated() {
      if place > 0 { try Output.line("") }
      for line in RoomText.lines(report) { try Output.line(line) }
    }
  }
}
