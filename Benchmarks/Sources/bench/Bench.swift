import ArgumentParser

@main
struct Bench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "What RunBus costs, beside C programs that do the same, and what it costs at rest.",
    subcommands: [
      Latency.self, Flood.self, Enqueue.self, Drain.self, Recover.self, Rest.self, Fold.self, Live.self,
      Growth.self, CrowdBench.self, Buses.self, DeviceSets.self, Lateness.self, Rooms.self, RoomsRest.self,
      HubRole.self, ObserverRole.self, SenderRole.self, EnqueuerRole.self, SizesRole.self, CrowdRole.self,
      BusesRole.self, RoomMemberRole.self,
    ],
    defaultSubcommand: Latency.self)
}
