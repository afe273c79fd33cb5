import RunCore
import Testing

@testable import RunWire

/// Bytes of wire version 3, made once by the Python library from the descriptor set. If one of these tests fails, the
/// wire has changed for every existing client: revert the schema.
@Suite("The bytes on the wire do not change")
struct CodecGoldenTests {
  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
  private func unhex(_ text: String) -> [UInt8] {
    stride(from: 0, to: text.count, by: 2).compactMap { UInt8(text.dropFirst($0).prefix(2), radix: 16) }
  }

  private static let id = MessageID(high: 0x5152_5354_5556_5758, low: 0x595A_5B5C_5D5E_5F60)
  private static let otherID = MessageID(high: 0x6162_6364_6566_6768, low: 0x696A_6B6C_6D6E_6F70)
  private static let zones = AppMessage(id: id, name: "zones", body: [0, 0xFF])

  @Test("A hello with its marks")
  func hello() throws {
    let hello = Hello(
      deviceID: DeviceID("watch"), role: .watch,
      nodeID: NodeID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10),
      storeID: StoreID(high: 0x1112_1314_1516_1718, low: 0x191A_1B1C_1D1E_1F20), nonce: 0xA1A2_A3A4_A5A6_A7A8,
      termSeen: 3, hub: StoreID(high: 0x4142_4344_4546_4748, low: 0x494A_4B4C_4D4E_4F50),
      acknowledged: [.samples: 0, .commands: 5],
      received: [.verdicts: StreamMark(sequence: 2), .messages: StreamMark(sequence: 300, id: Self.id)])
    let frame = PeerFrame(session: 0, sentAt: BusTime(nanoseconds: 1_000_000_000), message: .hello(hello))
    #expect(
      hex(Codec.encode(frame)) == """
        108094ebdc031a7a0803120577617463681a05776174636822100102030405060708090a0b0c0d0e0f102a1011121314\
        15161718191a1b1c1d1e1f2031a8a7a6a5a4a3a2a138034a104142434445464748494a4b4c4d4e4f505204080110\
        05520208025a17080310ac021a105152535455565758595a5b5c5d5e5f605a0408041002
        """)
  }

  @Test("A hello of version 1 is recognised as version 1")
  func helloOfVersion1() throws {
    let bytes = unhex(
      """
      108094ebdc031a410801120577617463681a05776174636822100102030405060708090a0b0c0d0e0f102a1011121314\
      15161718191a1b1c1d1e1f2031a8a7a6a5a4a3a2a138034001
      """)
    guard case .hello(let hello) = try Codec.peerFrame(bytes).message else {
      Issue.record("not a hello")
      return
    }
    #expect(hello.version == 1)
    #expect(hello.deviceID == DeviceID("watch"))
  }

  @Test("A command")
  func command() {
    let command = Command(
      id: CommandID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10), kind: .pause, source: .liveActivity,
      runID: RunID(high: 0x2122_2324_2526_2728, low: 0x292A_2B2C_2D2E_2F30),
      base: ObservedRevision(
        revision: 1, commandID: CommandID(high: 0x3132_3334_3536_3738, low: 0x393A_3B3C_3D3E_3F40)),
      runOffset: BusDuration(nanoseconds: 12_000_000_000))
    let transmission = CommandTransmission(
      command: command, sequence: 2, age: .milliseconds(40), isUncertain: true, stopFollows: true)
    let frame = PeerFrame(session: 77, sentAt: BusTime(nanoseconds: 2_000_000_000), message: .command(transmission))
    #expect(
      hex(Codec.encode(frame)) == """
        084d1080a8d6b907225d0a500a100102030405060708090a0b0c0d0e0f1010021a0c6c69766541637469766974792210\
        2122232425262728292a2b2c2d2e2f302a14080112103132333435363738393a3b3c3d3e3f403080f085da2c10021880\
        b4891320012801
        """)
  }

  @Test("A conditional command has a kind of its own and its revision; its verdict has the plain kind")
  func conditionalCommand() {
    let id = CommandID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10)
    var command = Command(id: id, kind: .pause, source: .shell)
    command.ifRevision = 300
    let transmission = CommandTransmission(command: command, sequence: 2, age: .zero)
    #expect(
      hex(Codec.encode(PeerFrame(session: 77, sentAt: BusTime(nanoseconds: 1), message: .command(transmission)))) == """
        084d100122220a1e0a100102030405060708090a0b0c0d0e0f1010221a057368656c6c40ac021002
        """)
    let verdict = Verdict(
      commandID: id, kind: .pause, source: .shell, outcome: .rejected(.revisionChanged(300)), runID: nil, term: 2,
      revision: 7, effectiveAt: nil)
    let receipt = Receipt(commandID: id, kind: .pause, source: .shell, stage: .verdict(verdict))
    #expect(
      hex(Codec.encode(HubFrame(session: 77, message: .receipt(receipt)))) == """
        084d22280a100102030405060708090a0b0c0d0e0f1010021a057368656c6c320b2205080b18ac0230023807
        """)
  }

  @Test(
    "Deliveries in both directions",
    arguments: [
      (
        .messages([
          MessageTransmission(sequence: 1, message: zones),
          MessageTransmission(sequence: 2, message: AppMessage(id: otherID, name: "z", body: [])),
        ]),
        """
        0a3e0a210801121d0a105152535455565758595a5b5c5d5e5f6012057a6f6e65731a0200ff0a19080212150a10616263\
        6465666768696a6b6c6d6e6f7012017a
        """
      ),
      (.tombstones(.samples, from: 3, through: 300), "1a070802100318ac02"),
      (.acknowledge(.commands, through: 300), "2205080110ac02"),
      (.delivered(through: 4), "2a020804"),
      (.goBack(.messages, to: 4, failure: "no"), "3208080310041a026e6f"),
      (
        .latest(key: "goal", version: 5, zones),
        "3a270a04676f616c10051a1d0a105152535455565758595a5b5c5d5e5f6012057a6f6e65731a0200ff"
      ),
      (.acknowledgeLatest(key: "goal", version: 5), "42080a04676f616c1005"),
      (.refuseLatest(key: "goal", version: 5), "420a0a04676f616c10051801"),
      (.live(zones), "4a1f0a1d0a105152535455565758595a5b5c5d5e5f6012057a6f6e65731a0200ff"),
    ] as [(DeliveryMessage, String)])
  func delivery(delivery: DeliveryMessage, bytes: String) {
    let length = unhex(bytes).count
    let peer = PeerFrame(session: 77, sentAt: BusTime(nanoseconds: 1), message: .delivery(delivery))
    #expect(hex(Codec.encode(peer)) == "084d100152" + hex([UInt8(length)]) + bytes)
    let hub = HubFrame(session: 77, message: .delivery(delivery))
    #expect(hex(Codec.encode(hub)) == "084d2a" + hex([UInt8(length)]) + bytes)
  }

  @Test("Verdicts with their sequence numbers")
  func verdicts() {
    let id = CommandID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10)
    let verdict = Verdict(
      commandID: id, kind: .pause, source: .watch, outcome: .rejected(.illegal(.paused)), runID: nil, term: 2,
      revision: 7, effectiveAt: nil)
    let receipt = Receipt(commandID: id, kind: .pause, source: .watch, stage: .verdict(verdict))
    let transmission = VerdictTransmission(sequence: 9, receipt: receipt)
    #expect(
      hex(Codec.encode(HubFrame(session: 77, message: .delivery(.verdicts([transmission]))))) == """
        084d2a2f122d0a2b080912270a100102030405060708090a0b0c0d0e0f1010021a057761746368320a22040801100330\
        023807
        """)
  }

  @Test("A ping with a round trip, an inquiry and an answer")
  func others() {
    func peer(_ message: PeerMessage) -> String {
      hex(Codec.encode(PeerFrame(session: 77, sentAt: BusTime(nanoseconds: 1), message: message)))
    }
    #expect(
      peer(.ping(4, nextWithin: .seconds(10), roundTrip: BusDuration(nanoseconds: 1_500_000)))
        == "084d1001320c080410e0c65b1880c8afa025")
    #expect(peer(.inquire(.cancel(Self.id))) == "084d10015a121a105152535455565758595a5b5c5d5e5f60")
    #expect(
      hex(Codec.encode(HubFrame(session: 77, message: .answer(.done(Self.otherID)))))
        == "084d421422120a106162636465666768696a6b6c6d6e6f70")
  }
}
