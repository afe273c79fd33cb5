import ArgumentParser
import Foundation
import RunBus
import RunBusWeb

struct Web: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "web",
    abstract: "Serve a page of the bus: the lock screen, a dashboard, and the runs that are kept.",
    discussion: """
        busnode web                     prints a link: open it in a browser of this
                                        machine
        busnode web --http 127.0.0.1:0  at a port that the system chooses

      The page joins the bus as the device "web" (--device) and works until Ctrl-C. It shows a lock-screen card and an \
      island, which draw only what the phone pushes to lock screens; a dashboard with the room of the runner, route, pace, \
      heart rate, elevation, splits, devices and commands; and the records that the device keeps: one run, two compared, \
      sums and bests. Its buttons press like those of a watch. It exports runs, and on the machine of the phone it \
      renames and deletes them, as busnode records does.

      The link has a token, which becomes a cookie: nobody else on this machine and no other site can use the page. The \
      link stays the same, so that a bookmark works tomorrow; --new-link makes a new one, and ends those that were saved. \
      The page is served on loopback only. At most 8 viewers and 32 connections at a time are served. To reach it from \
      elsewhere put a reverse proxy with HTTPS before it, and name it:

        busnode web --public-host run.example.org

      --tiles URL draws a map below the routes. It is off by default: who serves the tiles learns where the run was.

        busnode web --tiles 'https://tiles.example.org/{z}/{x}/{y}.png'

      /metrics and /healthz at the same address are for operators, without the token: see docs/operating.md.

      EXIT STATUS:
        0   it has ended in good order
        64  the address is not loopback, or another argument is wrong
        75  the port is in use, or another process serves this device's page
      """)

  @OptionGroup var bus: BusOptions

  @Option(help: ArgumentHelp("The device's name.", valueName: "name"), completion: Completions.devices)
  var device: DeviceID = "web"

  @Option(help: ArgumentHelp("Where to listen: a loopback address and a port.", valueName: "address"))
  var http = "127.0.0.1:8080"

  @Option(help: ArgumentHelp("The name under which a reverse proxy serves the page by HTTPS.", valueName: "host"))
  var publicHost: String?

  @Option(help: ArgumentHelp("A template of map tiles; without it there is no map.", valueName: "url"))
  var tiles: String?

  @Flag(help: "Make a new link: those that were saved do not open the page any more.")
  var newLink = false

  @Flag(help: "Write the link as JSON.")
  var json = false

  func run() async throws {
    bus.startLog()
    let location = try bus.location()
    if location.hasOpenPort { throw Failure.openPort(location) }
    bus.warn(of: [location])
    let configuration = try self.configuration()
    let registry = MetricsRegistry.installed()
    let peer = try Peer(
      at: location,
      configuration: PeerConfiguration(
        deviceID: device, role: NodeRole(rawValue: "page"), topics: [.snapshots, .feed, .rooms, .live]),
      loop: try Loop())
    let web = WebServer(peer, configuration: configuration, owner: PageOwner(of: location), registry: registry)
    // Before the node joins the bus: a page that cannot be served leaves no device behind.
    let port = try web.takePort()
    do {
      try await serve(peer, web, at: port, of: location)
    } catch let error as RunBusError where error.code == .storeHeld {
      throw Failure(
        code: error.code.description, message: Tongue.say(.pageMaybeServed, ["reason": error.message]),
        exitStatus: ExitStatus.busHeld)
    }
  }

  /// Runs the node and its server until a signal comes or one of them ends.
  private func serve(
    _ peer: Peer, _ web: WebServer, at port: WebServer.Port, of location: BusLocation
  ) async throws {
    let signals = Signals.stream()
    let service = await ServiceReport(of: peer)
    let served = AsyncStream.makeStream(of: Void.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await peer.run() }
      group.addTask {
        try await peer.ready()
        // The node holds the lock of its store by now: no second page of this device writes the file.
        let secret = SavedLink(of: device, on: location).secret(isNew: newLink)
        if let notice = secret.notice { Output.complain("busnode: \(notice)") }
        await web.run(at: port, with: secret) { link in
          // Output that cannot be written ends nothing: the page can still be used by who has the link.
          if json {
            try? Output.jsonLine(WebLinkJSON(url: link.absoluteString))
          } else {
            try? Output.line(Tongue.say(.pageAt, ["url": link.absoluteString]))
          }
          served.continuation.yield()
          if location.isWithoutHub {
            Output.complain("busnode: " + Tongue.say(.pageWaits, ["reason": Failure.noBus(location).message]))
          }
        }
      }
      group.addTask {
        for await _ in signals { break }
        service?.end()
      }
      if let service {
        group.addTask {
          await service.run { await served.stream.first { _ in true } != nil }
          // The page ends with its node, not with this.
          for await _ in served.stream {}
        }
      }
      defer { group.cancelAll() }
      try await group.next()
      group.cancelAll()
      while let result = await group.nextResult() {
        if case .failure(let error as RunBusError) = result, error.code != .closed { throw error }
      }
    }
  }

  private func configuration() throws -> WebConfiguration {
    let address = try HTTPAddress(http, option: "--http", example: 8080)
    do {
      return try WebConfiguration(host: address.host, port: address.port, publicHost: publicHost, tiles: tiles)
    } catch {
      throw Failure(code: "usage", message: error.message, exitStatus: ExitStatus.usage)
    }
  }
}

/// The link of `busnode web --json`.
struct WebLinkJSON: Codable, Hashable, Sendable {
  var event = "web"
  var url: String
}
