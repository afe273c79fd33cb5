import ArgumentParser
import Foundation
import RunBus

struct Backup: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
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

  @Option(help: ArgumentHelp("Whose store to copy.", valueName: "name"), completion: Completions.devices)
  var device = DeviceID.role(.phone)

  @Flag(help: "Write one JSON object.")
  var json = false

  func validate() throws {
    guard file != "-" else { throw ValidationError(Tongue.say(.copyNeedsFile)) }
  }

  func run() async throws {
    bus.startLog()
    let location = try bus.hubLocation()
    let devices = LocalDevices(location: location)
    guard try devices.all().contains(device) else {
      throw Failure(
        code: "unknownDevice",
        message: Tongue.say(.noStoreHere, ["device": device, "bus": location.displayName]),
        exitStatus: ExitStatus.badInput)
    }
    let path = URL(fileURLWithPath: file).standardizedFileURL.path
    do {
      try await copy(devices, to: path, whole: Self.size(location.stateDirectory(for: device) + "/node.sqlite"))
    } catch let error as RunBusError where error.code == .badInput {
      throw Failure(code: "usage", message: error.message, exitStatus: ExitStatus.usage)
    }
    let bytes = Self.size(path)
    if json { return try Output.jsonLine(BackupJSON(deviceId: device.rawValue, file: path, bytes: bytes)) }
    Output.tell(Tongue.say(.copyMade, ["file": file, "device": device, "size": bytes / 1024]))
  }

  /// Copies the store of this size, and says on a terminal how far that is.
  private func copy(_ devices: LocalDevices, to path: String, whole: Int) async throws {
    let device = device
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await devices.backUp(to: path, of: device) }
      group.addTask {
        var progress = ProgressLine()
        defer { progress.clear() }
        while true {
          try await Task.sleep(for: .milliseconds(100))
          progress.show(
            Tongue.say(.copying, ["done": Self.size(StoreCopy.part(of: path)) >> 20, "whole": whole >> 20]))
        }
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  private static func size(_ path: String) -> Int {
    (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
  }
}
