import ArgumentParser
import Foundation
import RunBus

struct Outbox: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "outbox",
    abstract: "Show, cancel or deliver what waits on this machine for other devices.",
    discussion: """
        busnode outbox              what waits, for whom, how long, how often it was
                                    tried
        busnode outbox cancel 1f0a  cancel what was never sent
        busnode outbox flush        deliver the presses of busnode send now
        busnode outbox quarantine   messages that failed repeatedly

      The command looks at all devices of the bus on this machine, whether their nodes run or not.
      """,
    subcommands: [OutboxList.self, OutboxCancel.self, OutboxFlush.self, Quarantine.self],
    defaultSubcommand: OutboxList.self)
}

struct OutboxList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ls",
    abstract: "Show what waits on this machine.",
    discussion: """
        busnode outbox
        busnode outbox --device watch --json | jq .what

      A running node is asked, the store of a stopped node is read. NOTE is "spool" for a press that busnode send has \
      left for the next node that reaches the hub, and "accepted" for a press that the hub has and has not judged. An \
      item with 0 tries was never sent and can be cancelled by the first digits of its id.

      --json writes one object for each: deviceId, place (store, spool), kind (command, samples, message, verdict, \
      latest), what, receiverDeviceId, id, waitingSeconds, tries, count, accepted.

      EXIT STATUS:
        0   everything was shown
        65  a store is of another version of RunBus; the others were shown
        74  the spool cannot be read and the rest was shown, or nothing can be read
        75  a store could not be read, because the process that holds it does not
            answer; the others were shown
      """)

  @OptionGroup var bus: BusOptions

  @Option(help: ArgumentHelp("Only what waits on this device.", valueName: "name"), completion: Completions.devices)
  var device: DeviceID?

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  func run() async throws {
    bus.startLog()
    let location = try bus.location()
    let contents = try await OutboxContents(location, device: device)
    if json {
      for row in contents.rows { try Output.jsonLine(row) }
    } else if contents.rows.isEmpty {
      if contents.isComplete, contents.isSpoolRead, !contents.hasNotices {
        try Output.line(Tongue.say(.nothingWaits, ["bus": location.displayName]))
      }
    } else {
      for line in Sentence.outbox(contents.rows) { try Output.line(line) }
    }
    if !contents.isSpoolRead { throw QuietExit(exitStatus: ExitStatus.diskError) }
    if !contents.isComplete { throw QuietExit(exitStatus: contents.exitStatus) }
  }
}

/// What waits on this machine for the other devices of a bus.
struct OutboxContents {
  /// Grouped by device; presses in the spool come last.
  private(set) var rows: [OutboxJSON] = []
  /// 0 when every device answered; see ``LocalDevices/askAll(_:only:_:)``.
  private(set) var exitStatus = ExitStatus.success
  /// Whether every device answered.
  var isComplete: Bool { exitStatus == ExitStatus.success }
  /// Whether the spool could be read.
  private(set) var isSpoolRead = true
  /// Whether files of the spool were skipped or set aside; the notices about them are already printed.
  private(set) var hasNotices = false

  /// Reads the presses in the spool, and notices about files that are damaged or unknown.
  ///
  /// - Throws: ``Failure`` with 74 when the spool exists and cannot be read.
  static func spool(of location: BusLocation) throws(Failure) -> (commands: [SpooledCommand], notices: [String]) {
    do {
      return try location.spool.contents()
    } catch {
      throw Failure(code: error.code.description, message: error.message, exitStatus: ExitStatus.diskError)
    }
  }

  init(_ location: BusLocation, device: DeviceID?) async throws {
    var rows: [OutboxJSON] = []
    exitStatus = try await LocalDevices(location: location).askAll(.outbox, only: device) { device, reports in
      rows += reports.map { OutboxJSON($0, of: device) }
    }
    let spooled: [SpooledCommand]
    do {
      let (commands, notices) = try Self.spool(of: location)
      for notice in notices { Output.complain("busnode: \(notice)") }
      hasNotices = !notices.isEmpty
      spooled = commands
    } catch {
      Output.complain(error)
      isSpoolRead = false
      spooled = []
    }
    let (now, wall) = (Loop.now, Date().timeIntervalSince1970)
    for command in spooled where device == nil || command.deviceID == device {
      rows.append(OutboxJSON(command, age: command.age(now: now, wallSeconds: wall, bootID: MachineBoot.id).age))
    }
    self.rows = rows
  }
}
