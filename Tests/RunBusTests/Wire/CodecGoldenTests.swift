import RunCore
import Testing

@testable import RunBus

/// Bytes as version 1 published them. When one of these fails, the wire has changed for every client out there: put the
/// schema back, or raise `wireVersion`.
@Suite("The bytes on the wire stay what they are")
struct CodecGoldenTests {
  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test("A hello")
  func hello() throws {
    let hello = Hello(
      deviceID: try #require(DeviceID("watch")), role: .watch,
      nodeID: NodeID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10),
      storeID: StoreID(high: 0x1112_1314_1516_1718, low: 0x191A_1B1C_1D1E_1F20), nonce: 0xA1A2_A3A4_A5A6_A7A8,
      termSeen: 3, isOneShot: true)
    let frame = PeerFrame(session: 0, sentAt: BusTime(nanoseconds: 1_000_000_000), message: .hello(hello))
    #expect(
      hex(Codec.encode(frame)) == """
        108094ebdc031a410801120577617463681a05776174636822100102030405060708090a0b0c0d0e0f102a1011121314\
        15161718191a1b1c1d1e1f2031a8a7a6a5a4a3a2a138034001
        """)
  }

  @Test("A command")
  func command() {
    let command = Command(
      id: CommandID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10), kind: .pause, source: .liveActivity,
      runID: RunID(high: 0x2122_2324_2526_2728, low: 0x292A_2B2C_2D2E_2F30),
      base: Base(revision: 1, commandID: CommandID(high: 0x3132_3334_3536_3738, low: 0x393A_3B3C_3D3E_3F40)),
      runOffset: BusDuration(nanoseconds: 12_000_000_000))
    let transmission = Transmission(
      command: command, sequence: 2, age: .milliseconds(40), isUncertain: true, stopFollows: true)
    let frame = PeerFrame(session: 77, sentAt: BusTime(nanoseconds: 2_000_000_000), message: .command(transmission))
    #expect(
      hex(Codec.encode(frame)) == """
        084d1080a8d6b907225d0a500a100102030405060708090a0b0c0d0e0f1010021a0c6c69766541637469766974792210\
        2122232425262728292a2b2c2d2e2f302a14080112103132333435363738393a3b3c3d3e3f403080f085da2c10021880\
        b4891320012801
        """)
  }
}
