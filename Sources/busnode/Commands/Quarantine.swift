import ArgumentParser
import RunBus

struct Quarantine: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "quarantine",
    abstract: "Show, retry or delete messages that failed repeatedly and were set aside.",
    discussion: """
        busnode outbox quarantine                 the messages that are set aside on
                                                  this machine
        busnode outbox quarantine retry 1f0a2b3c  send one again, with a new id; its
                                                  node must run
        busnode outbox quarantine drop 1f0a2b3c   delete one

      The handler of the receiving app has refused each of these messages five times.

      --json writes one object for each: deviceId, id, name, bytes, receiverDeviceId, reason, ageSeconds.

      EXIT STATUS:
        0   success
        1   nothing with this id is in quarantine here, or its node cannot do that
            now
        64  several ids begin with these digits
        65  a store is of another version of RunBus
        75  a store could not be read, because the process that holds it does not
            answer
      """,
    subcommands: [QuarantineList.self, QuarantineRetry.self, QuarantineDrop.self],
    defaultSubcommand: QuarantineList.self)
}

struct QuarantineList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "ls", abstract: "Show the messages.")

  @OptionGroup var bus: BusOptions

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  func run() async throws {
    bus.startLog()
    let contents = try await QuarantineContents(try bus.location())
    if json {
      for row in contents.rows { try Output.jsonLine(row) }
    } else if contents.rows.isEmpty {
      if contents.isComplete { try Output.line(Tongue.say(.quarantineEmpty)) }
    } else {
      for line in Sentence.quarantine(contents.rows) { try Output.line(line) }
    }
    if !contents.isComplete { throw QuietExit(exitStatus: contents.exitStatus) }
  }
}

struct QuarantineRetry: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "retry", abstract: "Send one again, with a new id.")

  @Argument(help: ArgumentHelp("Its id, or at least 4 of its first digits.", valueName: "id"))
  var id: IDPrefix

  @OptionGroup var bus: BusOptions

  @Flag(help: "Write one JSON object.")
  var json = false

  func run() async throws {
    bus.startLog()
    try await QuarantineContents(try bus.location()).act(on: id, .retried, asJSON: json)
  }
}

struct QuarantineDrop: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "drop", abstract: "Delete one.")

  @Argument(help: ArgumentHelp("Its id, or at least 4 of its first digits.", valueName: "id"))
  var id: IDPrefix

  @OptionGroup var bus: BusOptions

  @Flag(help: "Write one JSON object.")
  var json = false

  func run() async throws {
    bus.startLog()
    let contents = try await QuarantineContents(try bus.location())
    try bus.tellOrigin()
    try await contents.act(on: id, .dropped, asJSON: json)
  }
}

/// The messages in quarantine on this machine.
struct QuarantineContents {
  let location: BusLocation
  /// Grouped by device, oldest first.
  private(set) var rows: [QuarantineJSON] = []
  /// 0 when every device answered; see ``LocalDevices/askAll(_:only:_:)``.
  private(set) var exitStatus = ExitStatus.success
  /// Whether every device answered.
  var isComplete: Bool { exitStatus == ExitStatus.success }

  init(_ location: BusLocation) async throws {
    self.location = location
    var rows: [QuarantineJSON] = []
    exitStatus = try await LocalDevices(location: location).askAll(.quarantine) { device, messages in
      rows += messages.map { QuarantineJSON($0, of: device) }
    }
    self.rows = rows
  }

  /// Sends a message again or deletes it, and prints what was done.
  func act(on prefix: IDPrefix, _ act: OutboxActJSON.Act, asJSON: Bool) async throws {
    let id: String
    do {
      id = try prefix.match(rows.map(\.id), where: Tongue.say(.inQuarantine))
    } catch {
      throw isComplete || error.exitStatus == ExitStatus.usage ? error : QuietExit(exitStatus: exitStatus)
    }
    for row in rows where row.id == id {
      guard let device = DeviceID(row.deviceId), let message = MessageID(id) else { continue }
      let devices = LocalDevices(location: location)
      let newID = try await refusing(code: "notDone") { () -> String? in
        if act == .retried { return try await devices.ask(.retry(message), of: device).description }
        try await devices.ask(.discard(message), of: device)
        return nil
      }
      let word = newID.map { Tongue.say(.sentAgain, ["id": Sentence.short($0)]) } ?? Tongue.say(.isDeleted)
      let line = OutboxActJSON(
        act: act, deviceId: row.deviceId, id: id, newId: newID, message: "\(row.name) \(Sentence.short(id)) \(word)")
      if asJSON { Output.tell(json: line) } else { Output.tell(line.message) }
    }
  }
}
