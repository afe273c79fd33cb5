#if ZeroMQ
  import CoreMetrics
  import Logging

  /// Counts messages that no node of this bus sends, and says so once per connection.
  struct GarbageCount {
    /// Connections that are remembered as complained about; beyond it, it starts anew rather than grow.
    private static let routesMax = 256
    private static let counter = Counter(label: "runbus.zeromq.garbage_messages")
    private let log: Logger
    private var routes: Set<[UInt8]> = []

    init(log: Logger) { self.log = log }

    mutating func count(from route: [UInt8], _ what: @autoclosure () -> String) {
      Self.counter.increment()
      if routes.count >= Self.routesMax { routes.removeAll() }
      guard routes.insert(route).inserted else { return }
      log.warning("dropped \(what()); more of it from the same connection is only counted")
    }
  }
#endif
