import Foundation
import RunBus

/// A phone and a watch in one process: how an app embeds a hub, how another embeds a peer.
@main
struct Embed {
  static func main() async throws {
    // A place of its own, so that the example meets nobody's real bus.
    let place = FileManager.default.temporaryDirectory.appendingPathComponent("runbus-embed-\(getpid())")
    defer { try? FileManager.default.removeItem(at: place) }
    let location = BusLocation(
      bus: BusName("embed")!, environment: ["XDG_RUNTIME_DIR": place.path, "XDG_STATE_HOME": place.path + "/state"])
    try FileManager.default.createDirectory(
      at: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])

    let loop = try Loop()
    // Five bus seconds in one: the example is over soon.
    let phone = try Hub(
      at: location,
      configuration: HubConfiguration(deviceID: DeviceID("phone")!, speed: BusSpeed(factor: 5)!), loop: loop)
    let watch = try Peer(
      at: location, configuration: PeerConfiguration(deviceID: DeviceID("watch")!, role: .watch), loop: loop)

    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await phone.run() }
      group.addTask { try await watch.run() }
      try await use(phone, watch)
      try await Notes.exchange(phone, watch)
      group.cancelAll()
      try await group.waitForAll()
    }
    print("both have ended")
  }

  /// What the two apps do: buttons on either side, a sensor on the watch, one run for both.
  static func use(_ phone: Hub, _ watch: Peer) async throws {
    let onWatch = await watch.snapshots()
    print("watch:", try await watch.send(Command(.start, source: .watch)).message)
    try await watch.add(Sample(moment: .at(Loop.now), value: .heartRate(bpm: 142)))
    for await snapshot in onWatch where snapshot.metrics.heartRateBpm != nil {
      print("watch sees:", describe(snapshot))
      break
    }
    print("phone:", try await phone.send(Command(.pause, source: .phone)).message)
    // A paused run measures nothing: the phone's receiver can be turned off.
    for await demand in await phone.sensorDemands() where demand == .off {
      print("phone: the sensors may sleep")
      break
    }
    print("watch, too:", try await watch.send(Command(.pause, source: .watch)).message)
    print("phone:", try await phone.send(Command(.stop, source: .phone)).message)
    for await snapshot in onWatch where snapshot.phase == .completed {
      print("watch sees:", describe(snapshot))
      break
    }
  }

  static func describe(_ snapshot: Snapshot) -> String {
    let heartRate = snapshot.metrics.heartRateBpm.map { "\(Int($0)) bpm" } ?? "no heart rate"
    return "\(snapshot.phase) at revision \(snapshot.order.revision), \(heartRate)"
  }
}
