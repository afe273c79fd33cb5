@testable import RunCore
import Testing

@Suite("Frame size, heartbeat and records belong to a connection")
struct ConnectionLimitsTests {
  private static let slow = ConnectionLimits(frameBytesMax: 40_960, heartbeatMin: .seconds(20), carriesRecords: false)

  @Test("Values out of range become the nearest allowed one")
  func ranges() {
    let none = ConnectionLimits(frameBytesMax: 0, heartbeatMin: .zero)
    #expect(none.frameBytesMax == 40_960 && none.heartbeatMin == .seconds(1) && none.carriesRecords)
    let huge = ConnectionLimits(frameBytesMax: .max, heartbeatMin: .seconds(3600))
    #expect(huge.frameBytesMax == 65_536 && huge.heartbeatMin == .seconds(60))
    #expect(ConnectionLimits() == .full)
  }

  @Test("Messages are cut into frames of the connection's size, again after a reconnection")
  func messages() {
    var stage = MessageStreamStage(isOpen: false)
    for id in 1...3 as ClosedRange<UInt64> { _ = stage.post(id, bytes: 20_000) }
    _ = stage.open(within: Self.slow)
    #expect(stage.commits().filter { $0.contains("messages") } == ["messages 1", "messages 2", "messages 3"])
    stage.close()
    #expect(stage.open(within: .full).filter { $0.contains("messages") } == ["messages 1 2", "messages 3"])
  }

  @Test("A peer pings no more often than its connection allows, and both sides wait for three such intervals")
  func heartbeat() {
    let running = PeerStage.snapshot(1, 1, 2, .running)
    var peer = PeerStage(limits: Self.slow)
    _ = peer.feed(.started)
    peer.commits()
    _ = peer.feed(.linkUp)
    _ = peer.welcome(session: 1, running)
    let lines = peer.passes(.seconds(61)).filter { $0.contains("ping") || $0.contains("unreachable") }
    #expect(
      lines == [
        "20.0s send ping 1 within 20.0s", "40.0s send ping 2 within 20.0s", "60.0s unreachable",
      ])

    var hub = HubStage()
    _ = hub.feed(.started)
    hub.commitsAll()
    _ = hub.feed(.opened(eventsEndpoint: "events", limits: Self.slow))
    _ = hub.hello("watch")
    hub.startRun()
    #expect(!hub.passes(.seconds(50)).contains("publish watch gone"))
    #expect(hub.passes(.seconds(20)).contains("publish watch gone"))
  }

  @Test("The listeners of one hub differ: a device is silent by the limits of the listener that it came by")
  func listeners() {
    var hub = HubStage()
    _ = hub.feed(.started)
    hub.commitsAll()
    _ = hub.feed(.opened(eventsEndpoint: "events"))
    _ = hub.feed(.opened(eventsEndpoint: "", listener: 1, limits: Self.slow))
    _ = hub.hello("watch")
    hub.startRun()
    let hello = PeerFrame(session: 0, sentAt: .zero, message: .hello(hub.greeting("band")))
    let connection = ConnectionID(route: Array("band".utf8), isRequest: false, listener: 1)
    let answers = hub.act(.frame(connection, hello))
    let endpoints = answers.compactMap { action -> String? in
      if case .send(let frame, _) = action, case .welcome(let welcome) = frame.message {
        welcome.eventsEndpoint
      } else {
        nil
      }
    }
    #expect(endpoints == [""])
    let gone = hub.passes(.seconds(70)).filter { $0.hasSuffix("gone") }
    #expect(gone == ["publish watch gone", "publish band gone"])
  }

  @Test("A peer asks for no records on a connection without any, and subscribes to nothing where nothing is published")
  func records() {
    func welcomed(_ limits: ConnectionLimits, events: String) -> [String] {
      var peer = PeerStage(limits: limits)
      _ = peer.feed(.started)
      peer.commits()
      _ = peer.feed(.linkUp)
      let lines = peer.welcome(session: 1, events: events, recordsThrough: 3)
      return (lines + peer.hub(.pong(0, SnapshotOrder(term: 1, revision: 0, tick: 1), recordsThrough: 4))).filter {
        $0.contains("fetch") || $0.contains("subscribe")
      }
    }
    #expect(welcomed(.full, events: "events").count == 2)
    #expect(welcomed(Self.slow, events: "") == [])
  }
}
