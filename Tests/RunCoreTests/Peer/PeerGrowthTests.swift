import RunCore
import Testing

/// What a peer does with frames of a later version. `CodecGrowthTests` has their bytes.
@Suite("A hub of a later version at this peer")
struct PeerGrowthTests {
  private func isOwing(_ peer: PeerStage) -> Bool { peer.core.unjudgedCount > 0 }

  @Test(
    "A verdict with an unknown reason, phase or outcome ends its command and is acknowledged",
    arguments: [.rejected(.unknown(17)), .rejected(.illegal(.unknown)), .unknown] as [Outcome])
  func verdict(outcome: Outcome) {
    var peer = PeerStage.up()
    _ = peer.presses(.start, id: 1)
    _ = peer.presses(.lap, id: 2)
    var lines = peer.hub(peer.verdict(.start, id: 1, at: 1, outcome, revision: 0))
    lines += peer.passes(.seconds(1)) + peer.commits()
    #expect(peer.core.unjudgedCount == 1, "\(lines)")
    #expect(lines.contains { $0.contains("verdicts to 1") && $0.contains("send") }, "\(lines)")
    // The next command's verdict is not held up.
    _ = peer.hub(peer.verdict(.lap, id: 2, at: 2, revision: 0))
    #expect(!isOwing(peer))
  }

  @Test("A verdict of which even the receipt cannot be read blocks none behind it")
  func unreadableVerdict() {
    var peer = PeerStage.up()
    _ = peer.presses(.start, id: 1)
    _ = peer.hub(
      .delivery(.verdicts([VerdictTransmission(sequence: 1, commandID: CommandID(high: 4, low: 99))])))
    _ = peer.hub(peer.verdict(.start, id: 1, at: 2, revision: 1))
    #expect(!isOwing(peer))
    let lines = peer.passes(.seconds(1)) + peer.commits()
    #expect(lines.contains { $0.contains("verdicts to 2") && $0.contains("send") }, "\(lines)")
  }

  @Test("A refusal with an unknown code changes nothing: the command goes again, and the hello, too")
  func refusal() {
    let refusal = HubMessage.refused(Refusal(code: .unknown, message: "later"))
    var peer = PeerStage.up()
    _ = peer.presses(.start, id: 1)
    peer.forgetSent()
    #expect(peer.hub(refusal) == ["note"])
    _ = peer.passes(.seconds(3))
    #expect(peer.transmissions.map(\.command.kind) == [.start])
    // A peer that has seen a high term does not forget it either, as it would when it is called malformed.
    var greeting = PeerStage(termSeen: HubTerm.seenMax + 1)
    _ = greeting.feed(.linkUp)
    #expect(greeting.hub(refusal, session: 0) == ["note"])
    #expect(greeting.passes(.seconds(2)).contains { $0.contains("send hello seen \(HubTerm.seenMax + 1)") })
  }

  @Test("A welcome in an unknown phase opens the session: the phase is shown as unknown, and a press goes out")
  func phase() {
    var peer = PeerStage()
    _ = peer.feed(.started)
    peer.commits()
    _ = peer.feed(.linkUp)
    _ = peer.welcome(session: 1, PeerStage.snapshot(1, 1, 1, .unknown, run: 5))
    peer.commits()
    #expect(peer.core.authoritative.phase == .unknown && peer.core.predicted == .unknown)
    // The run may go on, so sensors stay on.
    #expect(peer.core.authoritative.sensors == .all)
    peer.forgetSent()
    _ = peer.presses(.stop, id: 1)
    #expect(peer.transmissions.map(\.command.runID) == [RunID(high: 9, low: 5)])
    // The phase is known again with the next snapshot, and after a restart it is still unknown until then.
    var next = PeerStage(peer.disk, now: peer.now)
    _ = next.feed(.started)
    #expect(next.core.authoritative.phase == .unknown)
    #expect(peer.publishes(PeerStage.snapshot(1, 2, 1, .completed, run: 5)).contains("show 1.2.1 completed"))
  }

  @Test("An unknown question of this machine is answered with a failure")
  func inquiry() {
    var peer = PeerStage.up()
    let answers = peer.act(.inquire(.unknown, 7)).compactMap { action -> InquiryAnswer? in
      if case .answer(let answer, 7) = action { answer } else { nil }
    }
    #expect(answers == [.failed(InquiryFailure.unknown)])
  }
}
