#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import RunCore
import SwiftProtobuf
import Testing

@testable import RunWire

@Suite("Frames that break a rule of the schema are refused with a reason")
struct CodecRulesTests {
  private static let id = Data(repeating: 7, count: 16)

  /// The frame of a valid command after a change.
  private func commandFrame(_ change: (inout WireTransmission) -> Void) throws -> [UInt8] {
    var transmission = WireTransmission()
    transmission.command.id = Self.id
    transmission.command.kind = .pause
    transmission.command.source = "watch"
    transmission.sequence = 1
    change(&transmission)
    var frame = WirePeerFrame()
    frame.session = 9
    frame.command = transmission
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

  @Test("Each rule of a command")
  func commandRules() throws {
    #expect(reason(try commandFrame { _ in }) == nil)
    #expect(reason(try commandFrame { $0.clearCommand() }) == "transmission without a command")
    #expect(reason(try commandFrame { $0.command.id = Data([1, 2]) }) == "command id is 2 bytes long, not 16")
    #expect(reason(try commandFrame { $0.command.kind = .unspecified }) == "command kind is missing")
    #expect(reason(try commandFrame { $0.command.source = "" }) == "source is missing")
    #expect(reason(try commandFrame { $0.command.source = "\u{1B}[2J" }) == "source has control characters in it")
    #expect(
      reason(try commandFrame { $0.command.source = String(repeating: "e\u{301}", count: 22) })
        == "source is longer than 64 bytes")
    #expect(reason(try commandFrame { $0.command.runID = Data() }) == "run id is 0 bytes long, not 16")
    #expect(
      reason(try commandFrame { $0.command.base.commandID = Data() }) == "base command id is 0 bytes long, not 16")
    #expect(reason(try commandFrame { $0.command.base.revision = .max }) == "base revision is out of range")
    #expect(reason(try commandFrame { $0.sequence = 0 }) == "sequence is missing")
    #expect(reason(try commandFrame { $0.sequence = .max }) == "sequence is out of range")
    #expect(reason(try commandFrame { $0.ageNs = -1 }) == "command age is negative")
    #expect(reason(try commandFrame { $0.command.goalNs = 1_000_000 }) == "a pause with a goal")
    let unfit = "a command whose kind and condition do not fit"
    #expect(reason(try commandFrame { $0.command.ifRevision = 4 }) == unfit)
    #expect(reason(try commandFrame { $0.command.kind = .conditionalPause }) == unfit)
    func start(_ goal: Int64) throws -> String? {
      reason(
        try commandFrame {
          $0.command.kind = .start
          $0.command.goalNs = goal
        })
    }
    for goal in [1_000_000, 86_400_000_000_000] as [Int64] { #expect(try start(goal) == nil) }
    for goal in [0, -1_000_000, 1_500_000, 86_400_001_000_000, .max, .min] as [Int64] {
      #expect(try start(goal) == "goal is not whole milliseconds, above zero and at most a day", "\(goal)")
    }
  }

