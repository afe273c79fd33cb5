import Foundation
import RunBus
import Testing

@Suite("Bodies of messages")
struct MessageBodyTests {
  private struct Photo: Codable, Equatable, Sendable {
    let title: String
    let jpeg: Data
  }

  @Test("Data is carried as it is")
  func data() {
    let message = AppMessage(name: "photo", body: Data([0, 1, 255]))
    #expect(message.name == "photo" && message.body == [0, 1, 255] && message.data == Data([0, 1, 255]))
    #expect(message.id != AppMessage(name: "photo", body: Data()).id)
  }

  @Test("A value is carried as JSON, and with coders of one's own as these write it")
  func json() throws {
    let photo = Photo(title: "bridge", jpeg: Data([1, 2, 3]))
    let message = try AppMessage(name: "photo", encoding: photo)
    #expect(try message.decode(as: Photo.self) == photo)
    let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
    encoder.dateEncodingStrategy = .secondsSince1970
    decoder.dateDecodingStrategy = .secondsSince1970
    let date = Date(timeIntervalSince1970: 1_000_000)
    let dated = try AppMessage(name: "date", encoding: [date], using: encoder)
    #expect(String(decoding: dated.body, as: UTF8.self) == "[1000000]")
    #expect(try dated.decode(as: [Date].self, using: decoder) == [date])
  }

  @Test("A body that is too long, cannot be written or is something else is bad input, in one line")
  func wrong() throws {
    let long = Photo(title: "bridge", jpeg: Data(count: 25_000))
    let tooLong = #expect(throws: RunBusError.self) { try AppMessage(name: "photo", encoding: long) }
    #expect(tooLong?.code == .badInput)
    #expect(tooLong?.message.contains("a body has at most 32768") == true)
    let notJSON = #expect(throws: RunBusError.self) { try AppMessage(name: "number", encoding: [Double.nan]) }
    #expect(notJSON?.code == .badInput)
    let other = #expect(throws: RunBusError.self) {
      try AppMessage(name: "photo", body: Data("[]".utf8)).decode(as: Photo.self)
    }
    #expect(other?.code == .badInput && other?.cause is DecodingError)
  }
}
