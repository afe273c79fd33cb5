import ArgumentParser
import Foundation
import RunBus
import RunScripts

struct Top: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top",
    abstract: "Watch a run live: clock, numbers, route, devices and commands on one screen, with keys for its buttons.",
    discussion: """
        busnode top
        busnode top --source watch      press as the watch does

      The screen shows phase and clock in large digits, distance, pace and heart rate with the last minutes, the \
      route, the devices (here or gone, round trip, how many items wait for them at the hub, when they were heard), \
      recent commands with their verdict and the reason, and alarms. The large digits are active time. A value whose \
      sensor is silent shows its age. While the phone is out of reach the devices are unknown. A runner in a room sees \
      there who is in, what the room waits for, the countdown, who is ahead, and the result. Keys: s start, p pause, r resume, x stop, l lap, tab \
      another source, ? help, q quit; x has to be pressed twice within three seconds. A press while the phone is out of reach waits until it is back, as long as this \
      screen is open. Ctrl-Z goes to the shell, fg comes back.

      With little room parts are left out; 40 columns and 10 rows are needed. Without a terminal, with --plain or \
      TERM=dumb, each event is a line, as busnode monitor writes them. NO_COLOR turns colours off. Without a UTF-8 \
      locale there are plain characters only.

      Exit status: 0 after q, Ctrl-C or another signal that ends the screen; with lines 130 after Ctrl-C, as of \
      busnode monitor; 69 when there is no such bus.
      """)

  @OptionGroup var bus: BusOptions

  @Option(
    help: ArgumentHelp(
      "Who presses: phone, watch, live-activity (or widget), shell (default: shell).", valueName: "source"),
    completion: .list(ControlSource.optionWords),
    transform: ControlSource.init(option:))
  var source: ControlSource = .shell

  @Option(help: "Units: metric or imperial (default: metric, on a terminal those of the locale).")
  var units: Units?

  @Flag(help: "Write lines instead of a screen.")
  var plain = false

  func run() async throws {
    bus.startLog()
    let location = try bus.location()
    let visit = try BusClient(location, topics: [.snapshots, .feed, .rooms])
    let units = try Settings.units(units)
    guard !plain, let terminal = TerminalSession.open(try Settings.terminalEnvironment()) else {
      return try await Follower(visit: visit, patience: .seconds(5)).follow(countMax: nil) { event in
        guard let event = EventJSON(event) else { return false }
        try Output.line(Sentence.event(event, in: units))
        return true
      }
    }
    defer { terminal.end() }
    let state = ScreenState(bus: location.displayName, units: units, source: source)
    let signals = Signals.stream()
    try await visit.run { peer in await ScreenLoop(peer, terminal, state).run(signals) }
  }
}
