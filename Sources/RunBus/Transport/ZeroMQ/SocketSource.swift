#if ZeroMQ && canImport(CZMQ)
  import CZMQ

  /// A libzmq socket on a loop, which drains it with a bounded number of messages a turn.
  final class SocketSource: LoopSource {
    let descriptor: CInt
    private var socket: ZMQSocket
    // Strong: the loop releases the source in `close`, which still uses the loop.
    private let loop: Loop
    private var isOpen = true
    private let partsMax: Int
    private let receive: (ZMQMessage) -> Void
    private let fail: (ZMQFailure) -> Void

    convenience init(
      _ socket: consuming ZMQSocket, on loop: Loop, partsMax: Int, receive: @escaping ([[UInt8]]) -> Void,
      fail: @escaping (ZMQFailure) -> Void
    ) throws(ZMQFailure) {
      try self.init(socket, on: loop, partsMax: partsMax, receiveMessage: { receive($0.parts) }, fail: fail)
    }

    init(
      _ socket: consuming ZMQSocket, on loop: Loop, partsMax: Int, receiveMessage: @escaping (ZMQMessage) -> Void,
      fail: @escaping (ZMQFailure) -> Void
    ) throws(ZMQFailure) {
      descriptor = try socket.descriptor()
      self.socket = socket
      self.loop = loop
      self.partsMax = partsMax
      receive = receiveMessage
      self.fail = fail
      loop.add(self)
    }

    /// Receives until libzmq has nothing more: only then does its edge-triggered descriptor wake the loop again.
    func drain() -> Bool {
      let end = loop.now + TransportLimits.drainTimeMax
      for _ in 0..<TransportLimits.messagesPerDrainMax {
        // A receiver may close the source.
        guard isOpen else { return false }
        do {
          guard let message = try socket.receiveMessage(max: partsMax) else { return false }
          receive(message)
          if loop.now >= end { return isOpen }
        } catch {
          fail(error)
          return false
        }
      }
      return true
    }

    /// Sends a message; its parts go together or not at all. The loop drains the socket afterwards, because the send
    /// may have consumed the descriptor's edge.
    func send(_ parts: [[UInt8]]) -> ZMQOutcome {
      guard isOpen else { return .unreachable }
      defer { loop.touch(self) }
      do {
        let outcome = try attempt(parts)
        if case .done = outcome { return outcome }
        // For a millisecond after its last look a sending socket ignores the news of its I/O thread, such as a new
        // connection or room in its queue. Reading the events makes it look.
        _ = try socket.events()
        return try attempt(parts)
      } catch {
        fail(error)
        return .unreachable
      }
    }

    private func attempt(_ parts: [[UInt8]]) throws(ZMQFailure) -> ZMQOutcome {
      for (index, part) in parts.enumerated() {
        let outcome = try socket.send(part, more: index < parts.count - 1)
        // Only the first part can be refused: libzmq then decides for the whole message.
        guard case .done = outcome else { return outcome }
      }
      return .done
    }

    /// Connects again, whatever the state of the connection.
    func connectAgain(to endpoint: String) {
      guard isOpen else { return }
      defer { loop.touch(self) }
      do {
        socket.disconnect(endpoint)
        try socket.connect(endpoint)
      } catch {
        fail(error)
      }
    }

    func set(_ option: CInt, _ value: CInt) {
      do {
        try socket.set(option, value)
      } catch {
        fail(error)
      }
    }

    /// Closes the socket; idempotent.
    func close() {
      guard isOpen else { return }
      isOpen = false
      loop.remove(self)
      socket.close()
    }
  }
#endif
