import FlyingFox
import Foundation
import RunBus
import Synchronization

/// Answers the requests that pass the gate.
final class Router: HTTPHandler {
  /// How long a press waits for its verdict before the page is told that it is queued.
  private static let pressPatience = Duration.seconds(3)
  private static let routePointsMax = 500
  private static let recordPointsMax = 1000
  private static let samplesMax = 600

  private let gate: Gate
  private let node: Peer
  private let keeper: ViewKeeper
  private let tiles: String?
  /// The requests that are being answered, event streams included.
  private let open = Mutex(0)

  init(gate: Gate, node: Peer, keeper: ViewKeeper, tiles: String?) {
    (self.gate, self.node, self.keeper, self.tiles) = (gate, node, keeper, tiles)
  }

  func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
    let isFree = open.withLock { open in
      open += 1
      return open <= WebServer.connectionsMax
    }
    // An event stream counts from its own opening on; its answer begins at once.
    defer { open.withLock { $0 -= 1 } }
    guard isFree else { return refusal(503, "busy", "too many requests at a time: try again") }
    switch gate.decide(Gate.Request(request)) {
    case .enter: return try await answer(request)
    case .welcome(let cookie):
      var response = self.response(303, Data(), "text/plain")
      response.headers[HTTPHeader("Set-Cookie")] = cookie
      response.headers[.location] = "/"
      return response
    case .refuse(let status, let code, let message):
      let wantsPage = request.path == "/" && request.method == .GET
      return wantsPage
        ? response(status, Data((message + "\n").utf8), "text/plain; charset=utf-8") : refusal(status, code, message)
    }
  }

  private func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
    let path = request.path
    if request.method == .POST {
      return path == "/api/press" ? try await press(request) : refusal(404, "notFound", "nothing is posted to \(path)")
    }
    switch path {
    case "/events": return await events()
    case "/api/route":
      let route = RouteThinning.thinned(await keeper.route, to: Self.routePointsMax)
      return json(RouteJSON(await keeper.series.runID, route))
    case "/api/series":
      let (series, route) = (await keeper.series, await keeper.route)
      return json(SeriesJSON(runId: series.runID, samples: series.samples(with: route, max: Self.samplesMax)))
    case "/api/report": return await report()
    case "/api/records": return json(RecordsJSON(records: try await node.records()))
    case "/api/stats":
      guard let unit = RunCalendar.Unit(rawValue: request.query["by"] ?? "week") else {
        return refusal(400, "badInput", "by is day, week, month or year")
      }
      return json(RecordStatistics(try await node.records(), by: unit, now: Date().timeIntervalSince1970))
    default:
      if let id = path.dropping(prefix: "/api/records/") { return try await record(id) }
      guard let file = PageFiles.file(path == "/" ? "index.html" : String(path.dropFirst())) else {
        return refusal(404, "notFound", "there is nothing at this address")
      }
      return response(200, Data(page(file.text).utf8), file.type)
    }
  }

  /// The page states the template of tiles; without one there is no map.
  private func page(_ text: String) -> String {
    guard let tiles else { return text }
    return text.replacingOccurrences(of: "<html ", with: "<html data-tiles=\"\(tiles)\" ")
  }

  // MARK: The run

  private func events() async -> HTTPResponse {
    guard let events = await keeper.look() else {
      return refusal(503, "viewers", "\(ViewKeeper.viewersMax) viewers are looking already")
    }
    var response = HTTPResponse(statusCode: .ok, body: HTTPBodySequence(from: EventStream(events: events)))
    response.headers = headers("text/event-stream")
    response.headers[HTTPHeader("X-Accel-Buffering")] = "no"
    return response
  }

  /// The splits of the present run. A hub that is out of reach is not waited for.
  private func report() async -> HTTPResponse {
    let report = await within(.seconds(2)) { [node] in try? await node.report() }
    return json(report.flatMap { $0 })
  }

  private func press(_ request: HTTPRequest) async throws -> HTTPResponse {
    let body = try await request.bodyData
    guard body.count <= Gate.bodyBytesMax, let press = try? JSONDecoder().decode(PressJSON.self, from: body),
      let kind = CommandKind(rawValue: press.command), ["liveActivity", "page"].contains(press.source)
    else {
      return refusal(400, "badInput", "a press is {\"command\": \"start|pause|resume|stop|lap\", \"source\": \"page\"}")
    }
    let command = Command(kind, source: ControlSource(rawValue: press.source))
    do {
      let verdict = try await within(Self.pressPatience) { [node] in try await node.send(command) }
      guard let verdict else {
        return json(QueuedJSON(commandId: command.id, command: kind), status: 202)
      }
      return json(Receipt(commandID: command.id, kind: kind, source: command.source, stage: .verdict(verdict)))
    } catch let error as RunBusError {
      return refusal(503, error.code.description, error.message)
    }
  }

  /// The result of an operation that is cancelled when it takes too long; `nil` then.
  private func within<Value: Sendable>(
    _ patience: Duration, _ operation: @escaping @Sendable () async throws -> Value
  ) async rethrows -> Value? {
    try await withThrowingTaskGroup(of: Value?.self) { group in
      group.addTask {
        do { return try await operation() } catch is CancellationError { return nil }
      }
      group.addTask {
        try? await Task.sleep(for: patience)
        return nil
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
  }

  // MARK: Records

  private func record(_ id: Substring) async throws -> HTTPResponse {
    guard let run = RunID(String(id)), var record = try await node.record(of: run) else {
      return refusal(404, "notFound", "no such run is kept here")
    }
    record.body.route = RouteThinning.thinned(record.body.route, to: Self.recordPointsMax)
    return json(record)
  }

  // MARK: Responses

  private func json(_ value: some Encodable, status: Int = 200) -> HTTPResponse {
    guard let data = try? JSONEncoder().encode(value) else { return refusal(500, "json", "this cannot be written") }
    return response(status, data, "application/json")
  }

  private func refusal(_ status: Int, _ code: String, _ message: String) -> HTTPResponse {
    json(ErrorJSON(error: ErrorJSON.Body(code: code, message: message)), status: status)
  }

  private func response(_ status: Int, _ body: Data, _ type: String) -> HTTPResponse {
    HTTPResponse(statusCode: HTTPStatusCode(status, phrase: ""), headers: headers(type), body: body)
  }

  private func headers(_ type: String) -> HTTPHeaders {
    let images = "'self' data:" + (tiles.flatMap { WebConfiguration.origin(of: $0) }.map { " \($0)" } ?? "")
    return [
      .contentType: type, .cacheControl: "no-store", .connection: "close",
      HTTPHeader("Content-Security-Policy"):
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src \(images); "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      HTTPHeader("X-Content-Type-Options"): "nosniff", HTTPHeader("Referrer-Policy"): "no-referrer",
      HTTPHeader("Cross-Origin-Opener-Policy"): "same-origin",
      HTTPHeader("Cross-Origin-Resource-Policy"): "same-origin",
    ]
  }
}

extension Gate.Request {
  fileprivate init(_ request: HTTPRequest) {
    self.init(
      method: request.method.rawValue, path: request.path, token: request.query["token"],
      host: request.headers[.host], origin: request.headers[HTTPHeader("Origin")],
      site: request.headers[HTTPHeader("Sec-Fetch-Site")], cookie: request.headers[.cookie],
      contentType: request.headers[.contentType], contentLength: request.headers[.contentLength])
  }
}

extension String {
  fileprivate func dropping(prefix: String) -> Substring? { hasPrefix(prefix) ? dropFirst(prefix.count) : nil }
}
