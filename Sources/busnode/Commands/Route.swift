import ArgumentParser
import RunBus

struct Route: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show where the run went, point by point, once or as it goes on.",
    discussion: """
      Every fix of the present run, or else of the last one, a line each: its place in the route, when it was taken,
      where, how high, how far the run had come, and whether it counts for the distance and if not, why.

        busnode route
        busnode route --follow              goes on with every new point, until Ctrl-C (exit status 130)
        busnode route --json | jq -r 'select(.counted) | [.longitude, .latitude] | @csv'

      --json writes runId, index, offsetSeconds, latitude, longitude, horizontalAccuracyMeters, altitudeMeters,
      distanceMeters, counted, reason (null when it counts), startsLine (no line leads to it from the point before).
      What is not known is null.

      A reading that comes late can change what became of points: with --follow they are written again, and a point
      replaces the earlier one of the same index. When points fall away (a stop that was pressed earlier than it came)
      a line says how many are left: {"runId", "length"}. Another run begins with index 0. A link that is lost and comes
      back leaves no hole.
      """)

  @OptionGroup var bus: BusOptions

  @Flag(help: "Go on with every point that is new or changes, until Ctrl-C.")
  var follow = false

  @Option(help: "What people read: metric or imperial.")
  var units = Units.metric

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  @Option(help: ArgumentHelp("How long to wait for the hub, in real time (default: 5).", valueName: "time"))
  var timeout: TimeArgument?

  func run() async throws {
    bus.startLog()
    let visit = try BusClient(
      try bus.location(), device: follow ? DeviceID.visitor() : DeviceID.role(.shell),
      topics: follow ? [.snapshots, .route] : [], isOneShot: !follow)
    let (json, units) = (json, units)
    let follower = RouteFollower(visit: visit, patience: timeout?.span ?? .seconds(5))
    let hasRun = try await follower.follow(goesOn: follow) { news in
      switch news {
      case .point(let runID, let index, let point) where json:
        try Output.jsonLine(RouteLineJSON(point, at: index, of: runID))
      case .point(_, let index, let point): try Output.line(RoutePointText.line(index, point, in: units))
      case .cut(let runID, let length) where json:
        try Output.jsonLine(RouteCutJSON(runId: runID.description, length: length))
      case .cut(_, let length): try Output.line("points fell away: the route has \(length)")
      }
    }
    if !hasRun, !json { try Output.line("no run has been started") }
  }
}