  @Test("A command of a later version is identified by its id and can be answered with its own kind")
  func unsupportedKind() throws {
    let bytes = try commandFrame { $0.command.kind = .UNRECOGNIZED(77) }
    let id = CommandID(high: 0x0707_0707_0707_0707, low: 0x0707_0707_0707_0707)
    #expect(throws: WireError.unsupportedKind(id)) { try Codec.peerFrame(bytes) }

    let reply = try WireHubFrame(
      serializedBytes: try #require(Codec.unsupportedCommand(in: bytes, term: 3, revision: 5)).reply)
    #expect(reply.session == 9)
    #expect(reply.receipt.commandID == Self.id)
    #expect(reply.receipt.kind == .UNRECOGNIZED(77))
    #expect(reply.receipt.source == "watch")
    #expect(reply.receipt.verdict.rejected.reason == .unsupported)
    #expect(reply.receipt.verdict.term == 3)
    #expect(reply.receipt.verdict.revision == 5)

    #expect(Codec.unsupportedCommand(in: try commandFrame { _ in }, term: 0, revision: 0) == nil)
    #expect(Codec.unsupportedCommand(in: [0xFF], term: 0, revision: 0) == nil)
  }

  @Test("A hello of another version is recognised even if the rest of it cannot be read")
  func laterHello() throws {
    var frame = WirePeerFrame()
    frame.hello.version = 4
    let bytes: [UInt8] = try frame.serializedBytes()
    #expect(throws: WireError.versionMismatch(4)) { try Codec.peerFrame(bytes) }
    frame.hello.version = wireVersion
    let sameVersion: [UInt8] = try frame.serializedBytes()
    #expect(throws: WireError.malformed("device id is not a name")) { try Codec.peerFrame(sameVersion) }
  }

  @Test("A sample outside its range is refused", arguments: Self.badValues.indices)
  func badSample(index: Int) throws {
    var sample = WireSample()
    sample.sequence = 1
    sample.moment = .ageNs(0)
    sample.value = Self.badValues[index]
    var frame = WirePeerFrame()
    frame.samples.samples = [sample]
    #expect(reason(try frame.serializedBytes()) == "sample value is out of range")
  }

  static let badValues: [WireSample.OneOf_Value] = {
    func position(_ latitude: Double, _ longitude: Double, _ accuracy: Double = 1) -> WireSample.OneOf_Value {
      var position = WirePosition()
      position.latitudeDegrees = latitude
      position.longitudeDegrees = longitude
      position.horizontalAccuracyMeters = accuracy
      return .position(position)
    }
    var altitude = WireAltitude()
    altitude.meters = .nan
    altitude.source = .gps
    return [
      position(90.5, 0), position(0, -180.5), position(.nan, 0), position(0, .infinity), position(0, 0, .nan),
      .altitude(altitude), .heartRateBpm(-1), .heartRateBpm(.nan), .cadenceStepsPerMinute(.infinity),
      .pedometerMeters(-0.1),
    ]
  }()

  @Test("A frame holds 1 to 512 samples")
  func sampleCount() throws {
    var sample = WireSample()
    sample.sequence = 1
    sample.moment = .ageNs(0)
    sample.value = .heartRateBpm(120)
    var frame = WirePeerFrame()
    frame.samples.samples = []
    #expect(reason(try frame.serializedBytes()) == "samples without a sample")
    frame.samples.samples = Array(repeating: sample, count: 513)
    #expect(reason(try frame.serializedBytes()) == "more than 512 samples in a frame")
  }

  @Test("A frame over 64 KiB is refused, and one without a message that is known is dropped as unknown")
  func frames() {
    #expect(reason([UInt8](repeating: 0, count: 65_537)) == "frame of 65537 bytes: too long")
    #expect(throws: WireError.unknown("a kind of frame")) { try Codec.peerFrame([]) }
    #expect(throws: WireError.unknown("a kind of frame")) { try Codec.hubFrame([]) }
    #expect(throws: WireError.unknown("a kind of event")) { try Codec.busEvent([]) }
  }

  @Test("A welcome and a snapshot without their parts are refused")
  func welcomeRules() throws {
    func reason(_ change: (inout WireHubFrame) -> Void) throws -> String? {
      var frame = WireHubFrame()
      change(&frame)
      let bytes: [UInt8] = try frame.serializedBytes()
      do {
        _ = try Codec.hubFrame(bytes)
        return nil
      } catch {
        return error.description
      }
    }
    #expect(try reason { $0.welcome.nonce = 1 } == "speed is out of range")
    #expect(try reason { $0.welcome.speedThousandths = .max } == "speed is out of range")
    #expect(try reason { $0.welcome.speedThousandths = 1000 } == "welcome without the state")
    #expect(try reason { $0.state.ageNs = 1 } == "state without a snapshot")
    #expect(try reason { $0.state.snapshot.phase = .idle } == "snapshot without its order or its metrics")
    #expect(
      try reason {
        $0.state.snapshot.order.term = 1
        $0.state.snapshot.phase = .idle
        $0.state.snapshot.metrics.lapCount = .max
      } == "lap count is out of range")
    #expect(
      try reason {
        $0.state.snapshot.order.term = 1
        $0.state.snapshot.phase = .idle
        $0.state.snapshot.metrics.heartRateBpm = .nan
      } == "heart rate is not a number")
    #expect(try reason { $0.pong.number = 1 } == "pong without the newest publication")
    #expect(
      try reason {
        $0.receipt.commandID = Self.id
        $0.receipt.kind = .pause
        $0.receipt.source = "watch"
      } == "a stage of a receipt is not known to this version")
  }
}
