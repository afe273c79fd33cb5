import RunCore
import Testing

@testable import RunWire

/// Whatever arrives: a value or a reason, never a crash. What is taken must encode to something that is taken again.
@Suite("Garbage on the wire never stops a node")
struct CodecGarbageTests {
  /// Feeds bytes to every reader.
  private func feed(_ bytes: [UInt8]) throws {
    if let frame = try? Codec.peerFrame(bytes) { #expect(try Codec.peerFrame(Codec.encode(frame)) == frame) }
    if let frame = try? Codec.hubFrame(bytes) { #expect(try Codec.hubFrame(Codec.encode(frame)) == frame) }
    if let event = try? Codec.busEvent(bytes) { #expect(try Codec.busEvent(Codec.encode(event)) == event) }
    _ = Codec.unsupportedCommand(in: bytes, term: 0, revision: 0)
  }

  /// A valid frame of any of the three kinds; what delivers, asks and answers comes as often as all else.
  private func valid(_ random: inout RandomMessages) -> [UInt8] {
    switch random.number(below: 6) {
    case 3...: random.one(of: random.deliveryFrames())
    case 0: Codec.encode(random.peerFrame())
    case 1: Codec.encode(random.hubFrame())
    default: Codec.encode(random.busEvent())
    }
  }

  @Test("Random bytes")
  func randomBytes() throws {
    var random = RandomMessages(seed: 11)
    for _ in 0..<6000 {
      try feed((0..<random.number(below: 200)).map { _ in UInt8(truncatingIfNeeded: random.bits()) })
    }
  }

  @Test("Bit flips in valid frames, and bytes put in and taken out")
  func damage() throws {
    var random = RandomMessages(seed: 12)
    for _ in 0..<10_000 {
      var bytes = valid(&random)
      for _ in 0...random.number(below: 4) where !bytes.isEmpty {
        let place = random.number(below: bytes.count)
        switch random.number(below: 4) {
        case 0: bytes.insert(UInt8(truncatingIfNeeded: random.bits()), at: place)
        case 1: bytes.remove(at: place)
        default: bytes[place] ^= 1 << random.number(below: 8)
        }
      }
      try feed(bytes)
    }
  }

  @Test("Valid frames cut at every length")
  func truncation() throws {
    var random = RandomMessages(seed: 13)
    var cases = 0
    var frames = random.deliveryFrames()
    while !frames.isEmpty || cases < 10_000 {
      let bytes = frames.popLast() ?? valid(&random)
      for length in 0..<bytes.count { try feed(Array(bytes.prefix(length))) }
      cases += bytes.count
    }
  }

  @Test("Two frames in one, so that one message is merged into the other")
  func merged() throws {
    var random = RandomMessages(seed: 14)
    for _ in 0..<2000 { try feed(valid(&random) + valid(&random)) }
  }
}
