import ArgumentParser
import RunBus

struct Peers: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "peers",
    abstract: "Show the devices that the hub knows.",
    discussion: """
        busnode peers
        busnode peers --json | jq -r 'select(.reachable | not) | .deviceId'

      Each line shows whether the device is in reach, when the hub last heard it, its last round trip, how much waits \
      for it at the hub, and how many of its commands the hub has stored.

      --json writes one object a device: deviceId, role, reachable, heardAgeSeconds, roundTripSeconds, waiting, \
      commandWatermark. Without a hub the exit status is 69.
      """)

  @OptionGroup var bus: BusOptions

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  @Option(help: ArgumentHelp("How long to wait for the hub, in real time (default: 5).", valueName: "time"))
  var timeout: TimeArgument?

  func run() async throws {
    bus.startLog()
    let location = try bus.location()
    let patience = timeout?.span ?? .seconds(5)
    let reports = try await location.ask(.peers, within: patience)
    try show(reports.sorted { NaturalName($0.deviceID) < NaturalName($1.deviceID) }.map(PeerJSON.init))
  }

  private func show(_ peers: [PeerJSON]) throws {
    if json { return try peers.forEach { try Output.jsonLine($0) } }
    guard !peers.isEmpty else { return try Output.line(Tongue.say(.noDeviceYet)) }
    for line in Sentence.peers(peers) { try Output.line(line) }
  }
}
