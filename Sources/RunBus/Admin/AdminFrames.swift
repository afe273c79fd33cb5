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

  /// Encodes the answer to what is no inquiry.
  static func frame(refusing error: WireError) -> [UInt8] {
    Codec.encode(HubFrame(session: 0, message: .refused(Refusal(code: .malformed, message: "\(error)"))))
  }

  /// Decodes an inquiry.
  ///
  /// - Throws: why the bytes are no inquiry.
  static func inquiry(in bytes: [UInt8]) throws(WireError) -> Inquiry {
    guard case .inquire(let inquiry) = try Codec.peerFrame(bytes).message else {
      throw .malformed("an admin socket answers inquiries alone")
    }
    return inquiry
  }

  /// Decodes an answer; `nil` when the bytes are no answer.
  static func answer(in bytes: [UInt8]) -> InquiryAnswer? {
    guard let frame = try? Codec.hubFrame(bytes), case .answer(let answer) = frame.message else { return nil }
    return answer
  }

  /// Decodes the reason of a refusal; `nil` when the bytes are no refusal.
  static func refusal(in bytes: [UInt8]) -> String? {
    guard let frame = try? Codec.hubFrame(bytes), case .refused(let refusal) = frame.message else { return nil }
    return refusal.message
  }
}
