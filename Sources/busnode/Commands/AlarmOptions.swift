import ArgumentParser
import RunBus

/// What a watch or a widget does when its hub falls silent.
struct AlarmOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How long the phone may be silent while a run is on: 10m, 90s; at least 6 s (default: 10m).", valueName: "time"))
  var hubLostAfter: TimeArgument?

  @Option(help: ArgumentHelp("The command to run then, by /bin/sh, once.", valueName: "command"))
  var onHubLost: String?

  func validate() throws {
    guard limit >= .seconds(6) else {
      throw ValidationError(Tongue.say(.lostAfterBounds))
    }
    if onHubLost?.isEmpty == true { throw ValidationError(Tongue.say(.hookEmpty)) }
  }

  /// How long the hub may be silent while a run is on, in real time.
  var limit: BusDuration { hubLostAfter?.span ?? .seconds(600) }

  func hook(at location: BusLocation, device: DeviceID) -> HubLostHook? {
    onHubLost.map { HubLostHook(command: $0, location: location, device: device) }
  }
}

/// The paragraph about the alarm in the help of `watch` and `widget`.
let alarmHelp = """
  After three missed heartbeats of the phone (6 s while a run is on, 30 s otherwise) the state is marked as old. When \
  the phone has been silent for --hub-lost-after while a run is on, the run may have stopped: the node says so and runs \
  the command of --on-hub-lost, once in each silence. This does not happen when the phone was ended in good order \
  (Ctrl-C, SIGTERM, a closed terminal); time in which this device itself slept does not count. The command finds \
  RUNBUS_RUN_ID, RUNBUS_BUS (or RUNBUS_ADDRESS), RUNBUS_SILENT_SECONDS, RUNBUS_DEVICE (this one) and RUNBUS_HUB_DEVICE \
  in its environment; it ends with the node.

    busnode watch --on-hub-lost 'notify-send "Look at your phone"'
  """
