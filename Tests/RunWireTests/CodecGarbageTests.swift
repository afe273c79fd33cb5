import RunCore
import SwiftProtobuf
import Testing

@testable import RunWire

/// Whatever arrives is a value or a reason, never a crash. What is taken encodes to bytes that decode to the same.
@Suite("Garbage on the wire never stops a node")
struct CodecGarbageTests {
  /// What the readers made of all bytes so far, so that no test passes because nothing is ever taken or refused.
  private struct Tally {
    var taken = 0
    var refused = 0
    var unsupported = 0
  }
  private var tally = Tally()

  /// Feeds bytes to every reader.
  private mutating func feed(_ bytes: [UInt8]) throws {
    let refusal = try feed(bytes, Codec.peerFrame, Codec.encode)
    try feed(bytes, Codec.hubFrame) { Codec.encode($0) }
    try feed(bytes, Codec.busEvent, Codec.encode)
    // Only a command of an unknown kind is answered; the answer speaks of that command in the frame's own session.
    let answer = Codec.unsupportedCommand(in: bytes, term: 3, revision: 7)
    guard case .unsupportedKind(let id)? = refusal else {
      #expect(answer == nil, "\(bytes)")
      return
    }
    tally.unsupported += 1
    let unsupported = try #require(answer)
    let reply = try WireHubFrame(serializedBytes: unsupported.reply)
    #expect(reply.session == unsupported.session)
    #expect(Array(reply.receipt.commandID) == id.bytes)
    #expect(reply.receipt.verdict.term == 3 && reply.receipt.verdict.revision == 7)
  }

  /// Feeds bytes to one reader; why they were refused, `nil` when they were taken.
  @discardableResult
  private mutating func feed<Frame: Equatable>(
    _ bytes: [UInt8], _ read: ([UInt8]) throws(WireError) -> Frame, _ write: (Frame) -> [UInt8]
  ) throws -> WireError? {
    let frame: Frame
    do {
      frame = try read(bytes)
    } catch {
      tally.refused += 1
      // The reason is logged, and sent back to whoever sent the bytes.
      let reason = error.description
      #expect(!reason.isEmpty && reason.utf8.count <= 256, "\(reason.utf8.count) bytes")
      #expect(reason.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "\(reason)")
      return error
    }
    tally.taken += 1
    #expect(try read(write(frame)) == frame)
    return nil
  }

  /// A valid frame of any of the three kinds; what delivers, asks and answers comes most often, and commands have their share.
  private func valid(_ random: inout RandomMessages) -> [UInt8] {
    switch random.number(below: 7) {
    case 4...: random.one(of: random.deliveryFrames())
    case 3: Codec.encode(PeerFrame(session: 1, sentAt: .zero, message: .command(random.transmission())))
    case 0: Codec.encode(random.peerFrame())
    case 1: Codec.encode(random.hubFrame())
    default: Codec.encode(random.busEvent())
    }
  }

  @Test("Random bytes are refused, all of them")
  mutating func randomBytes() throws {
    var random = RandomMessages(seed: 11)
    for _ in 0..<6000 {
      try feed((0..<random.number(below: 200)).map { _ in UInt8(truncatingIfNeeded: random.bits()) })
    }
    #expect(tally.taken == 0 && tally.refused == 18_000)
  }

  @Test("Bit flips in valid frames, and bytes put in and taken out")
  mutating func damage() throws {
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
    #expect(tally.taken > 1000 && tally.refused > 1000 && tally.unsupported > 0, "\(tally)")
  }

  // The message is the last field of every frame, and its length stands before it.
  @Test("Valid frames cut at every length are refused, all of them")
  mutating func truncation() throws {
    var random = RandomMessages(seed: 13)
    var cases = 0
    var frames = random.deliveryFrames()
    while !frames.isEmpty || cases < 10_000 {
      let bytes = frames.popLast() ?? valid(&random)
      for length in 0..<bytes.count { try feed(Array(bytes.prefix(length))) }
      cases += bytes.count
    }
    #expect(tally.taken == 0 && tally.refused == 3 * cases, "\(tally)")
  }

  @Test("Two frames in one: the later one's message replaces an earlier one of another case")
  mutating func merged() throws {
    var random = RandomMessages(seed: 14)
    var replaced = 0
    for _ in 0..<1000 {
      let (first, second) = (random.peerFrame(), random.peerFrame())
      let both = Codec.encode(first) + Codec.encode(second)
      try feed(both)
      if name(of: first.message) != name(of: second.message) {
        // A number that is zero is not on the wire, and does not replace another.
        let session = second.session == 0 ? first.session : second.session
        let sentAt = second.sentAt == .zero ? first.sentAt : second.sentAt
        #expect(try Codec.peerFrame(both) == PeerFrame(session: session, sentAt: sentAt, message: second.message))
        replaced += 1
      }
    }
    for _ in 0..<1000 {
      let (first, second) = (random.hubFrame(), random.hubFrame())
      let both = Codec.encode(first) + Codec.encode(second)
      try feed(both)
      if name(of: first.message) != name(of: second.message) {
        let session = second.session == 0 ? first.session : second.session
        #expect(try Codec.hubFrame(both) == HubFrame(session: session, message: second.message))
        replaced += 1
      }
    }
    for _ in 0..<1000 {
      let (first, second) = (random.busEvent(), random.busEvent())
      let both = Codec.encode(first) + Codec.encode(second)
      try feed(both)
      if name(of: first) != name(of: second) {
        #expect(try Codec.busEvent(both) == second)
        replaced += 1
      }
    }
    // A request of a peer and an answer of the hub have nothing to do with each other.
    for _ in 0..<1000 { try feed(valid(&random) + valid(&random)) }
    #expect(replaced > 2000)
  }

  /// The name of a case, whatever it holds.
  private func name(of message: some Any) -> String {
    Mirror(reflecting: message).children.first?.label ?? "\(message)"
  }
}
