/// The answer to a question that was asked with a live message. It is a live message, too.
package enum Reply: Hashable, Sendable {
  /// The content of the answer.
  case answer([UInt8])
  /// There is no answer, for this reason.
  case failed(String)

  /// The name of every message that is an answer.
  package static let messageName = "runbus.reply"
  /// The longest content: a body without the question's id and the kind.
  package static let contentMax = AppMessage.bodyMax - headerCount
  private static let headerCount = 17
  /// As for every sentence on the wire.
  private static let reasonMax = 1024

  /// The body of the message: the question's 16 bytes, the kind (0 or 1), then the content or the reason.
  package func body(to question: MessageID) -> [UInt8] {
    switch self {
    case .answer(let content): question.bytes + [0] + content
    case .failed(let reason): question.bytes + [1] + Array(reason.carried(bytesMax: Self.reasonMax).utf8)
    }
  }

  /// Reads the body of an answer.
  ///
  /// - Returns: the question's id and the answer; `nil` when the body has no header. A kind that is not known is a
  ///   failure.
  package static func read(_ body: [UInt8]) -> (question: MessageID, reply: Reply)? {
    guard body.count >= headerCount, let question = MessageID(bytes: body.prefix(16)) else { return nil }
    let content = Array(body.dropFirst(headerCount))
    switch body[16] {
    case 0: return (question, .answer(content))
    case 1: return (question, .failed(String(decoding: content, as: UTF8.self).carried(bytesMax: reasonMax)))
    default: return (question, .failed("the answer is of a kind that this version does not know"))
    }
  }
}
