import FlyingFox
import FlyingSocks
public import Foundation
public import RunBus

/// Serves the page of a bus: the lock-screen card, a dashboard, and the records that a node keeps.
///
/// ```swift
/// let web = WebServer(watch, deviceID: "web", configuration: WebConfiguration())
/// try await withThrowingTaskGroup(of: Void.self) { group in
///   group.addTask { try await watch.run() }
///   group.addTask { try await web.run { print("open", $0) } }
///   try await group.waitForAll()
/// }
/// ```
///
/// It listens on loopback only and answers only who has the link that ``run(_:)`` gives out. FlyingFox, which reads the
/// requests, does not limit how slowly or how long headers come: beyond this machine put a reverse proxy before it
/// (docs/security.md in the repository of the package).
public struct WebServer: Sendable {
  /// The most requests that are answered at a time.
  public static let connectionsMax = 32

  private let node: Peer
  private let configuration: WebConfiguration
  private let keeper: ViewKeeper

  /// A server for a peer, whose topics must contain `.snapshots`, `.feed` and `.live`. The peer is run elsewhere.
  ///
  /// - Parameters:
  ///   - node: Gives presses, views and records.
  ///   - deviceID: The peer's device.
  ///   - configuration: Where the server listens.
  public init(_ node: Peer, deviceID: DeviceID, configuration: WebConfiguration) {
    self.node = node
    self.configuration = configuration
    keeper = ViewKeeper(node, deviceID: deviceID)
  }

  /// Serves until the task is cancelled.
  ///
  /// - Parameter ready: Gets the link to open, which contains a token of 128 random bits.
  /// - Throws: ``RunBusError/Code/addressInUse`` when the port is taken, ``RunBusError/Code/transport`` when the server
  ///   cannot listen.
  public func run(_ ready: @escaping @Sendable (URL) -> Void) async throws {
    let token = (0..<4).map { _ in String(UInt32.random(in: .min ... .max) | 1 << 31, radix: 16) }.joined()
    let port = try Self.freePort(configuration)
    let server = HTTPServer(
      address: try Self.address(configuration.host, port), timeout: 15, logger: .disabled,
      handler: Router(
        gate: Gate(token: token, port: port, publicHost: configuration.publicHost), node: node, keeper: keeper,
        tiles: configuration.tiles))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await keeper.run() }
      group.addTask {
        do { try await server.run() } catch let error as SocketError {
          guard !Task.isCancelled else { return }
          throw Self.failure(error, configuration.host, port)
        }
      }
      group.addTask {
        try await server.waitUntilListening(timeout: 10)
        let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        if let link = URL(string: "http://\(host):\(port)/?token=\(token)") { ready(link) }
        // The group ends with its first task.
        while !Task.isCancelled { try await Task.sleep(for: .seconds(3600)) }
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  private static func address(_ host: String, _ port: UInt16) throws -> any SocketAddress {
    if host.contains(":") { return try sockaddr_in6.inet6(ip6: host, port: port) }
    return try sockaddr_in.inet(ip4: host == "localhost" ? "127.0.0.1" : host, port: port)
  }

  /// The port to listen at. With port 0 the system chooses one, which the link must name before the server listens.
  private static func freePort(_ configuration: WebConfiguration) throws -> UInt16 {
    let family = configuration.host.contains(":") ? AF_INET6 : AF_INET
    do {
      let socket = try Socket(domain: family)
      defer { try? socket.close() }
      try socket.setValue(true, for: .localAddressReuse)
      if family == AF_INET6 {
        try socket.bind(to: try sockaddr_in6.inet6(ip6: configuration.host, port: configuration.port))
      } else {
        let host = configuration.host == "localhost" ? "127.0.0.1" : configuration.host
        try socket.bind(to: try sockaddr_in.inet(ip4: host, port: configuration.port))
      }
      guard configuration.port == 0 else { return configuration.port }
      switch try socket.sockname() {
      case .ip4(_, let port), .ip6(_, let port): return port
      case .unix: throw RunBusError(.transport, "the page cannot listen at \(configuration.host)")
      }
    } catch let error as SocketError {
      throw failure(error, configuration.host, configuration.port)
    }
  }

  private static func failure(_ error: SocketError, _ host: String, _ port: UInt16) -> RunBusError {
    if case .failed(_, let number, _) = error, number == EADDRINUSE {
      return RunBusError(
        .addressInUse, "\(host):\(port) is in use: choose another port with --http \(host):PORT, or 0 for any")
    }
    return RunBusError(.transport, "the page cannot listen at \(host):\(port): \(error.errorDescription ?? "\(error)")")
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
  /// A template of map tiles, `https://HOST/{z}/{x}/{y}.png`; `nil` for no map. Who serves the tiles learns where the run
  /// was.
  public let tiles: String?

  /// A configuration, checked.
  ///
  /// - Throws: ``RunBusError/Code/badInput`` for an address that is not loopback, and for a template or a name that is
  ///   none.
  public init(
    host: String = "127.0.0.1", port: UInt16 = 8080, publicHost: String? = nil, tiles: String? = nil
  ) throws(RunBusError) {
    let isLoopback =
      host == "localhost" || host == "::1"
      || host.hasPrefix("127.") && host.split(separator: ".", omittingEmptySubsequences: false).count == 4
        && host.split(separator: ".").allSatisfy { UInt8($0) != nil }
    guard isLoopback else {
      throw RunBusError(
        .badInput,
        "the page is served on this machine only, and \(host) is not: use 127.0.0.1 with a reverse proxy before it, and --public-host"
      )
    }
    if let publicHost {
      guard !publicHost.isEmpty, publicHost.utf8.count <= 253,
        publicHost.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || ".-:".contains($0)) })
      else { throw RunBusError(.badInput, "\(publicHost) is no host name: write it like run.example.org") }
    }
    if let tiles {
      guard tiles.hasPrefix("https://") || tiles.hasPrefix("http://"), URL(string: Self.sample(of: tiles))?.host != nil,
        ["{z}", "{x}", "{y}"].allSatisfy({ tiles.contains($0) }),
        !tiles.contains(where: { $0.isWhitespace || "\"'<>;,".contains($0) })
      else {
        throw RunBusError(
          .badInput, "\(tiles) is no template of tiles: write it like https://tiles.example.org/{z}/{x}/{y}.png")
      }
    }
    (self.host, self.port, self.publicHost, self.tiles) = (host, port, publicHost, tiles)
  }

  private static func sample(of tiles: String) -> String {
    ["{z}", "{x}", "{y}"].reduce(tiles) { $0.replacingOccurrences(of: $1, with: "1") }
  }

  /// The origin of the tiles, for the page's security policy.
  static func origin(of tiles: String) -> String? {
    guard let url = URL(string: sample(of: tiles)), let scheme = url.scheme, let host = url.host else { return nil }
    return "\(scheme)://\(host)" + (url.port.map { ":\($0)" } ?? "")
  }
}
