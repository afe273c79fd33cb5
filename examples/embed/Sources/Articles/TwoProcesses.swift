import RunBus

/// The program of the phone.
func phoneProgram() async throws {
  let phone = try Hub(
    at: BusLocation(bus: "default"), configuration: HubConfiguration(deviceID: "phone"), loop: Loop())
  try await withNode(phone) {
    for await snapshot in await phone.snapshots() { print("the run is \(snapshot.phase)") }
  }
}

/// The program of the watch: starts a run, and stops it after a minute.
func watchProgram() async throws {
  let watch = try Peer(
    at: BusLocation(bus: "default"), configuration: PeerConfiguration(deviceID: "watch", role: .watch), loop: Loop())
  try await withNode(watch) {
    print(try await watch.send(Command(.start, source: .watch)).message)
    try await Task.sleep(for: .seconds(60))
    print(try await watch.send(Command(.stop, source: .watch)).message)
  }
}
