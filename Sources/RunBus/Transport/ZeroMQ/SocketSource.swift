#if ZeroMQ
  import CZMQ

  /// A libzmq socket on a loop: drained until it has nothing more, a bounded number of messages a turn.
  final class SocketSource: LoopSource {
    let descriptor: CInt
    private var socket: ZMQSocket
    // Strong: the loop lets go of the source when it closes, and a closing source needs its loop.
    private let loop: Loop
    private var isOpen = true
    private let partsMax: Int
    private let receive: ([[UInt8]]) -> Void
    private let fail: (ZMQFailure) -> Void

    init(
      _ socket: consuming ZMQSocket, on loop: Loop, partsMax: Int, receive: @escaping ([[UInt8]]) -> Void,
      fail: @escaping (ZMQFailure) -> Void
    ) throws(ZMQFailure) {
      descriptor = try socket.descriptor()
      self.socket = socket
      self.loop = loop
      self.partsMax = partsMax
      self.receive = receive
      self.fail = fail
      loop.add(self)
    }

    /// Receives until libzmq says that there is nothing more: only then will its descriptor, which is edge-triggered,
    /// wake the loop again.
    func drain() -> Bool {
      for _ in 0..<TransportLimits.messagesPerDrainMax {
        // A receiver may close it.
        guard isOpen else { return false }
        do {
          guard let parts = try socket.receiveParts(max: partsMax) else { return false }
          receive(parts)
        } catch {
          fail(error)
          return false
        }
      }
      return true
    }

    /// Sends a message; the parts go together or not at all. The send may have eaten the descriptor's edge, so the loop
    /// looks again.
    func send(_ parts: [[UInt8]]) -> ZMQOutcome {
      guard isOpen else { return .unreachable }
      defer { loop.touch(self) }
      do {
        let outcome = try attempt(parts)
        if case .done = outcome { return outcome }
        // For a millisecond after it last looked, a sending socket ignores what its I/O thread has told it: a connection
        // that stands, room that has come. Asking for its events makes it look.
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
        // Only the first part can be turned away: libzmq decides for the whole message then.
        guard case .done = outcome else { return outcome }
      }
      return .done
    }

    /// Connects anew, whatever has become of the connection.
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
