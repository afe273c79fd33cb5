import ArgumentParser
import Foundation
import RunBus
import RunScripts

struct Monitor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "monitor",
    abstract: "Show everything that happens on the bus, one event a line.",
    discussion: """
      Shows every snapshot, command, receipt, verdict, presence change and processed message of an app, and the room in \
      which the runner is with what is to be noticed there, until Ctrl-C (exit status 130) or until the reader of its \
      output has gone (0). When the output cannot be written for another reason the exit status is 74. For the route \
      use busnode route --follow.

        busnode monitor
        busnode monitor --count 10
        busnode monitor --event verdict --event message --device watch
        busnode monitor --since 0s  nothing that was before
        busnode monitor --json | jq -r 'select(.event == "verdict") | .message'

      Each line begins with the time of day at which this monitor heard of it. A message is shown with its name and \
      size, never with its content.

      A monitor that was stopped, or whose output is not read in time, misses events. At the next snapshot a line on \
      standard error says how many snapshots were missed; with --json it is the event "missed", with snapshots.

      --json writes {"event": "snapshot" | "command" | "receipt" | "verdict" | "presence" | "message" | "room" | "cue", \
      "at": time of day, ...}: a snapshot as in busnode state --json with ageSeconds beside it, a receipt or verdict as \
      in busnode send --json with deviceId beside it, a message with messageId, name, fromDeviceId, toDeviceId, bytes \
      and text (null here; the node that receives the message shows its text). docs/json.md describes every key.
      """)

  @OptionGroup var bus: BusOptions

  @Option(help: ArgumentHelp("End after this many lines.", valueName: "number"))
  var count: NumberArgument?

  @Option(help: ArgumentHelp("Only this kind of event; give it again for more.", valueName: "event"))
  var event: [EventWord] = []

  @Option(
    help: ArgumentHelp(
      "Only what this device pressed, sent or received, and whether it is here; give it again for more.",
      valueName: "name"),
    completion: Completions.devices)
  var device: [DeviceID] = []

  @Option(
    help: ArgumentHelp(
      "Nothing older than this; the first snapshot may be from long ago.", valueName: "time"))
  var since: AgeArgument?

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  @Option(help: ArgumentHelp("How long to wait for the hub, in real time (default: 5).", valueName: "time"))
  var timeout: TimeArgument?

  func run() async throws {
    bus.startLog()
    let visit = try BusClient(try bus.location(), topics: [.snapshots, .feed, .rooms])
    let (json, units) = (json, try Settings.units(nil))
    let filter = EventFilter(words: Set(event), devices: Set(device), ageMax: since?.span)
    let missed: @Sendable (UInt64) throws -> Void = { count in
      guard json else { return MissedSnapshots.complain(count) }
      try Output.jsonLine(MissedLineJSON(snapshots: count))
    }
    try await Follower(visit: visit, patience: timeout?.span ?? .seconds(5)).follow(
      countMax: count?.number, missed: missed
    ) {
      event in
      guard filter.takes(event), let event = EventJSON(event) else { return false }
      if json {
        try Output.jsonLine(EventLineJSON(event))
      } else {
        try Output.line("\(Sentence.timeOfDay(Date())) \(Sentence.event(event, in: units))")
      }
      return true
    }
  }
}
