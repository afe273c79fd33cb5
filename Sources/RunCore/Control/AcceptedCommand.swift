/// A command that the hub has accepted, with its origin and its times on the hub's bus clock.
package struct AcceptedCommand: Hashable, Sendable {
  /// By which way a command came to the hub. The hub notes it on arrival: no id that a sender chooses can stand for
  /// another origin.
  package enum Origin: Hashable, Sendable {
    /// The hub's own buttons.
    case ownButton
    /// The stream of commands from a store, which is owed the verdict.
    case store(StoreID)
    /// A request or a spool file. Neither belongs to a stream.
    case request
  }

  /// The command; its run id is the one the sender gave, with aliases unresolved.
  package let command: Command
  /// The device that sent it. The hub judges by device, so requests for a device count as that device.
  package let deviceID: DeviceID
  /// By which way it came.
  package let origin: Origin
  /// Its sequence number among the commands of its store or of the hub's own buttons; 1 for a request.
  package let sequence: UInt64
  /// When the person pressed.
  package let pressedAt: BusTime
  /// When the command first arrived.
  package let arrivedAt: BusTime
  /// Whether the press time is an estimate by wall time, because the sender rebooted after the press.
  package let isUncertain: Bool
  /// Whether the sender says that the stop of this command's run follows in its queue. Never so for a conditional
  /// command: a run that was made out of reach has no revisions.
  package let stopFollows: Bool

  /// An accepted command from its parts.
  package init(
    command: Command, deviceID: DeviceID, origin: Origin, sequence: UInt64, pressedAt: BusTime, arrivedAt: BusTime,
    isUncertain: Bool = false, stopFollows: Bool = false
  ) {
    self.command = command
    self.deviceID = deviceID
    self.origin = origin
    self.sequence = sequence
    self.pressedAt = pressedAt
    self.arrivedAt = arrivedAt
    self.isUncertain = isUncertain
    self.stopFollows = stopFollows && command.ifRevision == nil
  }

  /// The press as if it had been made, and had arrived, at another time.
  package func moved(to time: BusTime) -> AcceptedCommand {
    AcceptedCommand(
      command: command, deviceID: deviceID, origin: origin, sequence: sequence, pressedAt: time, arrivedAt: time,
      isUncertain: isUncertain, stopFollows: stopFollows)
  }

  /// The store on whose stream it came; `nil` if it came on none.
  package var store: StoreID? { if case .store(let store) = origin { store } else { nil } }

  /// The stream on which it came; `nil` if it came on none.
  package var stream: StreamID? { store.map { StreamID(sender: $0, kind: .commands) } }

  /// The order in which the hub judges commands: by (press time, device, sequence, command id).
  package static func precedes(_ left: AcceptedCommand, _ right: AcceptedCommand) -> Bool {
    (left.pressedAt.nanoseconds, left.deviceID, left.sequence, left.command.id)
      < (right.pressedAt.nanoseconds, right.deviceID, right.sequence, right.command.id)
  }
}

/// How an accepted command waits for its verdict. The hub decides it on arrival and stores it.
package enum Admission: String, Hashable, Sendable, Codable {
  /// It belongs to the open window.
  case window
  /// It waits for the open window to settle, then opens or joins the next one.
  case next
  /// It arrived late. The hub judges late commands one by one, in press order, while no window is open.
  case late
  /// It belongs to a run that was made out of reach, and waits for that run's stop (``HeldRuns``).
  case held
}

extension AcceptedCommand {
  /// The id of the run that a start begins.
  var runOfStart: RunID { command.runOfStart }
}
