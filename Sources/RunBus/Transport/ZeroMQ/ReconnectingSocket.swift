#if ZeroMQ && canImport(CZMQ)
  import CZMQ
  import RunCore

  /// A socket that connects and is connected again whenever the connection is lost.
  ///
  /// libzmq reconnects by itself, except after what it considers a violation of the protocol: another program that
  /// listens at the address for a moment, or a byte that was changed on the way. This type reconnects then, too.
  final class ReconnectingSocket {
    private let endpoint: String
    private let source: SocketSource
    private let monitor: ZMQMonitor
    private let redial: LoopTimer

    /// Connects a socket whose options are set.
    init(
      _ socket: consuming ZMQSocket, to endpoint: String, in context: ZMQContext, on loop: Loop, partsMax: Int,
      observe: @escaping (ZMQConnectionEvent) -> Void = { _ in }, receive: @escaping ([[UInt8]]) -> Void,
      fail: @escaping (ZMQFailure) -> Void
    ) throws(ZMQFailure) {
      self.endpoint = endpoint
      // The timer's handler needs the source, which is made after the timer; the box closes the gap.
      final class Box { weak var source: SocketSource? }
      let box = Box()
      let redial = loop.makeTimer { box.source?.connectAgain(to: endpoint) }
      monitor = try ZMQMonitor(
        socket, in: context, on: loop,
        receive: { event in
          switch event {
          case .accepted: break
          case .connected: redial.deadline = nil
          // After this time libzmq has reconnected, if it does so at all.
          case .disconnected, .handshakeFailed, .keyRefused:
            redial.deadline = loop.now + .milliseconds(Int64(ZMQOptions.reconnectMillisecondsMax))
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

    /// Sends a message; its parts go together or not at all.
    func send(_ parts: [[UInt8]]) -> ZMQOutcome { source.send(parts) }

    func close() {
      redial.deadline = nil
      source.close()
      // The monitor's socket is closed after the socket that it monitors: see `ZMQSocket.close`.
      monitor.close()
    }
  }
#endif
