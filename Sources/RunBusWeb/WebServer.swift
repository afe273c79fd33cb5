public import Foundation
public import RunBus

/// Serves the page of a bus: the lock-screen card, a dashboard, and the records that a node keeps.
///
/// ```swift
/// let web = WebServer(watch, configuration: WebConfiguration())
/// try await withThrowingTaskGroup(of: Void.self) { group in
///   group.addTask { try await watch.run() }
///   group.addTask { try await web.run { print("open", $0) } }
///   try await group.waitForAll()
/// }
/// ```
///
/// It listens on loopback only. A client needs the link that ``run(_:)`` gives out. It does not encrypt: beyond this
/// machine put a reverse proxy with HTTPS before it (docs/security.md in the repository of the package).
public struct WebServer: Sendable {
  /// The most connections at a time.
  public static let connectionsMax = WebListener.connectionsMax

  private let node: Peer
  private let configuration: WebConfiguration
  private let feed: ViewFeed
  private let owner: (any RecordOwner)?
  private let registry: MetricsRegistry?

  /// A server for a peer, whose topics must contain `.snapshots`, `.feed` and `.live`. The peer is run elsewhere.
  ///
  /// - Parameters:
  ///   - node: Gives presses, views and records.
  ///   - configuration: Where the server listens.
  ///   - owner: What the machine does with records; without it the page only shows them.
  public init(_ node: Peer, configuration: WebConfiguration, owner: (any RecordOwner)? = nil) {
    self.init(node, configuration: configuration, owner: owner, registry: nil)
  }

  /// A server that also serves what the process counts.
  package init(
    _ node: Peer, configuration: WebConfiguration, owner: (any RecordOwner)?, registry: MetricsRegistry?
  ) {
    self.registry = registry
    self.node = node
    self.configuration = configuration
    self.owner = owner
    feed = ViewFeed(node)
  }

  /// Serves until the task is cancelled.
  ///
  /// - Parameter ready: Gets the link to open, which contains a token of 128 random bits.
  /// - Throws: ``RunBusError/Code/addressInUse`` when the port is taken, ``RunBusError/Code/transport`` when the server
  ///   cannot listen.
  public func run(_ ready: @escaping @Sendable (URL) -> Void) async throws { await run(at: try takePort(), ready) }

  /// A port that a server has taken and does not answer on yet.
  package struct Port: Sendable {
    fileprivate let listener: WebListener
  }

  /// Takes the port of the configuration. A program that does this before it runs the node does not join the bus in vain.
  ///
  /// - Throws: As ``run(_:)``.
  package func takePort() throws -> Port {
    let name = configuration.host
    return Port(listener: try WebListener(host: name == "localhost" ? "127.0.0.1" : name, port: configuration.port))
  }

  /// Serves at a port, as ``run(_:)``.
  ///
  /// - Parameter secret: The secret of a saved link; `nil` for a new one that ends with the server.
  package func run(
    at port: Port, with secret: SavedLink.Secret? = nil, _ ready: @escaping @Sendable (URL) -> Void
  ) async {
    let token = secret?.token ?? SavedLink.newToken()
    let (name, listener) = (configuration.host, port.listener)
    let router = Router(
      gate: Gate(
        token: token, host: name, port: listener.port, publicHost: configuration.publicHost,
        isSaved: secret?.isSaved ?? false), node: node, feed: feed, tiles: configuration.tiles, owner: owner,
      metrics: MetricsPage(node, registry: registry))
    await withDiscardingTaskGroup { group in
      group.addTask { await feed.run() }
      group.addTask { await listener.run(answer: { await router.answer($0) }, refuse: { router.refuse($0, $1) }) }
      let host = name.contains(":") ? "[\(name)]" : name
      if let link = URL(string: "http://\(host):\(listener.port)/?token=\(token)") { ready(link) }
    }
  }
}

