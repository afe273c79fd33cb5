import ArgumentParser
import RunBus

struct Route: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "route",
    abstract: "Show the route of the run point by point, once or continuously.",
    discussion: """
      Each line shows a fix of the present or else the last run: its index in the route, its time, position and \
      altitude, the distance of the run so far, and whether the fix counts for the distance and if not, why.

        busnode route
        busnode route --follow  shows every new point, until Ctrl-C (exit status
                                130)
        busnode route --json | jq -c 'select(.counted) | [.longitude, .latitude]'

      --json writes runId, index, offsetSeconds, latitude, longitude, horizontalAccuracyMeters, altitudeMeters, \
      distanceMeters, counted, reason (null when it counts), startsLine (no line leads to it from the point before). \
      Values that are not known are null.

      Late readings can change points. With --follow changed points are written again: a point replaces the earlier one \
      with the same index. When points are removed (by a stop that arrives after its time) a line says how many are \
      left: {"runId", "length"}. Another run begins with index 0. After a lost link the missing points are fetched.
      """)

  @OptionGroup var bus: BusOptions

  @Flag(help: "Show every point that is new or changes, until Ctrl-C.")
  var follow = false

  @Option(help: "Units of the text output: metric or imperial (default: metric, on a terminal those of the locale).")
  var units: Units?

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  @Option(help: ArgumentHelp("How long to wait for the hub, in real time (default: 5).", valueName: "time"))
  var timeout: TimeArgument?

  func run() async throws {
    bus.startLog()
    let location = try bus.location()
    let patience = timeout?.span ?? .seconds(5)
    let (json, units) = (json, try Settings.units(units))
    let write: @Sendable (RouteFollower.News) throws -> Void = { news in
      switch news {
      case .point(let runID, let index, let point) where json:
        try Output.jsonLine(RouteLineJSON(runId: runID, index: index, point: point))
      case .point(_, let index, let point): try Output.line(RoutePointText.line(index, point, in: units))
      case .cut(let runID, let length) where json:
        try Output.jsonLine(RouteCutJSON(runId: runID, length: length))
      case .cut(_, let length): try Output.line(Tongue.say(.pointsRemoved, ["count": length]))
      }
    }
    guard !follow else {
      let visit = try BusClient(location, topics: [.snapshots, .route])
      return try await RouteFollower(visit: visit, patience: patience).follow(write)
    }
    guard let (runID, points) = try await location.readRoute(within: patience) else {
      return json ? () : try Output.line(Tongue.say(.noRunStarted))
    }
    for (index, point) in points.enumerated() { try write(.point(runID, index, point)) }
  }
}
