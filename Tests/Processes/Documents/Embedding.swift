import RunBus

/// Joins a bus as its watch, starts a run and follows it to its end.
func wear(_ bus: BusLocation) async throws -> Snapshot? {
  let configuration = PeerConfiguration(deviceID: "watch", role: .watch)
  let watch = try Peer(at: bus, configuration: configuration, loop: Loop())
  return try await withThrowingTaskGroup(of: Void.self) { group in
    defer { group.cancelAll() }  // ends the peer in good order
    group.addTask { try await watch.run() }
    print(try await watch.send(Command(.start, source: .watch)).message)  // waits for the verdict
    return await watch.snapshots().first { $0.phase == .completed }
  }
}
