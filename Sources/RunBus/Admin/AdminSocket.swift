public import RunCore

/// Where a running node answers a shell of the same user: what it holds, and what is to become of it. The node owns its
/// store, so nobody else can look. Used on the loop's thread only.
public protocol AdminSocket: AnyObject {
  /// Answers nobody any more and leaves no file behind. Idempotent.
  func close()
}

/// How a node opens its door. A value: the door itself is made on the loop that owns it.
public protocol AdminSocketOpener: Sendable {
  /// Opens on the loop's thread and hands over what askers send, until ``AdminSocket/close()``.
  ///
  /// `receive` gets the bytes and what sends an answer back: once, now or later, on the loop's thread. It returns whether
  /// the bytes were a question; what was none is counted and gets no answer.
  ///
  /// Only who holds the lock of the device's store may open: an older node's door would be taken over without a word.
  /// Throws ``RunBusError/Code/busHeld`` when somebody else listens there, ``RunBusError/Code/transport`` otherwise.
  func open(
    on loop: Loop, receive: @escaping (_ bytes: [UInt8], _ reply: @escaping @Sendable ([UInt8]) -> Void) -> Bool
  ) throws(RunBusError) -> any AdminSocket
}

extension AdminSocketOpener {
  /// Opens a door at which every question is answered at once.
  public func open(
    on loop: Loop, answer: @escaping (Inquiry) -> InquiryAnswer
  ) throws(RunBusError) -> any AdminSocket {
    try open(on: loop, answerLater: { inquiry, reply in reply(answer(inquiry)) })
  }

  /// Opens a door at which an answer may wait for something: a commit, before it says that something was done.
  /// `reply` is called once, on the loop's thread.
  public func open(
    on loop: Loop,
    answerLater receive: @escaping (_ inquiry: Inquiry, _ reply: @escaping @Sendable (InquiryAnswer) -> Void) -> Void
  ) throws(RunBusError) -> any AdminSocket {
    try open(
      on: loop,
      receive: { bytes, send in
        guard let inquiry = AdminFrames.inquiry(in: bytes) else { return false }
        receive(inquiry) { send(AdminFrames.frame($0)) }
        return true
      })
  }
}
