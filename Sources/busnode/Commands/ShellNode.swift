import ArgumentParser
import RunBus

/// A shell as a node of `up`: a device of this role with buttons and no sensors. Not listed: people use `busnode send`.
struct ShellNode: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shell-node", abstract: "Be a shell of busnode up.", shouldDisplay: false)

  @OptionGroup var bus: BusOptions
  @OptionGroup var options: NodeOptions
  @OptionGroup var alarm: AlarmOptions

  func run() async throws {
    try await runPeer(.shell, source: .shell, bus: bus, options: options, alarm: alarm, recording: nil)
  }
}
