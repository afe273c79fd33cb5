import RunCore
import Testing

@Suite("What callers at a device ask about rooms")
struct PeerAsksTests {
  private let ask = RoomAsk(id: Identifier(high: 8, low: 1), wish: .ready(true))
  private let room = RoomID(high: 8, low: 2)

  /// The asks that were sent, with their ages.
  private func sent(_ actions: [PeerCore.Action]) -> [RoomAsk] {
    actions.compactMap { action in
      if case .send(let frame) = action, case .room(let ask) = frame.message { ask } else { nil }
    }
  }
  private func answers(_ actions: [PeerCore.Action]) -> [String] {
    actions.compactMap { action in
      if case .answer(.room(.answer(let answer)), let number) = action { "\(number): \(answer)" } else { nil }
    }
  }
  private func answered(_ answer: RoomAnswer) -> PeerCore.Event {
    .frame(HubFrame(session: 1, message: .room(ask.id, answer)))
  }

  @Test("An ask goes to the hub with the device's source, and each caller gets the latest answer")
  func passedOn() {
    var stage = PeerStage.up()
    let first = sent(stage.act(.inquire(.room(.ask(ask)), 1)))
    #expect(first.map(\.id) == [ask.id] && first.map(\.source) == [ControlSource(rawValue: "watch")])
    #expect(answers(stage.act(answered(.pending(room)))) == ["1: \(RoomAnswer.pending(room))"])
    #expect(answers(stage.act(.inquire(.room(.ask(ask)), 2))) == ["2: \(RoomAnswer.pending(room))"])
    #expect(answers(stage.act(answered(.judged(room, .noted)))) == [])
    #expect(answers(stage.act(.inquire(.room(.ask(ask)), 3))) == ["3: \(RoomAnswer.judged(room, .noted))"])
    // An answer that comes behind the last one changes nothing.
    #expect(answers(stage.act(answered(.refused(.noRoom)))) == [])
    #expect(answers(stage.act(.inquire(.room(.ask(ask)), 4))) == ["4: \(RoomAnswer.judged(room, .noted))"])
  }

  @Test("Without an answer it is sent again with its age, and given up after a minute")
  func again() {
    var stage = PeerStage.up()
    _ = stage.act(.inquire(.room(.ask(ask)), 1))
    stage.now = stage.now + .seconds(2)
    #expect(sent(stage.act(.deadline)).map(\.age) == [.seconds(2)])
    stage.now = stage.now + .seconds(58)
    #expect(answers(stage.act(.deadline)) == ["1: \(RoomAnswer.refused(.expired))"])
    #expect(answers(stage.act(answered(.judged(room, .noted)))) == [])
  }

  @Test("What was asked without a link goes with the next session")
  func withoutLink() {
    var stage = PeerStage()
    _ = stage.feed(.started)
    stage.commits()
    #expect(sent(stage.act(.inquire(.room(.ask(ask)), 1))) == [])
    _ = stage.feed(.linkUp)
    stage.now = stage.now + .seconds(1)
    let welcomed = stage.welcome(session: 1, PeerStage.snapshot(1, 0, 1))
    #expect(welcomed.contains { $0.hasPrefix("send room") }, "\(welcomed)")
  }

  @Test("Sixteen are kept: one more is refused, and one that is answered makes room")
  func bounded() {
    var stage = PeerStage.up()
    for number in 1...16 as ClosedRange<UInt64> {
      let ask = RoomAsk(id: Identifier(high: 9, low: number), wish: .leave)
      #expect(answers(stage.act(.inquire(.room(.ask(ask)), number))) == [])
    }
    #expect(answers(stage.act(.inquire(.room(.ask(ask)), 17))) == ["17: \(RoomAnswer.refused(.busy))"])
    let first = Identifier<RoomAskTag>(high: 9, low: 1)
    _ = stage.act(.frame(HubFrame(session: 1, message: .room(first, .judged(room, .left)))))
    #expect(answers(stage.act(.inquire(.room(.ask(ask)), 18))) == [])
  }
}
