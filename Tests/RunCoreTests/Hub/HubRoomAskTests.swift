import RunCore
import Testing

/// Whose asks about rooms a hub passes on to its desk.
@Suite("Who may ask a hub about rooms")
struct HubRoomAskTests {
  /// A hub in rooms, with a paired watch that may press as one source and is connected.
  private static func hub(_ sources: Set<ControlSource>) -> HubStage {
    var stage = HubStage.pairing([.test(1, "watch", sources: sources)], together: DeskTale.settings)
    _ = stage.joins("watch", key: 1)
    return stage
  }
  private static func ask(_ source: ControlSource, _ number: UInt64 = 1) -> RoomAsk {
    RoomAsk(id: Identifier(high: 8, low: number), wish: .ready(true), source: source)
  }
  /// What becomes of an ask: the answers, and whether it went on to the desk.
  private static func outcome(_ actions: [HubCore.Action]) -> [String] {
    actions.compactMap { action in
      switch action {
      case .room(.prepare): return "passed on"
      case .answer(.room(.answer(let answer)), _): return "\(answer)"
      case .send(let frame, _):
        switch frame.message {
        case .room(_, let answer), .answer(.room(.answer(let answer))): return "\(answer)"
        default: return nil
        }
      default: return nil
      }
    }
  }
  private let forbidden = ["\(RoomAnswer.refused(.forbidden))"]

  private func says(_ ask: RoomAsk, to hub: inout HubStage) -> [String] {
    let frame = PeerFrame(
      session: hub.session(of: "watch"), sentAt: hub.clock.real(at: hub.now), message: .room(ask))
    return Self.outcome(hub.act(.frame(.named("watch"), frame, by: .key(1))))
  }

  @Test("A paired device asks as the sources that it has, and as another one it is refused")
  func session() {
    var hub = Self.hub([.watch])
    #expect(says(Self.ask(.shell), to: &hub) == forbidden)
    #expect(says(Self.ask(.phone), to: &hub) == forbidden)
    #expect(says(Self.ask(.watch), to: &hub) == ["passed on"])
    // The same ask by a source that the device does not have is refused, whatever became of it before.
    #expect(says(Self.ask(.shell), to: &hub) == forbidden)
  }

  @Test("A source that the runner takes away is refused from then on, and one that is given is not")
  func changed() {
    var hub = Self.hub([.watch])
    _ = hub.orders(.sources([.shell]), key: 1)
    #expect(says(Self.ask(.watch), to: &hub) == forbidden)
    #expect(says(Self.ask(.shell, 2), to: &hub) == ["passed on"])
  }

  @Test("A request without a session is held to the same sources")
  func request() {
    var hub = Self.hub([.watch])
    func requests(_ ask: RoomAsk, by identity: ConnectionIdentity) -> [String] {
      let message = PeerMessage.request(Request(.inquiry(.room(.ask(ask)))))
      let frame = PeerFrame(session: 0, sentAt: .zero, message: message)
      return Self.outcome(hub.act(.frame(.named("shell", isRequest: true), frame, by: identity)))
    }
    #expect(requests(Self.ask(.shell), by: .key(1)) == forbidden)
    // A key that the hub does not know has no sources.
    #expect(requests(Self.ask(.watch), by: .key(7)) != ["passed on"])
    #expect(requests(Self.ask(.watch), by: .key(1)) == ["passed on"])
    #expect(requests(Self.ask(.shell, 2), by: .localOwner) == ["passed on"])
  }

  @Test("Callers on the hub's own machine ask as any source")
  func ownMachine() {
    var hub = Self.hub([.watch])
    #expect(Self.outcome(hub.act(.inquire(.room(.ask(Self.ask(.phone))), 1))) == ["passed on"])
    #expect(Self.outcome(hub.act(.inquire(.room(.ask(Self.ask(.watch, 2))), 2))) == ["passed on"])
  }

  @Test("A hub that takes no part in rooms says so, whoever asks")
  func alone() {
    var hub = HubStage.pairing([.test(1, "watch", sources: [.watch])])
    _ = hub.joins("watch", key: 1)
    #expect(says(Self.ask(.shell), to: &hub) == ["\(RoomAnswer.refused(.alone))"])
    #expect(says(Self.ask(.watch), to: &hub) == ["\(RoomAnswer.refused(.alone))"])
  }
}
