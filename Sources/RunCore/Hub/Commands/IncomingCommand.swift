/// A command on its way into the hub, by whichever way it came.
struct IncomingCommand: Sendable {
  /// By which way a command came. It decides who is charged for the command and who gets which answer, and nothing
  /// else.
  enum Origin: Sendable {
    /// One of the hub's own buttons.
    case ownButton
    /// A peer's numbered stream of commands. With `stopFollows` the stop of the command's run follows in the stream.
    case stream(SessionTable.Session, ConnectionID, sequence: UInt64, stopFollows: Bool)
    /// A request of a connection, with or without a session, on behalf of a device.
    case request(ConnectionID, DeviceID)
    /// The spool of this machine, on behalf of a device.
    case spool(DeviceID)
  }

  /// When the person pressed.
  enum Moment: Sendable {
    /// This long before the arrival, in real time.
    case age(BusDuration, arrival: BusTime)
    /// By this reading of the hub's own monotonic clock.
    case monotonic(BusTime)
  }

  let command: Command
  let origin: Origin
  /// The device that it counts as. Whatever a paired machine sends counts as its device.
  let deviceID: DeviceID
  /// Who is at the other end of the connection; the local owner for the hub's buttons and its spool.
  let identity: ConnectionIdentity
  let pressed: Moment
  /// Whether the moment is an estimate by wall time, because the sender rebooted after the press.
  let isUncertain: Bool

  /// Whom the command is charged to.
  var sender: CommandQueue.Sender {
    switch origin {
    case .ownButton: .own
    case .stream: .device(deviceID)
    case .request, .spool: .stated(deviceID)
    }
  }

  /// The store of the sender, if the command came on its stream.
  var store: StoreID? {
    if case .stream(let session, _, _, _) = origin { session.hello.storeID } else { nil }
  }
}
