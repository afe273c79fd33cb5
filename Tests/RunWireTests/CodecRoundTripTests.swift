import RunCore
import Testing

@testable import RunWire

@Suite("Frames and events arrive as they were sent")
struct CodecRoundTripTests {
  @Test("Every peer frame survives the wire", arguments: [1, 2, 3, 4] as [UInt64])
  func peerFrames(seed: UInt64) throws {
    var random = RandomMessages(seed: seed)
    for round in 0..<1000 {
      let frame = random.peerFrame()
      try #require(try Codec.peerFrame(Codec.encode(frame)) == frame, "seed \(seed), round \(round)")
    }
  }

  @Test("Every hub frame survives the wire", arguments: [1, 2, 3, 4] as [UInt64])
  func hubFrames(seed: UInt64) throws {
    var random = RandomMessages(seed: seed)
    for round in 0..<1000 {
      let frame = random.hubFrame()
      try #require(try Codec.hubFrame(Codec.encode(frame)) == frame, "seed \(seed), round \(round)")
    }
  }

  @Test("Every event survives the wire", arguments: [1, 2, 3, 4] as [UInt64])
  func busEvents(seed: UInt64) throws {
    var random = RandomMessages(seed: seed)
    for round in 0..<1000 {
      let event = random.busEvent()
      try #require(try Codec.busEvent(Codec.encode(event)) == event, "seed \(seed), round \(round)")
    }
  }

  @Test("An absent metric stays absent, and a zero stays zero")
  func missingIsNotZero() throws {
    var state = StateMessage(snapshot: .none, age: .zero)
    state.snapshot.metrics.distanceMeters = 0
    guard case .snapshot(let read) = try Codec.busEvent(Codec.encode(.snapshot(state))) else {
      Issue.record("not a snapshot")
      return
    }
    #expect(read.snapshot.metrics.distanceMeters == 0)
    #expect(read.snapshot.metrics.heartRateBpm == nil)
  }

  @Test("An unknown source survives a round trip unchanged")
  func unknownSource() throws {
    let source = ControlSource(rawValue: "smart-ring 2")
    let command = Command(id: CommandID(high: 1, low: 2), kind: .lap, source: source)
    let event = try Codec.busEvent(Codec.encode(.command(command, DeviceID("ring"))))
    guard case .command(let read, _) = event else {
      Issue.record("not a command")
      return
    }
    #expect(read.source.rawValue == "smart-ring 2")
  }

  @Test("The largest batch of samples fits into a frame with every field at its longest")
  func largestBatch() throws {
    let sample = SampleTransmission(
      sequence: Codec.counterMax, moment: .runOffset(BusDuration(nanoseconds: .min)),
      value: .position(Position(latitude: 89, longitude: 179, horizontalAccuracyMeters: 14.5)),
      runID: RunID(high: .max, low: .max))
    let samples = Array(repeating: sample, count: Codec.samplesMax)
    let frame = PeerFrame(session: .max, sentAt: BusTime(nanoseconds: .min), message: .samples(samples))
    let bytes = Codec.encode(frame)
    #expect(bytes.count <= Codec.frameBytesMax)
    #expect(try Codec.peerFrame(bytes) == frame)
  }

  @Test("A metric that is not a number is left out, and the rest of the snapshot arrives")
  func metricsWithoutNumbers() throws {
    var state = StateMessage(snapshot: .none, age: .zero)
    state.snapshot.metrics.distanceMeters = .nan
    state.snapshot.metrics.heartRateBpm = 140
    state.snapshot.metrics.elevationGainMeters = .infinity
    let frame = try Codec.hubFrame(Codec.encode(HubFrame(session: 1, message: .state(state))))
    state.snapshot.metrics.distanceMeters = nil
    state.snapshot.metrics.elevationGainMeters = nil
    #expect(frame == HubFrame(session: 1, message: .state(state)))
  }

  @Test("A refusal's text is made to fit: long text is cut, and line breaks become spaces")
  func refusalFits() throws {
    let refusal = Refusal(code: .malformed, message: "a\nb" + String(repeating: "é", count: 600))
    let frame = try Codec.hubFrame(Codec.encode(HubFrame(session: 0, message: .refused(refusal))))
    guard case .refused(let read) = frame.message else {
      Issue.record("not a refusal")
      return
    }
    #expect(read.message.hasPrefix("a bé"))
    #expect(read.message.utf8.count == 1023)
  }
}
