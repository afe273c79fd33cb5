import RunCore
import RunWire

/// The frames on an admin socket: those of the wire, with session 0.
enum AdminFrames {
  /// Encodes an inquiry.
  static func frame(_ inquiry: Inquiry) -> [UInt8] {
    Codec.encode(PeerFrame(session: 0, sentAt: Loop.now, message: .inquire(inquiry)))
  }

  /// Encodes an answer.
  static func frame(_ answer: InquiryAnswer) -> [UInt8] {
    Codec.encode(HubFrame(session: 0, message: .answer(answer)))
  }

  /// Decodes an inquiry; `nil` when the bytes are no inquiry.
  static func inquiry(in bytes: [UInt8]) -> Inquiry? {
    guard let frame = try? Codec.peerFrame(bytes), case .inquire(let inquiry) = frame.message else { return nil }
    return inquiry
  }

  /// Decodes an answer; `nil` when the bytes are no answer.
  static func answer(in bytes: [UInt8]) -> InquiryAnswer? {
    guard let frame = try? Codec.hubFrame(bytes), case .answer(let answer) = frame.message else { return nil }
    return answer
  }
}
