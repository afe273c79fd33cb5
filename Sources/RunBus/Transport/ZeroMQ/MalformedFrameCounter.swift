#if ZeroMQ && canImport(CZMQ)
  import CoreMetrics
  import Logging

  /// Counts messages that no node of this bus sends. It logs one per connection, for a limited number of connections.
  struct MalformedFrameCounter {
    /// For how many connections a message is logged, so that a client that connects again and again does not fill the
    /// log.
    private static let routesMax = 64
    private static let counter = Counter(.zeroMQGarbage)
    private let log: Logger
    private var routes: Set<[UInt8]> = []

    init(log: Logger) { self.log = log }

    mutating func count(from route: [UInt8], _ what: @autoclosure () -> String) {
      Self.counter.increment()
      guard routes.count < Self.routesMax, routes.insert(route).inserted else { return }
      let rest = routes.count == Self.routesMax ? "from any connection" : "from the same connection"
      log.warning("dropped \(what()); more of it \(rest) is only counted")
    }
  }
#endif
