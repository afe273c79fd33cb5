import ArgumentParser
import Foundation
import RunBus

struct Restore: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Put a copy that busnode backup has made in the place of a device's store.",
    discussion: """
        busnode restore phone-monday.backup
        busnode restore watch.backup --device watch --bus default --yes

      The device's node must not run. The copy is checked first; the former store is set aside, and the command says \
      where. A run that was on when the copy was made goes on or is asked for at the next start (phone --recover). What \
      happened after the copy is not in it: devices that know more say so, see docs/operating.md.

      EXIT STATUS:
        0    the store is the copy's
        1    the answer was no
        64   without a terminal: not both --yes and --bus
        65   the file is no copy, a damaged one, of another version, or of another
             role
        74   the file cannot be read, or the store not be written
        75   the device's node runs
      """)

  @Argument(help: ArgumentHelp("The copy.", valueName: "file"), completion: .file())
  var file: String

  @OptionGroup var bus: BusOptions

  @Option(help: ArgumentHelp("Whose store it becomes.", valueName: "name"), completion: Completions.devices)
  var device = DeviceID.role(.phone)

  @Flag(help: "Do not ask. Without a terminal this needs --bus or --address.")
  var yes = false

  func run() async throws {
    bus.startLog()
    let choice = try bus.choice()
    let location = choice.location
    let name = "bus \"\(location.displayName)\" (from \(choice.originText))"
    guard FileManager.default.isReadableFile(atPath: file) else {
      throw Failure(code: "store", message: "\(file) cannot be read", exitStatus: ExitStatus.diskError)
    }
    let hasStore = try LocalDevices(location: location).all().contains(device)
    guard !yes || StandardInput.isTerminal || choice.origin == .option else {
      throw Failure(
        code: "usage", message: "\(name): without a terminal restore --yes needs --bus", exitStatus: ExitStatus.usage)
    }
    guard yes || !hasStore || StandardInput.isTerminal else {
      throw Failure(
        code: "usage",
        message: "there is no terminal to ask at: restore --yes --bus NAME replaces the store without a question",
        exitStatus: ExitStatus.usage)
    }
    guard yes || !hasStore || Prompt.ask("Replace the store of \(device) of \(name)? [y/N] ") else {
      throw Failure(code: "refused", message: "nothing was changed", exitStatus: ExitStatus.failure)
    }
    do {
      let former = try StoreRestoration.restore(
        URL(fileURLWithPath: file).standardizedFileURL.path, to: location.stateDirectory(for: device), of: device,
        role: device == DeviceID.role(.phone) ? .hub : nil)
      Output.tell("the store of \(device) is that of \(file)" + (former.map { "; the former one is in \($0)" } ?? ""))
    } catch {
      throw Failure(error)
    }
  }
}
