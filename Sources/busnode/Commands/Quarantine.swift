import ArgumentParser
import RunBus

struct Quarantine: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Messages that kept failing and were set aside.",
    discussion: """
        busnode outbox quarantine                 what is set aside here
        busnode outbox quarantine retry 1f0a2b3c  send it again, under a new id; its node must run
        busnode outbox quarantine drop 1f0a2b3c   throw it away

      --json writes one object for each: deviceId, id, name, bytes, receiverDeviceId, reason, ageSeconds.

      EXIT STATUS:
        0   it worked
        1   nothing of this id is set aside here, or its node cannot do that now
        64  several ids begin so
        75  a store could not be looked into, because whoever holds it does not answer
      """,
    subcommands: [QuarantineList.self, QuarantineRetry.self, QuarantineDrop.self],
    defaultSubcommand: QuarantineList.self)
}

struct QuarantineList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "ls", abstract: "Show what is set aside.")

  @OptionGroup var bus: BusOptions

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  func run() async throws {
    bus.startLog()
    let contents = try await QuarantineContents(try bus.location())
    if json {
      for row in contents.rows { try Output.jsonLine(row) }
    } else if contents.rows.isEmpty {
      if contents.isComplete { try Output.line("nothing is set aside here") }
    } else {
      for line in Sentence.quarantine(contents.rows) { try Output.line(line) }
    }
    if !contents.isComplete { throw QuietExit(exitStatus: ExitStatus.busHeld) }
  }
}

struct QuarantineRetry: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "retry", abstract: "Send one again, under a new id.")

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
  static let configuration = CommandConfiguration(commandName: "drop", abstract: "Throw one away.")

  @Argument(help: ArgumentHelp("Its id, or at least 4 of its first digits.", valueName: "id"))
  var id: IDPrefix

  @OptionGroup var bus: BusOptions

  @Flag(help: "Write one JSON object.")
  var json = false

  func run() async throws {
    bus.startLog()
    try await QuarantineContents(try bus.location()).act(on: id, .dropped, asJSON: json)
  }
}

/// What is set aside on this machine.
struct QuarantineContents {
  let location: BusLocation
  /// Device after device, oldest first.
  private(set) var rows: [QuarantineJSON] = []
  /// Every device could be asked.
  private(set) var isComplete = true

  init(_ location: BusLocation) async throws {
    self.location = location
    var rows: [QuarantineJSON] = []
    isComplete = try await LocalDevices(location: location).askAll(.quarantine) { device, answer in
      switch answer {
      case .quarantine(let reports): rows += reports.map { QuarantineJSON($0, of: device) }
      case .failed(let reason): throw RunBusError(.closed, reason)
      case .peers, .outbox, .done, .report, .route, .records, .record, .taken: break
      }
    }
    self.rows = rows
  }

  /// Sends one again or throws it away, and says so.
  func act(on prefix: IDPrefix, _ act: OutboxActJSON.Act, asJSON: Bool) async throws {
    let id: String
    do {
      id = try prefix.match(rows.map(\.id), where: "that is set aside here")
    } catch {
      throw isComplete || error.exitStatus == ExitStatus.usage ? error : QuietExit(exitStatus: ExitStatus.busHeld)
    }
    for row in rows where row.id == id {
      guard let device = DeviceID(row.deviceId), let message = MessageID(id) else { continue }
      let inquiry = act == .retried ? Inquiry.retry(message) : .discard(message)
      let answer = try await LocalDevices(location: location).ask(inquiry, of: device)
      if case .failed(let reason) = answer {
        throw Failure(code: "notDone", message: reason, exitStatus: ExitStatus.failure)
      }
      var newID: String?
      if case .done(let id?) = answer { newID = id.description }
      let word = newID.map { "goes out again as \(Sentence.short($0))" } ?? "is thrown away"
      let line = OutboxActJSON(
        act: act, deviceId: row.deviceId, id: id, newId: newID, message: "\(row.name) \(Sentence.short(id)) \(word)")
      if asJSON { Output.tell(json: line) } else { Output.tell(line.message) }
    }
  }
}
