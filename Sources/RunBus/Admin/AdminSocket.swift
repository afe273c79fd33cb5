package import RunCore
import RunWire

/// A socket at which a running node answers a shell of the same user. It is needed because a running node locks its
/// store, so that no other process can read it. Used on the loop's thread only.
package protocol AdminSocket: AnyObject {
  /// Stops answering and removes the socket's file. Idempotent.
  func close()
}

/// Opens a node's admin socket. It is a value; the socket itself is made on the loop that owns it.
package protocol AdminSocketOpener: Sendable {
  /// Opens the socket on the loop's thread and passes on what clients send, until ``AdminSocket/close()``.
  ///
  /// Only the holder of the lock of the device's store may open it: ZeroMQ would silently take over the socket of
  /// another node.
  ///
  /// - Parameters:
  ///   - loop: The loop that polls the socket.
  ///   - receive: Gets the bytes of a message and a closure that sends the answer; call the closure once, now or later,
  ///     on the loop's thread. Returns whether the bytes were an inquiry: other messages are counted.
  /// - Throws: ``RunBusError/Code/addressInUse`` when another process listens there, ``RunBusError/Code/transport``
  ///   otherwise.
  func open(
    on loop: Loop, receive: @escaping (_ bytes: [UInt8], _ reply: @escaping @Sendable ([UInt8]) -> Void) -> Bool
  ) throws(RunBusError) -> any AdminSocket
}

extension AdminSocketOpener {
  /// Opens an admin socket at which each inquiry is answered at once, and anything else is refused.
  package func open(
    on loop: Loop, answer: @escaping (Inquiry) -> InquiryAnswer
  ) throws(RunBusError) -> any AdminSocket {
    try open(on: loop, answerLater: { inquiry, reply in reply(answer(inquiry)) })
  }

  /// Opens an admin socket at which an answer may come later, for example after a commit. `reply` is called once, on
  /// the loop's thread. What is no inquiry is refused: a REQ waits for its one reply.
  package func open(
    on loop: Loop,
    answerLater receive: @escaping (_ inquiry: Inquiry, _ reply: @escaping @Sendable (InquiryAnswer) -> Void) -> Void
  ) throws(RunBusError) -> any AdminSocket {
    try open(
      on: loop,
      receive: { bytes, send in
        do throws(WireError) {
          receive(try AdminFrames.inquiry(in: bytes)) { send(AdminFrames.frame($0)) }
          return true
        } catch {
          send(AdminFrames.frame(refusing: error))
          return false
        }
      })
  }
}
