#if ZeroMQ
  import CZMQ
  import RunCore

  /// A socket that connects, with the watch over its connection.
  ///
  /// libzmq connects again by itself when a connection is lost, but never after what it takes for a violation of the
  /// protocol: a stranger who listens at the address for a moment, a byte that was changed on the way. This does.
  final class ReconnectingSocket {
    private let endpoint: String
    private let source: SocketSource
    private let monitor: ZMQMonitor
    private let redial: LoopTimer

    /// Connects a socket that has its options.
    init(
      _ socket: consuming ZMQSocket, to endpoint: String, in context: ZMQContext, on loop: Loop, partsMax: Int,
      observe: @escaping (ZMQConnectionEvent) -> Void = { _ in }, receive: @escaping ([[UInt8]]) -> Void,
      fail: @escaping (ZMQFailure) -> Void
    ) throws(ZMQFailure) {
      self.endpoint = endpoint
      // Its handler needs the source, which comes after the connection: a box holds what is not there yet.
      final class Box { weak var source: SocketSource? }
      let box = Box()
      let redial = loop.makeTimer { box.source?.connectAgain(to: endpoint) }
      monitor = try ZMQMonitor(
        socket, in: context, on: loop,
        receive: { event in
          switch event {
          case .accepted: break
          case .connected: redial.deadline = nil
          // By then libzmq has tried again, if it does.
          case .disconnected, .handshakeFailed:
            redial.deadline = Loop.now + .milliseconds(Int64(ZMQOptions.reconnectMillisecondsMax))
          }
          observe(event)
        }, fail: fail)
      do {
        try socket.connect(endpoint)
        source = try SocketSource(socket, on: loop, partsMax: partsMax, receive: receive, fail: fail)
      } catch {
        monitor.close()
        throw error
      }
      box.source = source
      self.redial = redial
    }

    /// Sends a message; the parts go together or not at all.
    func send(_ parts: [[UInt8]]) -> ZMQOutcome { source.send(parts) }

    func close() {
      redial.deadline = nil
      source.close()
      // A monitor closes after what it watches: see `ZMQSocket.close`.
      monitor.close()
    }
  }
#endif
