import ArgumentParser

@main
struct Bench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "What RunBus costs, beside a C program that does the same hops, and what it costs at rest.",
    subcommands: [Latency.self, Rest.self, HubRole.self, ObserverRole.self, SenderRole.self],
    defaultSubcommand: Latency.self)
}
