import RunBus

/// A receipt as `send --json` writes it: with a sentence that says what the command does next.
struct ReceiptLineJSON: Encodable {
  private enum Key: String, CodingKey { case message }

  let receipt: Receipt
  let message: String

  func encode(to encoder: any Encoder) throws {
    try receipt.encode(to: encoder)
    // Replaces the receipt's own sentence.
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(message, forKey: .message)
  }
}
