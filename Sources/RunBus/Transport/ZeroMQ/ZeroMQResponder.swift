#if ZeroMQ && canImport(CZMQ)
  import CZMQ
  import Logging

  /// Answers single messages on a ROUTER with an endpoint of its own. Used on the loop's thread only.
  final class ZeroMQResponder {
    /// The open socket and its file.
    ///
    /// Unchecked: used on the loop's thread only. The reply closure, which others hold, checks that.
    private final class Parts: @unchecked Sendable {
      var source: SocketSource?
      var file: SocketFile?

      func close() {
        source?.close()
        source = nil
        file?.remove()
        file = nil
      }
    }

    private let loop: Loop
    private let parts = Parts()
    /// Enough for [route][empty][body]; a longer message has another shape.
    private static let partsMax = 3

    /// Binds the socket. ``close()`` unbinds it and removes the file of an ipc endpoint.
    ///
    /// - Parameters:
    ///   - endpoint: A ZeroMQ endpoint.
    ///   - loop: The loop that polls the socket.
    ///   - receive: Gets a message and a closure that sends the answer; the closure is called at most once, on the
    ///     loop's thread. Returns whether the message could be read: others are counted.
    init(
      at endpoint: String, on loop: Loop, receive: @escaping ([UInt8], @escaping @Sendable ([UInt8]) -> Void) -> Bool
    ) throws(ZMQFailure) {
      self.loop = loop
      let log = Logger(label: "runbus.zeromq")
      // With a context of its own, the listener is gone when this socket is closed.
      let socket = try ZMQSocket(try ZMQContext(), type: ZMQ_ROUTER)
      try ZMQOptions.applyControl(to: socket)
      // Makes libzmq report an answer to a client that is gone; otherwise it would drop it silently.
      try socket.set(ZMQ_ROUTER_MANDATORY, CInt(1))
      try ZMQOptions.applyOwnUser(of: endpoint, to: socket)
      try socket.bind(endpoint)
      parts.file = SocketFile(boundTo: endpoint)
      var garbage = MalformedFrameCounter(log: log)
      do {
        parts.source = try SocketSource(
          socket, on: loop, partsMax: Self.partsMax,
          receive: { [weak parts] message in
            let route: [[UInt8]]
            switch message.count {
            case 2 where !message[1].isEmpty: route = [message[0]]
            // A plain REQ socket sends an empty part, which must precede the answer.
            case 3 where message[1].isEmpty && !message[2].isEmpty: route = [message[0], []]
            default: return garbage.count(from: message[0], "a message that is neither [body] nor [empty][body]")
            }
            let isReadable = receive(message[message.count - 1]) { [weak parts] answer in
              loop.checkIsolated()
              guard answer.count <= ZMQOptions.frameBytesMax else {
                return log.error("an answer of \(answer.count) bytes is too long to send")
              }
              // The outcome is ignored: a client that left or does not read gets no answer.
              _ = parts?.source?.send(route + [answer])
            }
            if !isReadable { garbage.count(from: message[0], "a message that is not an inquiry") }
          }, fail: { log.error("a socket failed: \($0)") })
      } catch {
        parts.close()
        throw error
      }
    }

    /// Stops answering. Idempotent.
    func close() { parts.close() }

    deinit {
      if loop.isCurrent { return parts.close() }
      loop.submit { [parts] in parts.close() }
    }
  }
#endif
