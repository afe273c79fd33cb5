public import Foundation
public import RunCore

extension AppMessage {
  /// A message with a random id and these bytes.
  ///
  /// - Parameters:
  ///   - name: What the message is about.
  ///   - body: The content, at most 32,768 bytes; the sending node refuses a longer one.
  public init(name: MessageName, body: Data) { self.init(id: .random(), name: name.rawValue, body: Array(body)) }

  /// A message with a random id whose body is a value as JSON.
  ///
  /// ```swift
  /// struct Photo: Codable, Sendable {
  ///   let title: String
  ///   let jpeg: Data
  /// }
  /// try await watch.post(AppMessage(name: "photo", encoding: photo), by: .queued)
  /// ```
  ///
  /// JSON writes `Data` in base64, which makes it a third longer: a message takes about 24 KB of it. A body of bytes
  /// (``init(name:body:)-(_,Data)``) takes 32,768.
  ///
  /// - Parameters:
  ///   - name: What the message is about.
  ///   - value: The content.
  ///   - encoder: The encoder of the body. The receiver needs a decoder that fits.
  /// - Throws: ``RunBus/RunBusError/Code/badInput`` for a value that cannot be encoded or takes more than 32,768 bytes.
  public init(
    name: MessageName, encoding value: some Encodable, using encoder: JSONEncoder = JSONEncoder()
  ) throws(RunBusError) {
    let body = try encoder.body(value, of: name.rawValue)
    guard body.count <= AppMessage.bodyMax else {
      throw RunBusError(
        .badInput,
        "the message \"\(name)\" would have \(body.count) bytes: a body has at most \(AppMessage.bodyMax)")
    }
    self.init(name: name, body: body)
  }

  /// The body.
  public var data: Data { Data(body) }

  /// Reads the body as JSON.
  ///
  /// - Parameters:
  ///   - type: The type of the content.
  ///   - decoder: The decoder of the body.
  /// - Throws: ``RunBus/RunBusError/Code/badInput`` for a body that cannot be decoded, with the decoder's error as its
  ///   cause.
  public func decode<Content: Decodable>(
    as type: Content.Type, using decoder: JSONDecoder = JSONDecoder()
  ) throws(RunBusError) -> Content {
    try decoder.value(type, from: data, of: name)
  }
}

extension JSONEncoder {
  func body(_ value: some Encodable, of name: String) throws(RunBusError) -> Data {
    do { return try encode(value) } catch {
      throw RunBusError(.badInput, "the body of \"\(name)\" cannot be written: \(error)", cause: error)
    }
  }
}

extension JSONDecoder {
  func value<Content: Decodable>(
    _ type: Content.Type, from body: Data, of name: String
  ) throws(RunBusError) -> Content {
    do { return try decode(type, from: body) } catch {
      throw RunBusError(.badInput, "the body of \"\(name)\" is no \(type): \(error)", cause: error)
    }
  }
}
