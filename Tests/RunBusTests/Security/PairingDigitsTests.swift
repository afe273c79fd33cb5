import RunCore
import Testing

@testable import RunBus

@Suite("The six digits of a pairing")
struct PairingDigitsTests {
  private let hub = KeyFingerprint((0..<32).map { UInt8($0) })
  private let device = KeyFingerprint((100..<132).map { UInt8($0) })
  private let token = (200..<216).map { UInt8($0) }

  private func digits(
    _ hub: KeyFingerprint?, _ device: KeyFingerprint?, _ token: [UInt8]
  ) throws -> String {
    let (hub, device) = (try #require(hub), try #require(device))
    return try #require(PairingDigits(hub: hub, device: device, token: token)).description
  }

  /// Computed with Python's hashlib:
  ///
  ///     digest = hashlib.sha256(b"runbus-pairing-1" + hub + device + token).digest()
  ///     "%06d" % (int.from_bytes(digest[:8], "big") % 1000000)
  @Test("Both sides compute the digits that another implementation computes")
  func vectors() throws {
    #expect(try digits(hub, device, token) == "233 611")
    #expect(try digits(hub, device, [UInt8](repeating: 0, count: 16)) == "377 940")
    let zeros = KeyFingerprint([UInt8](repeating: 0, count: 32))
    #expect(try digits(zeros, zeros, [UInt8](repeating: 0, count: 16)) == "917 657")
    // 311 as a big-endian number of 16 bytes.
    #expect(try digits(hub, device, [UInt8](repeating: 0, count: 14) + [1, 55]) == "000 144")
  }

  @Test("The hub's key is the first: with the keys exchanged the digits are others")
  func order() throws {
    #expect(try digits(device, hub, token) == "340 426")
  }

  @Test("A token of another length has no digits", arguments: [0, 15, 17])
  func token(count: Int) throws {
    let (hub, device) = (try #require(hub), try #require(device))
    #expect(PairingDigits(hub: hub, device: device, token: [UInt8](repeating: 1, count: count)) == nil)
  }
}
