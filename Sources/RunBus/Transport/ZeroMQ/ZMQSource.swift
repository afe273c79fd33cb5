#if ZeroMQ
  /// A libzmq socket on a loop: drained until it has nothing more, a bounded number of messages a turn.
  final class ZMQSource: LoopSource {
    /// So many messages a turn, then others get theirs.
    private static let messagesMax = 256
    let descriptor: CInt
    private(set) var socket: ZMQSocket
    private unowned let loop: Loop
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

    func drain() -> Bool {
      for _ in 0..<Self.messagesMax {
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
        for (index, part) in parts.enumerated() {
          let outcome = try socket.send(part, more: index < parts.count - 1)
          // Only the first part can be turned away: libzmq decides for the whole message then.
          guard case .done = outcome else { return outcome }
        }
        return .done
      } catch {
        fail(error)
        return .unreachable
      }
    }

    func set(_ option: CInt, _ value: CInt) { try? socket.set(option, value) }

    /// Closes the socket; idempotent.
    func close() {
      guard isOpen else { return }
      isOpen = false
      loop.remove(self)
      socket.close()
    }
  }
#endif
