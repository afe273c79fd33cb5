import RunCore
import Testing

/// What a hub does with frames of a later version. `CodecGrowthTests` has their bytes.
@Suite("A peer of a later version at this hub")
struct HubGrowthTests {
  @Test("A sample of an unknown kind or moment is acknowledged and goes nowhere; those around it count")
  func samples() {
    var hub = HubStage.with("watch")
    hub.startRun()
    func sample(
      _ sequence: UInt64, _ moment: SampleMoment?, _ value: SampleValue?
    ) -> SampleTransmission {
      SampleTransmission(sequence: sequence, moment: moment, value: value, runID: nil)
    }
    let samples = [
      sample(1, .age(.zero), .heartRate(bpm: 150)), sample(2, .age(.zero), nil), sample(3, nil, .heartRate(bpm: 99)),
      sample(4, .age(.zero), .heartRate(bpm: 151)),
    ]
    #expect(hub.says("watch", .samples(samples)) == ["note", "note"])
    let lines = hub.passes(.seconds(3))
    #expect(lines.contains("watch ← samples to 4"), "\(lines)")
    let written = hub.durable.map(NodeLines.line)
    #expect(written.filter { $0.contains("bpm") }.map { $0.prefix(13) } == ["watch 150 bpm", "watch 151 bpm"])
    #expect(written.contains("samples to 4"))
    // A frame of unknown samples alone is acknowledged, too.
    _ = hub.says("watch", .samples([sample(5, nil, nil)]))
    #expect(hub.passes(.seconds(3)).contains("watch ← samples to 5"))
  }

  @Test("An unknown frame changes nothing and gets no answer, except that a REQ gets its one reply")
  func frame() {
    var hub = HubStage.with("watch")
    #expect(hub.feed(.unknown(.named("watch"))) == ["note"])
    #expect(hub.feed(.unknown(.named("stranger"))) == ["note"])
    #expect(hub.feed(.unknown(.named("script", isRequest: true))) == ["script ← refused malformed"])
    // The session goes on.
    #expect(hub.says("watch", .ping(1, nextWithin: .seconds(2))).contains { $0.hasPrefix("watch ← pong 1") })
  }

  @Test("An unknown inquiry is answered with a failure, in a session and on this machine")
  func inquiry() {
    var hub = HubStage.with("watch")
    func failure(_ actions: [HubCore.Action]) -> InquiryFailure? {
      for action in actions {
        switch action {
        case .send(let frame, _): if case .answer(.failed(let reason)) = frame.message { return reason }
        case .answer(.failed(let reason), 7): return reason
        default: break
        }
      }
      return nil
    }
    let frame = PeerFrame(
      session: hub.session(of: "watch"), sentAt: .zero, message: .inquire(.unknown))
    #expect(failure(hub.act(.frame(.named("watch"), frame))) == InquiryFailure.unknown)
    #expect(failure(hub.act(.inquire(.unknown, 7))) == InquiryFailure.unknown)
  }
}
