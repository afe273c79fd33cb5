import RunCore
import RunWire

/// What goes through a door: the wire's own frames, without a session.
enum AdminFrames {
  /// The frame of a question.
  static func frame(_ inquiry: Inquiry) -> [UInt8] {
    Codec.encode(PeerFrame(session: 0, sentAt: Loop.now, message: .inquire(inquiry)))
  }

  /// The frame of an answer.
  static func frame(_ answer: InquiryAnswer) -> [UInt8] {
    Codec.encode(HubFrame(session: 0, message: .answer(answer)))
  }

  /// The question in a frame; `nil` when it is none.
  static func inquiry(in bytes: [UInt8]) -> Inquiry? {
    guard let frame = try? Codec.peerFrame(bytes), case .inquire(let inquiry) = frame.message else { return nil }
    return inquiry
  }

  /// The answer in a frame; `nil` when it is none.
  static func answer(in bytes: [UInt8]) -> InquiryAnswer? {
    guard let frame = try? Codec.hubFrame(bytes), case .answer(let answer) = frame.message else { return nil }
    return answer
  }
}
