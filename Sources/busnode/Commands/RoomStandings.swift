import ArgumentParser
import RunBus

struct RoomStandings: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "standings", abstract: "Show the room as its runner's devices are shown it, in a line.",
    discussion: """
      Who is in, what the room waits for, the countdown, who is ahead in the run and by how much, the result.

        busnode room standings
        busnode room standings --follow    a line each time that it changes, and
                                           every 3 s in the run, until Ctrl-C

      --json writes one object a line, the event `room` of busnode monitor.
      """)

  @OptionGroup var bus: BusOptions

  @Flag(help: "Show every change, until Ctrl-C.")
  var follow = false

  @Option(help: "Units of the text output: metric or imperial (default: metric, on a terminal those of the locale).")
  var units: Units?

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  @Option(help: ArgumentHelp("How long to wait for the phone, in real time (default: 5).", valueName: "time"))
  var timeout: TimeArgument?

  func run() async throws {
    bus.startLog()
    let patience = timeout?.span ?? .seconds(5)
    let visit = try BusClient(try bus.location(), topics: [.rooms])
    let (json, units) = (json, try Settings.units(units))
    let follower = Follower(visit: visit, patience: patience)
    let show: @Sendable (BusEvent) throws -> Bool = { event in
      guard case .room(let view) = event else { return false }
      if json { try Output.jsonLine(view) } else { try Output.line(RoomViewText.line(view, in: units)) }
      return true
    }
    guard !follow else { return try await follower.follow(countMax: nil, show) }
    // A phone that is in no room says nothing, and one that is out of reach is told first.
    let shown: Void? = try await within(Duration(patience) + .milliseconds(500)) {
      try await follower.follow(countMax: 1, show)
    }
    if shown == nil, !json { try Output.line(Tongue.say(.runnerInNoRoom)) }
  }
}
