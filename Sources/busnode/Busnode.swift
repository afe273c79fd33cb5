import ArgumentParser
import RunBus

@main
struct Busnode: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Control and watch one run from several devices.")
}
