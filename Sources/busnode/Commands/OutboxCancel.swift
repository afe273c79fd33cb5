import ArgumentParser
import RunBus

struct OutboxCancel: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel",
    abstract: "Cancel a press or a message that was never sent.",
    discussion: """
        busnode outbox cancel 1f0a2b3c

      Only an item that was never sent can be cancelled: one with 0 tries in busnode outbox.

      EXIT STATUS:
        0   it is cancelled and will not be delivered
        1   nothing with this id waits here
        3   it may have been sent already and will get its verdict
        64  several ids begin with these digits
        65  a store is of another version of RunBus
        75  a store could not be read, because the process that holds it does not
            answer
      """)

  @Argument(help: ArgumentHelp("Its id, or at least 4 of its first digits.", valueName: "id"))
  var id: IDPrefix

  @OptionGroup var bus: BusOptions

  @Flag(help: "Write one JSON object.")
  var json = false

  func run() async throws {
    bus.startLog()
    let location = try bus.location()
    let contents = try await OutboxContents(location, device: nil)
    // A verdict carries the id of its command, but cannot be cancelled.
    let rows = contents.rows.filter { ["command", "message"].contains($0.kind) }
    let id: String
    do {
      id = try self.id.match(rows.compactMap(\.id), where: Tongue.say(.thatWaits))
    } catch {
      // A store that could not be read may hold the id.
      throw contents.isComplete || error.exitStatus == ExitStatus.usage
        ? error : QuietExit(exitStatus: contents.exitStatus)
    }
    try bus.tellOrigin()
    for row in rows where row.id == id {
      switch row.place {
      case .spool: try await cancelSpooled(id, at: location)
      case .store: try await cancel(id, of: row.deviceId, at: location)
      }
      let message = Tongue.say(.cancelled, ["what": row.what, "id": Sentence.short(id), "device": row.deviceId])
      if json {
        Output.tell(
          json: OutboxActJSON(act: .cancelled, deviceId: row.deviceId, id: id, newId: nil, message: message))
      } else {
        Output.tell(message)
      }
    }
  }

  private func cancel(_ id: String, of device: String, at location: BusLocation) async throws {
    guard let device = DeviceID(device), let message = MessageID(id) else { return }
    try await refusing(code: "notCancelled", ExitStatus.rejected) {
      try await LocalDevices(location: location).ask(.cancel(message), of: device)
    }
  }

  /// Removes a press from the spool and from running nodes, which may have read it from there. A node drops a press
  /// that it has not sent yet; if a node may have sent it, the press goes back to the spool.
  private func cancelSpooled(_ id: String, at location: BusLocation) async throws {
    guard let command = CommandID(id), let message = MessageID(id),
      var press = location.spool.list().commands.first(where: { $0.command.id == command })
    else { return }
    guard press.tries == 0 else { throw Self.mayBeSent }
    // Remove the file first, so that no node reads it again.
    try location.spool.remove(command)
    let devices = LocalDevices(location: location)
    for device in try devices.all() {
      do {
        _ = try await devices.askRunning(.cancel(message), of: device)
      } catch let error as RunBusError where error.code == .tooLate {
        press.tries = 1
        try location.spool.write(press)
        throw Self.mayBeSent
      } catch {
        // Another node knows nothing of it, or cannot be asked.
        continue
      }
    }
  }

  private static let mayBeSent = Failure(
    code: "notCancelled", message: InquiryFailure.notCancellable.message, exitStatus: ExitStatus.rejected)
}
