import ArgumentParser
import Foundation
import RunBus

struct Restore: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
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

  /// The role that a node of this name has when nothing else is said; `nil` for other names.
  private static func role(of device: DeviceID) -> StoreRole? {
    if device == DeviceID.role(.phone) { return .hub }
    return [.role(.watch), .role(.widget)].contains(device) ? .peer : nil
  }

  func run() async throws {
    bus.startLog()
    let choice = try bus.choice()
    let location = choice.location
    let name = Tongue.say(.busFrom, ["bus": location.displayName, "origin": choice.originText])
    guard FileManager.default.isReadableFile(atPath: file) else {
      throw Failure(
        code: "store", message: Tongue.say(.copyUnreadable, ["file": file]), exitStatus: ExitStatus.diskError)
    }
    let hasStore = try LocalDevices(location: location).all().contains(device)
    guard !yes || StandardInput.isTerminal || choice.origin == .option else {
      throw Failure(
        code: "usage", message: Tongue.say(.restoreNeedsBus, ["bus": name]), exitStatus: ExitStatus.usage)
    }
    guard yes || !hasStore || StandardInput.isTerminal else {
      throw Failure(
        code: "usage",
        message: Tongue.say(.restoreNoTerminal),
        exitStatus: ExitStatus.usage)
    }
    guard yes || !hasStore || Prompt.ask(Tongue.say(.restoreAsk, ["device": device, "bus": name])) else {
      throw Failure(code: "refused", message: Tongue.say(.nothingChanged), exitStatus: ExitStatus.failure)
    }
    do {
      let former = try StoreRestoration.restore(
        URL(fileURLWithPath: file).standardizedFileURL.path, to: location.stateDirectory(for: device), of: device,
        role: Self.role(of: device))
      Output.tell(
        Tongue.say(.restored, ["device": device, "file": file])
          + (former.map { Tongue.say(.restoredFormer, ["path": $0]) } ?? ""))
    } catch {
      throw Failure(error)
    }
  }
}
