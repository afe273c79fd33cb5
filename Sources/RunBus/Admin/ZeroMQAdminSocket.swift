#if ZeroMQ && canImport(CZMQ)
  import CZMQ
  import Logging
  public import RunCore

  /// Opens a node's admin socket over ZeroMQ: a ROUTER on a socket file in the runtime directory of its bus.
  ///
  /// A file that is already there belongs to a dead node, because the caller holds the lock of the device's store.
  public struct ZeroMQAdminSocketOpener: AdminSocketOpener {
    /// The bus.
    public var location: BusLocation
    /// The device whose node answers.
    public var device: DeviceID

    /// An opener for a device's admin socket on a bus.
    public init(location: BusLocation, device: DeviceID) {
      self.location = location
      self.device = device
    }

    /// Makes the directory if necessary and binds the socket.
    ///
    /// - Throws: ``RunBusError/Code/busHeld`` when another process listens there, ``RunBusError/Code/transport``
    ///   otherwise.
    public func open(
      on loop: Loop, receive: @escaping (_ bytes: [UInt8], _ reply: @escaping @Sendable ([UInt8]) -> Void) -> Bool
    ) throws(RunBusError) -> any AdminSocket {
      try location.prepareAdminSocket(for: device)
      let endpoint = location.adminEndpoint(for: device)
      guard !SocketFile.isAlive(at: endpoint) else {
        throw RunBusError(.busHeld, "\(endpoint) is taken: another node or program listens there")
      }
      do {
        return try ZeroMQAdminSocket(endpoint, on: loop, receive: receive)
      } catch {
        throw RunBusError(.transport, "the node cannot be asked from a shell (\(error))", cause: error)
      }
    }
  }

  final class ZeroMQAdminSocket: AdminSocket {
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
    /// Enough for [route][empty][body]; a longer message is no inquiry.
    private static let partsMax = 3

    init(
      _ endpoint: String, on loop: Loop, receive: @escaping ([UInt8], @escaping @Sendable ([UInt8]) -> Void) -> Bool
    ) throws(ZMQFailure) {
      self.loop = loop
      let log = Logger(label: "runbus.zeromq")
      // With a context of its own, the listener is gone when this socket is closed.
      let socket = try ZMQSocket(try ZMQContext(), type: ZMQ_ROUTER)
      try ZMQOptions.applyControl(to: socket)
      // Makes libzmq report an answer to a client that is gone; otherwise it would drop it silently.
      try socket.set(ZMQ_ROUTER_MANDATORY, CInt(1))
      try socket.bind(endpoint)
      parts.file = SocketFile(boundTo: endpoint)
      var garbage = MalformedFrameCounter(log: log)
      do {
        parts.source = try SocketSource(
          socket, on: loop, partsMax: Self.partsMax,
          receive: { [weak parts] message in
            let route: [[UInt8]]
            switch message.count {
            case 2: route = [message[0]]
            // A plain REQ socket sends an empty part, which must precede the answer.
            case 3 where message[1].isEmpty: route = [message[0], []]
            default: return garbage.count(from: message[0], "a message of a shape that no shell sends")
            }
            let isQuestion = receive(message[message.count - 1]) { [weak parts] answer in
              loop.checkIsolated()
              guard answer.count <= ZMQOptions.frameBytesMax else {
                return log.error("an answer of \(answer.count) bytes is too long to send")
              }
              // The outcome is ignored: a client that left or does not read gets no answer.
              _ = parts?.source?.send(route + [answer])
            }
            if !isQuestion { garbage.count(from: message[0], "a message at the node's door that is no question") }
          }, fail: { log.error("a socket failed: \($0)") })
      } catch {
        parts.close()
        throw error
      }
    }

    func close() { parts.close() }

    deinit {
      if loop.isCurrent { return parts.close() }
      loop.submit { [parts] in parts.close() }
    }
  }
#endif
