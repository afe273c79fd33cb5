#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import RunCore
import SwiftProtobuf
import Testing

@testable import RunWire

@Suite("Requests on the wire")
struct CodecRequestTests {
  private static let id = CommandID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10)

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private func frame(_ change: (inout WireRequest) -> Void) throws -> [UInt8] {
    var request = WireRequest()
    request.version = wireVersion
    request.command.command.id = Data(repeating: 7, count: 16)
    request.command.command.kind = .pause
    request.command.command.source = "shell"
    request.command.deviceID = "script"
    change(&request)
    var frame = WirePeerFrame()
    frame.request = request
    return try frame.serializedBytes()
  }

  private func reason(_ bytes: [UInt8]) -> String? {
    do {
      _ = try Codec.peerFrame(bytes)
      return nil
    } catch {
      return error.description
    }
  }

  @Test("The bytes of a request and of its answer")
  func golden() {
    let command = CommandRequest(
      command: Command(id: Self.id, kind: .pause, source: .shell), deviceID: DeviceID("script"),
      age: .milliseconds(1500), isUncertain: true,
      pressed: MachineTime(bootID: "boot", reading: .zero + .seconds(2)))
    let version = hex([UInt8(wireVersion)])
    #expect(
      hex(
        Codec.encode(
          PeerFrame(session: 0, sentAt: .zero + .seconds(1), message: .request(Request(.command(command))))))
        == "108094ebdc034a3f28" + version + """
          323b0a1b0a100102030405060708090a0b0c0d0e0f1010021a057368656c6c12067363726970741880dea0cb0520012a\
          0c0a04626f6f741080a8d6b907
          """)
    #expect(
      hex(Codec.encode(PeerFrame(session: 0, sentAt: .zero, message: .request(Request(.state)))))
        == "4a0428" + version + "3a00")
    let verdict = Verdict(
      commandID: Self.id, kind: .pause, source: .shell, outcome: .applied, runID: nil, term: 1, revision: 2,
      effectiveAt: nil)
    let receipt = Receipt(
      commandID: Self.id, kind: .pause, source: .shell, stage: .verdict(verdict), phase: .paused)
    #expect(
      hex(Codec.encode(HubFrame(session: 0, message: .receipt(receipt))))
        == "22250a100102030405060708090a0b0c0d0e0f1010021a057368656c6c32060a00300138024003")
  }

  @Test("Each rule of a request")
  func rules() throws {
    #expect(reason(try frame { _ in }) == nil)
    #expect(reason(try frame { $0.subject = nil }) == "request without a subject that is known")
    #expect(reason(try frame { $0.command.clearCommand() }) == "request without a command")
    #expect(reason(try frame { $0.command.deviceID = "no name" }) == "device id is not a name")
    #expect(reason(try frame { $0.command.ageNs = -1 }) == "command age is negative")
    #expect(reason(try frame { $0.command.pressed.monotonicNs = 1 }) == "boot id is missing")
    #expect(
      reason(try frame { $0.command.pressed.bootID = String(repeating: "x", count: 65) })
        == "boot id is longer than 64 bytes")
    for reading in [Int64.min, -1, .max] {
      #expect(
        reason(
          try frame {
            $0.command.pressed.bootID = "boot"
            $0.command.pressed.monotonicNs = reading
          }) == nil)
    }
  }

  @Test("A request of another version is recognised even if the rest of it cannot be read")
  func otherVersions() throws {
    #expect(throws: WireError.versionMismatch(wireVersion + 1)) {
      try Codec.peerFrame(
        try frame {
          $0.version = wireVersion + 1
          $0.subject = nil
        })
    }
    // A request of version 2: a command, the device, the age; it stated no version.
    let old: [UInt8] = [0x4A, 0x0A, 0x0A, 0x02, 0x0A, 0x00, 0x12, 0x02, 0x61, 0x62, 0x18, 0x01]
    #expect(throws: WireError.versionMismatch(0)) { try Codec.peerFrame(old) }
    // A kind that is not known is no reason to answer a command of another version.
    let bytes = try frame {
      $0.version = wireVersion + 1
      $0.command.command.kind = .UNRECOGNIZED(77)
    }
    #expect(Codec.unsupportedCommand(in: bytes, term: 1, revision: 1) == nil)
    let same = try frame { $0.command.command.kind = .UNRECOGNIZED(77) }
    #expect(Codec.unsupportedCommand(in: same, term: 1, revision: 1)?.sequence == nil)
    #expect(Codec.unsupportedCommand(in: same, term: 1, revision: 1) != nil)
  }
}
