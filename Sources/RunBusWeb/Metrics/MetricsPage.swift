import Foundation
package import RunBus

/// What operators read of a node by HTTP: its metrics, and whether it does what it is there for.
///
/// Whoever can connect to the loopback address of this machine may read both. They contain device names, and neither the
/// position nor the speed of a runner.
package struct MetricsPage: Sendable {
  /// The paths that it answers.
  static let paths = ["/metrics", "/healthz"]
  /// How long the node may take to say how it stands.
  private static let patience = Duration.seconds(2)

  private let node: any Node
  private let registry: MetricsRegistry?
  private let began = Date().timeIntervalSince1970

  /// A page of a node.
  ///
  /// - Parameter registry: What the process counts; without it there are only the values of the moment.
  package init(_ node: any Node, registry: MetricsRegistry?) { (self.node, self.registry) = (node, registry) }

  /// The answer to a GET of one of ``paths``; `nil` for another path.
  func answer(_ path: String) async -> WebResponse? {
    switch path {
    case "/metrics": await metrics()
    case "/healthz": await health()
    default: nil
    }
  }

  private func condition() async -> NodeCondition? {
    let node = node
    return (try? await within(Self.patience) { try await node.condition() }).flatMap { $0 }
  }

  private func health() async -> WebResponse {
    guard let condition = await condition() else {
      return plain(503, "the node does not answer: it has ended, or its loop hangs\n")
    }
    if let trouble = condition.trouble { return plain(503, trouble + "\n") }
    return plain(200, "ok\n")
  }

  private func metrics() async -> WebResponse {
    var text = PrometheusText()
    text.gauge(
      "runbus_info", "The version; always 1.",
      [("version", runBusVersion), ("wire", "\(wireVersion)"), ("device", node.deviceID.rawValue)], 1)
    text.gauge("process_start_time_seconds", "When the process began, by the wall clock.", began)
    if let condition = await condition() {
      text.gauge("runbus_up", "Whether the node answers.", 1)
      write(condition, to: &text)
    } else {
      text.gauge("runbus_up", "Whether the node answers.", 0)
    }
    registry?.write(to: &text)
    return WebResponse(
      status: 200, headers: headers("text/plain; version=0.0.4; charset=utf-8"), body: .data(Data(text.text.utf8)))
  }

  private func write(_ condition: NodeCondition, to text: inout PrometheusText) {
    text.gauge(
      "runbus_store_held_up", "Whether the store takes nothing now, and is tried again.",
      condition.isHeldUp ? 1 : 0)
    let waiting = condition.outbox
    text.gauge("runbus_outbox_items", "What waits for other nodes.", Double(waiting.reduce(0) { $0 + $1.count }))
    text.gauge(
      "runbus_outbox_oldest_seconds", "How long the oldest of it waits.",
      waiting.map(\.age).max()?.seconds ?? 0)
    text.gauge(
      "runbus_outbox_tries", "How often what waits was sent: sent again while it grows.",
      waiting.reduce(0) { $0 + Double($1.tries) })
    for (name, bytes) in condition.storeFiles.sorted(by: { $0.key < $1.key }) {
      text.gauge("runbus_store_bytes", "The size of a file of the store.", [("file", name)], Double(bytes))
    }
    guard condition.isHub else {
      text.gauge("runbus_hub_reachable", "Whether the hub is in reach.", condition.link.isReachable ? 1 : 0)
      if let trip = condition.link.roundTrip {
        text.gauge("runbus_hub_round_trip_seconds", "The last round trip to the hub.", trip.seconds)
      }
      return
    }
    let devices = condition.devices.map { ([("device", $0.deviceID.rawValue), ("role", $0.role.rawValue)], $0) }
    for (labels, device) in devices {
      text.gauge(
        "runbus_device_reachable", "Whether a device is in the hub's reach.", labels,
        device.isReachable ? 1 : 0)
    }
    for (labels, device) in devices {
      guard let age = device.heardAge else { continue }
      text.gauge("runbus_device_heard_seconds", "Since a device was heard last.", labels, age.seconds)
    }
    for (labels, device) in devices {
      guard let trip = device.roundTrip else { continue }
      text.gauge(
        "runbus_device_round_trip_seconds", "The last round trip that a device measured.", labels, trip.seconds)
    }
    for (labels, device) in devices {
      text.gauge(
        "runbus_device_waiting", "What waits at the hub for a device.", labels, Double(device.waiting))
    }
  }

  private func plain(_ status: Int, _ text: String) -> WebResponse {
    WebResponse(status: status, headers: headers("text/plain; charset=utf-8"), body: .data(Data(text.utf8)))
  }

  private func headers(_ type: String) -> [(name: String, value: String)] {
    [("Content-Type", type), ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")]
  }
}

/// Serves a ``MetricsPage`` alone, for a node without a page.
///
/// ```swift
/// let metrics = try MetricsServer(MetricsPage(hub, registry: registry), host: "127.0.0.1", port: 9464)
/// await metrics.run()  // until its task is cancelled
/// ```
package struct MetricsServer: Sendable {
  private let page: MetricsPage
  private let listener: WebListener
  private let hosts: Set<String>
  private let host: String

  /// Takes the port.
  ///
  /// - Parameters:
  ///   - host: A loopback address: `127.0.0.1`, another of `127.0.0.0/8`, `::1` or `localhost`.
  ///   - port: The port; 0 lets the system choose.
  /// - Throws: ``RunBus/RunBusError/Code/badInput`` for an address that is not loopback; otherwise as
  ///   ``WebServer/run(_:)``.
  package init(_ page: MetricsPage, host: String, port: UInt16) throws(RunBusError) {
    guard WebConfiguration.isLoopback(host) else {
      throw RunBusError(
        .badInput, "metrics are served on this machine only, and \(host) is not: use 127.0.0.1 with a proxy before it")
    }
    (self.page, self.host) = (page, host.contains(":") ? "[\(host)]" : host)
    listener = try WebListener(host: host == "localhost" ? "127.0.0.1" : host, port: port, option: "--metrics")
    hosts = Gate.ownHosts(host, port: listener.port)
  }

  /// Where the metrics are.
  package var url: String { "http://\(host):\(listener.port)/metrics" }

  /// Serves until the task is cancelled.
  package func run() async {
    let refuse: @Sendable (Int, String) -> WebResponse = { status, reason in
      WebResponse(
        status: status, headers: [("Content-Type", "text/plain; charset=utf-8")],
        body: .data(Data((reason + "\n").utf8)))
    }
    await listener.run(
      answer: { [page, hosts] request in
        // A name that a page of another site points to this machine is none of ours.
        guard let host = request.headers["host"]?.lowercased(), hosts.contains(host) else {
          return refuse(421, "this server has another name")
        }
        guard request.method == "GET" || request.method == "HEAD" else { return refuse(405, "only GET is answered") }
        let paths = MetricsPage.paths.joined(separator: " and ")
        return await page.answer(request.path) ?? refuse(404, "there are \(paths) here")
      }, refuse: refuse)
  }
}
