#if ZeroMQ && canImport(CZMQ)
  package import RunCore

  /// Opens a node's admin socket over ZeroMQ: a ROUTER on a socket file in the runtime directory of its bus.
  ///
  /// A file that is already there belongs to a dead node, because the caller holds the lock of the device's store.
  package struct ZeroMQAdminSocketOpener: AdminSocketOpener {
    /// The bus.
    package var location: BusLocation
    /// The device whose node answers.
    package var device: DeviceID

    /// An opener for a device's admin socket on a bus.
    package init(location: BusLocation, device: DeviceID) {
      self.location = location
      self.device = device
    }

    /// Makes the directory if necessary and binds the socket.
    ///
    /// - Throws: ``RunBusError/Code/addressInUse`` when another process listens there, ``RunBusError/Code/transport``
    ///   otherwise.
    package func open(
      on loop: Loop, receive: @escaping (_ bytes: [UInt8], _ reply: @escaping @Sendable ([UInt8]) -> Void) -> Bool
    ) throws(RunBusError) -> any AdminSocket {
      try location.prepareAdminSocket(for: device)
      let endpoint = location.adminEndpoint(for: device)
      guard !SocketFile.isAlive(at: endpoint) else {
        throw RunBusError(.addressInUse, "\(endpoint) is taken: another node or program listens there")
      }
      do {
        return ZeroMQAdminSocket(responder: try ZeroMQResponder(at: endpoint, on: loop, receive: receive))
      } catch {
        throw RunBusError(.transport, "the node cannot be asked from a shell (\(error))", cause: error)
      }
    }
  }

  private final class ZeroMQAdminSocket: AdminSocket {
    private let responder: ZeroMQResponder

    init(responder: ZeroMQResponder) { self.responder = responder }

    func close() { responder.close() }
  }
#endif
