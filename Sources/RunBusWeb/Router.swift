import Foundation
import RunBus

/// Answers the requests that pass the gate.
struct Router: Sendable {
  /// How long a press waits for its verdict before the page is told that it is queued.
  private static let pressPatience = Duration.seconds(3)
  /// How long the node's store may take to answer.
  private static let storePatience = Duration.seconds(5)
  private static let routePointsMax = 500
  static let recordPointsMax = 1000

  let gate: Gate
  let node: Peer
  let feed: ViewFeed
  let tiles: String?
  let owner: (any RecordOwner)?
  let metrics: MetricsPage

  func answer(_ request: WebRequest) async -> WebResponse {
    switch gate.decide(request) {
    case .enter: return await enter(request)
    case .inspect:
      return await metrics.answer(request.path) ?? refusal(404, "notFound", "there is nothing at this address")
    case .welcome(let cookie):
      // A cookie for this site only is not sent along a redirection from another one, such as the mail with the link.
      let text = "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=/\"><title>RunBus</title>"
      var response = response(200, Data(text.utf8), "text/html; charset=utf-8")
      response.headers.append(("Set-Cookie", cookie))
      return response
    case .refuse(let status, let code, let message):
      let wantsPage = request.path == "/" && request.method == "GET"
      return wantsPage
        ? response(status, Data((message + "\n").utf8), "text/plain; charset=utf-8") : refusal(status, code, message)
    }
  }

  /// The answer to what is no request, or one too many.
  func refuse(_ status: Int, _ reason: String) -> WebResponse {
    refusal(status, status == 503 ? "busy" : "request", reason)
  }

  private func enter(_ request: WebRequest) async -> WebResponse {
    let path = request.path
    if request.method == "POST" {
      if path == "/api/press" { return await press(request) }
      guard let place = path.dropping(prefix: "/api/records/") else {
        return refusal(404, "notFound", "nothing is posted to \(path)")
      }
      return await kept { try await recordChange(place, Data(request.body)) }
    }
    switch path {
    case "/events": return await events()
    case "/api/route":
      let route = RouteThinning.thinned(await feed.route, to: Self.routePointsMax)
      return json(RouteJSON(await feed.runID, route))
    case "/api/series": return json(await feed.series())
    case "/api/report": return await report()
    case "/api/owner": return await kept { await ownerAnswer() }
    case "/api/records": return await kept { json(RecordsJSON(records: try await records())) }
    case "/api/stats":
      guard let unit = RunCalendar.Unit(rawValue: request.query["by"] ?? "week") else {
        return refusal(400, "badInput", "by is day, week, month or year")
      }
      return await kept {
        json(RecordStatistics(try await records(), by: unit, now: Date().timeIntervalSince1970))
      }
    default:
      if let place = path.dropping(prefix: "/api/records/") {
        return await kept { try await recordAnswer(place, request.query) }
      }
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

  private func events() async -> WebResponse {
    guard let events = await feed.look() else {
      return refusal(503, "viewers", "\(ViewFeed.viewersMax) viewers are looking already")
    }
    return WebResponse(
      status: 200, headers: headers("text/event-stream") + [("X-Accel-Buffering", "no")], body: .stream(events))
  }

  /// The splits of the present run. A hub that is out of reach is not waited for.
  private func report() async -> WebResponse {
    let report = try? await within(.seconds(2)) { [node] in try? await node.report() }
    return json(await feed.newest(report.flatMap { $0 }))
  }

  private func press(_ request: WebRequest) async -> WebResponse {
    guard let press = try? JSONDecoder().decode(PressJSON.self, from: Data(request.body)),
      let kind = CommandKind(rawValue: press.command), ["liveActivity", "page"].contains(press.source)
    else {
      return refusal(400, "badInput", "a press is {\"command\": \"start|pause|resume|stop|lap\", \"source\": \"page\"}")
    }
    let command = Command(kind, source: ControlSource(rawValue: press.source))
    do {
      let receipt = try await within(Self.pressPatience) { [node] in try await node.sendForReceipt(command) }
      guard let receipt else {
        guard let receipt = await feed.receipt(of: command.id) else {
          return refusal(503, "store", "the store of this device takes nothing: the press may be lost")
        }
        return json(receipt, status: 202)
      }
      return json(receipt)
    } catch {
      return refusal(error)
    }
  }

  // MARK: Records

  /// What the node's store gives. A store that does not answer, such as one on a full disk, is not waited for.
  private func kept(_ body: @escaping @Sendable () async throws -> WebResponse) async -> WebResponse {
    do {
      return try await within(Self.storePatience, body)
        ?? refusal(503, "store", "the store of this device does not answer")
    } catch {
      return refusal(error)
    }
  }

  // MARK: Responses

  func json(_ value: some Encodable, status: Int = 200) -> WebResponse {
    guard let data = try? JSONEncoder().encode(value) else { return refusal(500, "json", "this cannot be written") }
    return response(status, data, "application/json")
  }

  func refusal(_ status: Int, _ code: String, _ message: String) -> WebResponse {
    json(ErrorJSON(error: ErrorJSON.Body(code: code, message: message)), status: status)
  }

  private func refusal(_ error: any Error) -> WebResponse {
    let error = error as? RunBusError
    return refusal(
      error?.code == .notFound ? 404 : 503, error?.code.description ?? "failure",
      error?.message ?? "this cannot be answered now")
  }

  func response(_ status: Int, _ body: Data, _ type: String) -> WebResponse {
    WebResponse(status: status, headers: headers(type), body: .data(body))
  }

  private func headers(_ type: String) -> [(name: String, value: String)] {
    let images = "'self' data:" + (tiles.flatMap { WebConfiguration.origin(of: $0) }.map { " \($0)" } ?? "")
    return [
      ("Content-Type", type), ("Cache-Control", "no-store"),
      (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src \(images); "
          + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
      ),
      ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
      ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
  }
}

extension String {
  fileprivate func dropping(prefix: String) -> Substring? { hasPrefix(prefix) ? dropFirst(prefix.count) : nil }
}
