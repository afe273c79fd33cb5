import Foundation
import RunBus

/// Runs a phone and a watch in one process: shows how an app embeds a hub, and how another app embeds a peer.
@main
struct Embed {
  static func main() async throws {
    // Use directories of its own, so that the example cannot join a real bus.
    let place = FileManager.default.temporaryDirectory.appendingPathComponent("runbus-embed-\(getpid())")
    defer { try? FileManager.default.removeItem(at: place) }
    let location = BusLocation(
      bus: BusName("embed"), environment: ["XDG_RUNTIME_DIR": place.path, "XDG_STATE_HOME": place.path + "/state"])
    try FileManager.default.createDirectory(
      at: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])

    let loop = try Loop()
    // Bus time runs five times as fast, so that the example ends soon.
    let phone = try Hub(
      at: location,
      configuration: HubConfiguration(deviceID: DeviceID("phone"), speed: BusSpeed(factor: 5)!), loop: loop)
    let watch = try Peer(
      at: location, configuration: PeerConfiguration(deviceID: DeviceID("watch"), role: .watch), loop: loop)

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

  /// What the two apps do: both press buttons of one run, and the watch adds a heart rate.
  static func use(_ phone: Hub, _ watch: Peer) async throws {
    let onWatch = await watch.snapshots()
    print("watch:", try await watch.send(Command(.start, source: .watch)).message)
    try await watch.add(Sample(moment: .at(Loop.now), value: .heartRate(bpm: 142)))
    for await snapshot in onWatch where snapshot.metrics.heartRateBpm != nil {
      print("watch sees:", describe(snapshot))
      break
    }
    print("phone:", try await phone.send(Command(.pause, source: .phone)).message)
    // A paused run needs no sensors, so an app can turn off the phone's receiver.
    for await demand in await phone.sensorDemands() where demand == .off {
      print("phone: sensors off (paused)")
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
