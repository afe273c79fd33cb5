import RunCore
import Testing

@Suite("A hub publishes the route to followers and sends it to peers that ask")
struct HubRouteTests {
  /// Fixes of the phone's own receiver, moving at three metres a second.
  private func fix(_ hub: inout HubStage, _ seconds: Int64...) {
    for second in seconds {
      let position = Position(latitude: 48, longitude: Double(second) * 4e-5, horizontalAccuracyMeters: 5)
      _ = hub.feed(.sample(Sample(moment: .runOffset(.seconds(second)), value: .position(position))))
    }
  }

  /// Run 1 is on, half a second old.
  private func running(followed: Bool = true) -> HubStage {
    var hub = HubStage.with("watch")
    if followed { _ = hub.feed(.subscribed(.route)) }
    hub.startRun()
    return hub
  }

  private func routes(_ lines: [String]) -> [String] { lines.filter { $0.contains("route") } }

  @Test("A hub publishes no route without subscribers, and no earlier points when somebody subscribes")
  func unwanted() {
    var hub = running(followed: false)
    fix(&hub, 0, 1)
    #expect(routes(hub.passes(.seconds(3))) == [])
    #expect(hub.feed(.subscribed(.route)) == [])
    #expect(routes(hub.passes(.seconds(3))) == [])
    fix(&hub, 2, 3)
    // The first number stands for all earlier parts.
    #expect(routes(hub.passes(.seconds(3))) == ["publish route 1.2 run 1: 2+2 of 4"])
  }

