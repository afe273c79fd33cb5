import RunCore
import SwiftProtobuf
import Testing

@testable import RunWire

@Suite("The encoder of one pass writes what SwiftProtobuf writes")
struct OnePassEncoderTests {
  private func expectAlike(_ message: some Message, _ what: @autoclosure () -> String) throws {
    let library: [UInt8] = try message.serializedBytes()
    try #require(OnePassEncoder.encode(message) == library, "\(what())")
  }

  @Test("Frames and events of all kinds", arguments: [11, 12, 13, 14] as [UInt64])
  func frames(seed: UInt64) throws {
    var random = RandomMessages(seed: seed)
    for round in 0..<1000 {
      try expectAlike(Codec.message(random.peerFrame()), "peer's frame, seed \(seed), round \(round)")
      try expectAlike(Codec.message(random.hubFrame(), within: .full), "hub's frame, seed \(seed), round \(round)")
      try expectAlike(Codec.message(random.busEvent()), "event, seed \(seed), round \(round)")
    }
  }

  @Test("A nested message of any length: its length takes from one to four bytes")
  func lengths() throws {
    for count in [0, 1, 100, 126, 127, 128, 129, 16_383, 16_384, 70_000, 2_097_152] {
      var item = WireHello()
      item.deviceID = String(repeating: "x", count: count)
      var frame = WirePeerFrame()
      frame.message = .hello(item)
      try expectAlike(frame, "\(count) bytes")
    }
  }

  @Test("Fields that this version does not know stay as they came")
  func unknownFields() throws {
    // Field 1000 with the varint 5.
    let frame = try WirePeerFrame(serializedBytes: [0x08, 0x07, 0xC0, 0x3E, 0x05] as [UInt8])
    try expectAlike(frame, "unknown field")
    #expect(OnePassEncoder.encode(frame).count == 5)
  }
}
