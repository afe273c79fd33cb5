import RunCore
import SwiftProtobuf
import TestSupport
import Testing

@testable import RunWire

@Suite("Messages of rooms on the wire")
struct CodecTogetherTests {
  @Test(
    "What members write decodes to the same again, and stays far below the largest message",
    arguments: [1, 2, 3] as [UInt64])
  func roundTrips(seed: UInt64) throws {
    var random = RandomMessages(seed: seed)
    for _ in 0..<200 {
      for ask in random.asks() {
        let content = random.content(ask)
        let bytes = Codec.encode(content)
        #expect(try Codec.roomContent(bytes) == content)
        #expect(bytes.count < Codec.roomBytesMax / 2)
        let (again, signature) = try Codec.signedParts(Codec.signed(bytes, signature: Array(repeating: 7, count: 64)))
        #expect(again == bytes && signature == Array(repeating: 7, count: 64))
      }
      let (advert, live) = (random.advert(), random.live())
      #expect(try Codec.roomAdvert(Codec.encode(advert)) == advert)
      #expect(Codec.encode(advert).count < Codec.roomBytesMax / 2)
      #expect(try Codec.roomLive(Codec.encode(live)) == live)
    }
  }

  @Test("The encoder of one pass writes what SwiftProtobuf writes")
  func encoders() throws {
    var random = RandomMessages(seed: 4)
    func expectAlike(_ message: some Message) throws {
      #expect(try OnePassEncoder.encode(message) == message.serializedBytes())
    }
    for _ in 0..<100 {
      for ask in random.asks() { try expectAlike(Codec.message(random.content(ask))) }
      try expectAlike(Codec.message(random.advert()))
      try expectAlike(Codec.message(random.live()))
    }
  }

  @Test("The time of a live message is cut to whole milliseconds")
  func milliseconds() throws {
    var random = RandomMessages(seed: 5)
    var live = random.live()
    live.kind = .standing(.init(elapsed: BusDuration(nanoseconds: 1_999_999), phase: .running))
    let again = try Codec.roomLive(Codec.encode(live))
    #expect(again.kind == .standing(.init(elapsed: BusDuration(nanoseconds: 1_000_000), phase: .running)))
  }

  // MARK: Garbage

  @Test("Bytes with bits flipped, put in and taken out are a value that encodes to itself, or a reason")
  func damage() throws {
    var random = RandomMessages(seed: 6)
    var (taken, refused) = (0, 0)
    func feed<Value: Equatable>(
      _ bytes: [UInt8], _ read: ([UInt8]) throws(WireError) -> Value, _ write: (Value) -> [UInt8]
    ) throws {
      do throws(WireError) {
        let value = try read(bytes)
        taken += 1
        #expect(try read(write(value)) == value)
      } catch {
        refused += 1
        #expect(!error.description.isEmpty && error.description.utf8.count <= 256)
      }
    }
    for _ in 0..<300 {
      for whole in random.asks().map({ Codec.encode(random.content($0)) })
        + [Codec.encode(random.advert()), Codec.encode(random.live())]
      {
        var bytes = whole
        for _ in 0...random.number(below: 3) where !bytes.isEmpty {
          let place = random.number(below: bytes.count)
          switch random.number(below: 4) {
          case 0: bytes.insert(UInt8(truncatingIfNeeded: random.bits()), at: place)
          case 1: bytes.remove(at: place)
          default: bytes[place] ^= 1 << random.number(below: 8)
          }
        }
        try feed(bytes, Codec.roomContent, Codec.encode)
        try feed(bytes, Codec.roomAdvert, Codec.encode)
        try feed(bytes, Codec.roomLive, Codec.encode)
      }
    }
    #expect(taken > 1000 && refused > 1000, "\(taken) \(refused)")
  }

  @Test("A signed message in any form but one is refused")
  func onlyForm() throws {
    let (content, signature) = ([UInt8](repeating: 1, count: 40), [UInt8](repeating: 2, count: 64))
    let whole = Codec.signed(content, signature: signature)
    func isRefused(_ bytes: [UInt8]) -> Bool { (try? Codec.signedParts(bytes)) == nil }
    #expect(!isRefused(whole))
    // A further field; a field twice; the other order; a length in two bytes that needs one; a short signature.
    #expect(isRefused(whole + [0x18, 0x01]))
    #expect(isRefused(whole + whole))
    #expect(isRefused(Array(whole[42...] + whole[..<42])))
    #expect(isRefused([0x0A, 0xA8, 0x00] + whole[2...]))
    #expect(isRefused(Codec.signed(content, signature: Array(signature.dropLast()))))
    #expect(isRefused(Codec.signed(Array(repeating: 1, count: Codec.roomBytesMax), signature: signature)))
  }
}