/// Where a ``WebServer`` listens, and what it shows.
public struct WebConfiguration: Sendable {
  /// A loopback address: `127.0.0.1`, another of `127.0.0.0/8`, `::1` or `localhost`.
  public let host: String
  /// The port; 0 lets the system choose.
  public let port: UInt16
  /// The name, with its port unless it is 443, under which a reverse proxy serves the page by HTTPS; `nil` without one.
  public let publicHost: String?
  /// A template of map tiles, `https://HOST/{z}/{x}/{y}.png`, or `http` on this machine; `nil` for no map. Who serves
  /// the tiles learns where the run was.
  public let tiles: String?

  /// A configuration, checked.
  ///
  /// - Throws: ``RunBusError/Code/badInput`` for an address that is not loopback, and for a template or a name that is
  ///   none.
  public init(
    host: String = "127.0.0.1", port: UInt16 = 8080, publicHost: String? = nil, tiles: String? = nil
  ) throws(RunBusError) {
    guard Self.isLoopback(host) else {
      throw RunBusError(
        .badInput,
        "the page is served on this machine only, and \(host) is not: use 127.0.0.1 with a reverse proxy before it, and --public-host"
      )
    }
    if let publicHost {
      guard Self.isName(publicHost) else {
        throw RunBusError(.badInput, "\(publicHost) is no host name: write it like run.example.org")
      }
    }
    if let tiles {
      guard Self.isPrivate(tiles), Self.origin(of: tiles) != nil,
        ["{z}", "{x}", "{y}"].allSatisfy({ tiles.contains($0) }),
        !tiles.contains(where: { $0.isWhitespace || "\"'<>;,".contains($0) })
      else {
        throw RunBusError(
          .badInput,
          "\(tiles) is no template of tiles: write it like https://tiles.example.org/{z}/{x}/{y}.png "
            + "(http only for a server on this machine: others on the way would learn where the run was)")
      }
    }
    (self.host, self.port, self.publicHost, self.tiles) = (host, port, publicHost, tiles)
  }

  /// Whether only this machine can connect to an address.
  package static func isLoopback(_ host: String) -> Bool {
    host == "localhost" || host == "::1"
      || host.hasPrefix("127.") && isNumbers(host.split(separator: ".", omittingEmptySubsequences: false))
  }

  private static func isNumbers(_ parts: [Substring]) -> Bool {
    parts.count == 4 && parts.allSatisfy { part in part.allSatisfy(\.isNumber) && UInt8(part) != nil }
  }

  /// Whether a text is a host name, with or without a port.
  private static func isName(_ text: String) -> Bool {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let labels = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    return text.utf8.count <= 253 && labels.allSatisfy(isLabel) && (parts.count == 1 || UInt16(parts[1]) ?? 0 > 0)
  }

  private static func isLabel(_ label: Substring) -> Bool {
    !label.isEmpty && label.utf8.count <= 63 && label.first != "-" && label.last != "-"
      && label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
  }

  /// Whether the requests for tiles, which tell where the run is, stay secret on the way: HTTPS, or a server on this machine.
  private static func isPrivate(_ tiles: String) -> Bool {
    if tiles.hasPrefix("https://") { return true }
    guard tiles.hasPrefix("http://") else { return false }
    let host = tiles.dropFirst("http://".count).prefix { $0 != "/" && $0 != ":" }
    return host == "localhost"
      || host.hasPrefix("127.") && isNumbers(host.split(separator: ".", omittingEmptySubsequences: false))
  }

  /// The origin of the tiles, for the page's security policy; `nil` when the template names no host of its own.
  static func origin(of tiles: String) -> String? {
    let sample = ["{z}", "{x}", "{y}"].reduce(tiles) { $0.replacingOccurrences(of: $1, with: "1") }
    guard let url = URL(string: sample), let scheme = url.scheme, let host = url.host, isName(host) else { return nil }
    let origin = "\(scheme)://\(host)" + (url.port.map { ":\($0)" } ?? "")
    return tiles.hasPrefix(origin) ? origin : nil
  }
}