  @Test("A run begins with an empty part, and its points come with the tick that makes them durable")
  func withTheTick() {
    var hub = HubStage.with("watch")
    _ = hub.feed(.subscribed(.route))
    _ = hub.presses("watch", .start)
    hub.commitsAll()
    #expect(routes(hub.passes(.milliseconds(500))) == ["publish route 1.2 run 1: 0+0 of 0"])
    fix(&hub, 0, 1)
    hub.now = hub.now + .seconds(3)
    #expect(hub.feed(.deadline) == ["commit: phone sample at 0.0s, phone sample at 1.0s, clock"])
    #expect(
      hub.commits() == ["publish route 1.3 run 1: 0+2 of 2", "show 1.1.3 running", "publish 1.1.3 running"])
    #expect(routes(hub.passes(.seconds(3))) == [])
  }

  @Test("A late fix replaces the points after it")
  func late() {
    var hub = running()
    hub.passes(.seconds(4))
    fix(&hub, 0, 1, 2, 4)
    #expect(routes(hub.passes(.seconds(3))) == ["publish route 1.3 run 1: 0+4 of 4"])
    fix(&hub, 3)
    // The fold returns to a checkpoint, which lies at or before the late fix.
    #expect(routes(hub.passes(.seconds(3))) == ["publish route 1.4 run 1: 0+5 of 5"])
  }

  @Test("After a late reading the route is complete, even if nothing more is measured", arguments: [true, false])
  func lateReading(followed: Bool) {
    var hub = running(followed: followed)
    hub.passes(.seconds(500))
    for second in 0..<500 { fix(&hub, Int64(second)) }
    hub.passes(.seconds(3))
    _ = hub.beats("watch", 120, from: 1, age: .seconds(400))
    hub.passes(.seconds(3))
    let answer = hub.says("watch", .inquire(.route(from: 500))) + hub.commitsAll()
    #expect(answer.filter { $0.hasSuffix("run 1: 500+0 of 500") }.count == 1, "\(answer)")
  }

  @Test("Points measured while the run is paused are published when they are durable, without a snapshot")
  func paused() {
    var hub = running()
    fix(&hub, 0)
    hub.passes(.seconds(4))
    _ = hub.presses("watch", .pause)
    hub.commitsAll()
    hub.passes(.seconds(2))
    fix(&hub, 6)
    let lines = hub.passes(.seconds(4))
    #expect(routes(lines) == ["publish route 1.4 run 1: 1+1 of 2"])
    #expect(!lines.contains { $0.contains("paused") })
  }

  @Test("Many points are published in parts of 512")
  func parts() {
    var hub = running()
    hub.passes(.seconds(1100))
    for second in 0..<1030 { fix(&hub, Int64(second)) }
    #expect(
      routes(hub.passes(.seconds(3))) == [
        "publish route 1.3 run 1: 0+512 of 1030", "publish route 1.4 run 1: 512+512 of 1030",
        "publish route 1.5 run 1: 1024+6 of 1030",
      ])
  }

  // Once broken: A page that was opened late had no heart rate of the run so far, because the charts were drawn from
  // the snapshots that the page's own node had received, and the route has no heart rate.
  @Test("Who comes late gets the numbers of the run so far, and its pauses; of a long run every so many")
  func series() {
    var hub = HubStage.with("watch")
    func asks() -> [String] {
      let lines = hub.says("watch", .inquire(.series)) + hub.commitsAll()
      return lines.filter { $0.contains("series") }
    }
    #expect(asks() == ["watch ← answer series none"])
    hub.startRun()
    hub.passes(.seconds(100))
    for second in 0..<100 { fix(&hub, Int64(second)) }
    #expect(asks() == ["watch ← answer series 10 samples, 0 pauses"])
    _ = hub.presses("watch", .pause)
    hub.commitsAll()
    hub.passes(.seconds(60))
    #expect(asks() == ["watch ← answer series 11 samples, 1 pauses"])
    _ = hub.presses("watch", .resume)
    hub.commitsAll()
    hub.passes(.seconds(6000))
    for second in 200..<6100 { fix(&hub, Int64(second)) }
    // The watch has been silent for too long.
    let lines = (hub.feed(.inquire(.series, 1)) + hub.commitsAll()).filter { $0.contains("series") }
    #expect(lines == ["answer 1: series 301 samples, 1 pauses"])
  }

  @Test("The next run begins a new route, and part numbers continue")
  func nextRun() {
    var hub = HubStage.with("watch", debounce: .zero)
    _ = hub.feed(.subscribed(.route))
    var heard: [String] = []
    for _ in 0..<2 {
      _ = hub.presses("watch", .start)
      heard += hub.commitsAll()
      fix(&hub, 0)
      heard += hub.passes(.seconds(4))
      _ = hub.presses("watch", .stop)
      heard += hub.commitsAll()
      heard += hub.passes(.seconds(4))
    }
    #expect(
      routes(heard) == [
        "publish route 1.2 run 1: 0+0 of 0", "publish route 1.3 run 1: 0+1 of 1",
        "publish route 1.4 run 3: 0+0 of 0", "publish route 1.5 run 3: 0+1 of 1",
      ])
  }

  @Test("Any peer may ask; an answer waits until its points are durable, and later answers wait behind it")
  func answers() {
    var hub = HubStage.with("watch")
    #expect(hub.says("watch", .inquire(.report)) == ["watch ← answer report none"])
    #expect(hub.says("watch", .inquire(.route(from: 0))) == ["watch ← answer route none"])
    hub.startRun()
    #expect(hub.says("watch", .inquire(.report)) == ["watch ← answer report 0.5s"])
    hub.passes(.seconds(1))
    fix(&hub, 0, 1)
    // Two questions at once: the answer to the second is ready, but must not overtake the first.
    #expect(
      hub.says("watch", .inquire(.route(from: 1))) == ["commit: phone sample at 0.0s, phone sample at 1.0s"])
    #expect(hub.says("watch", .inquire(.peers)) == [])
    #expect(hub.commits() == ["watch ← answer route 1.0 run 1: 1+1 of 2", "commit: "])
    #expect(hub.commits() == ["watch ← answer watch"])
    #expect(hub.says("watch", .inquire(.peers)) == ["watch ← answer watch"])
    #expect(hub.says("watch", .inquire(.route(from: 9))) == ["watch ← answer route 1.0 run 1: 9+0 of 2"])
    #expect(hub.feed(.inquire(.route(from: 0), 7)) == ["commit: "])
    #expect(hub.commits() == ["answer 7: route 1.0 run 1: 0+2 of 2"])
  }

  @Test("An answer that waits for a commit is not sent into another session")
  func sessionIsOver() {
    var hub = running()
    fix(&hub, 0)
    _ = hub.says("watch", .inquire(.report))
    _ = hub.hello("watch", nonce: 2)
    #expect(!hub.commitsAll().contains { $0.contains("answer") })
    #expect(hub.says("watch", .inquire(.peers)).contains("watch ← answer watch"))
  }

  @Test("A hub computes every run with the settings that it was given", arguments: [nil, 70] as [Double?])
  func settings(weight: Double?) {
    var settings = MetricsSettings()
    settings.weightKilograms = weight
    var hub = HubStage.opened(debounce: .zero, metrics: settings)
    for _ in 0..<2 {
      _ = hub.feed(.press(hub.command(.start, by: "phone")))
      hub.commitsAll()
      hub.passes(.seconds(30))
      for second in 0..<30 { fix(&hub, Int64(second)) }
      hub.passes(.seconds(3))
      #expect((hub.core.authoritative.metrics.energyJoules != nil) == (weight != nil))
      _ = hub.feed(.press(hub.command(.stop, by: "phone")))
      hub.commitsAll()
      hub.passes(.seconds(1))
    }
  }
}
