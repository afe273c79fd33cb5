import ArgumentParser
import Foundation
import RunBus

struct Backup: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Copy a device's store into one file, also while its node runs.",
    discussion: """
        busnode backup phone-monday.backup
        busnode backup watch.backup --device watch

      The copy has all that was durable when the command began: the run, the records, what waits for others, the list of \
      paired devices. A running node makes it beside its work; no press waits for it. Keys are not in it: keep \
      a copy of them, too (busnode keys). busnode restore puts it back.

      EXIT STATUS:
        0    the copy is complete and on the disk
        64   the file is there already
        65   no such device has a store here
        74   the file cannot be written, or the store not be read
        75   a process holds the store and does not answer
      """)

  @Argument(help: ArgumentHelp("The file to make.", valueName: "file"), completion: .file())
  var file: String

  @OptionGroup var bus: BusOptions

  @Option(help: ArgumentHelp("Whose store to copy.", valueName: "name"))
  var device = DeviceID.role(.phone)

  @Flag(help: "Write one JSON object.")
  var json = false

  func run() async throws {
    bus.startLog()
    let location = try bus.hubLocation()
    let devices = LocalDevices(location: location)
    guard try devices.all().contains(device) else {
      throw Failure(
        code: "unknownDevice",
        message: "\(device) has no store of bus \"\(location.displayName)\" on this machine: give --device, or --bus",
        exitStatus: ExitStatus.badInput)
    }
    let path = URL(fileURLWithPath: file).standardizedFileURL.path
    do {
      try await devices.ask(.backUp(to: path), of: device)
    } catch let error as RunBusError where error.code == .badInput {
      throw Failure(code: "usage", message: error.message, exitStatus: ExitStatus.usage)
    }
    let bytes = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    if json { return try Output.jsonLine(BackupJSON(deviceId: device.rawValue, file: path, bytes: bytes)) }
    Output.tell("\(file) has all of \(device) as of now, \(bytes / 1024) kB; its keys are not in it")
  }
}

/// The line of `busnode backup --json`.
struct BackupJSON: Codable, Hashable, Sendable {
  var deviceId: String
  var file: String
  var bytes: Int
}

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

  @Option(help: ArgumentHelp("Whose store it becomes.", valueName: "name"))
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
