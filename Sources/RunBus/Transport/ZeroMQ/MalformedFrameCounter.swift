#if ZeroMQ
  import CoreMetrics
  import Logging

  /// Counts messages that no node of this bus sends, and says so once per connection, for so many connections.
  struct MalformedFrameCounter {
    /// Connections that are complained about: a stranger who connects again and again does not fill the log.
    private static let routesMax = 64
    private static let counter = Counter(label: "runbus.zeromq.garbage_messages")
    private let log: Logger
    private var routes: Set<[UInt8]> = []

    init(log: Logger) { self.log = log }

    mutating func count(from route: [UInt8], _ what: @autoclosure () -> String) {
      Self.counter.increment()
      guard routes.count < Self.routesMax, routes.insert(route).inserted else { return }
      let rest = routes.count == Self.routesMax ? "from whomever" : "from the same connection"
      log.warning("dropped \(what()); more of it \(rest) is only counted")
    }
  }
#endif
