#if ZeroMQ && canImport(CZMQ)
  import RunCore
  import Synchronization

  /// The libzmq context of all sockets with keys in this process, and the handler that answers their handshakes.
  ///
  /// The handler is bound before any of these sockets exists, because CURVE without a handler accepts every client. The
  /// context lives as long as the process: libzmq 4.3.4 closes its source of random numbers with the last context.
  struct CurveContext: Sendable {
    private static let shared = Mutex<CurveContext?>(nil)

    let context: ZMQContext
    let handler: ZAPHandler

    /// The one of this process.
    static func get() throws(ZMQFailure) -> CurveContext {
      try shared.withLock { shared throws(ZMQFailure) in
        if let shared { return shared }
        let context = try ZMQContext()
        let made = CurveContext(context: context, handler: try ZAPHandler(in: context))
        shared = made
        return made
      }
    }
  }
#endif
