import ArgumentParser
import RunBus

/// What a watch or a widget does when its hub falls silent.
struct AlarmOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How long the phone may be silent while a run is on: 10m, 90s; at least 6 s (default: 10m).", valueName: "time"))
  var hubLostAfter: TimeArgument?

  @Option(help: ArgumentHelp("What to run then, by /bin/sh, once.", valueName: "command"))
  var onHubLost: String?

  func validate() throws {
    if onHubLost?.isEmpty == true { throw ValidationError("--on-hub-lost is empty") }
  }

  /// Real time.
  var limit: BusDuration { hubLostAfter?.span ?? .seconds(600) }

  func hook(at location: BusLocation, device: DeviceID) -> HubLostHook? {
    onHubLost.map { HubLostHook(command: $0, location: location, device: device) }
  }
}

/// How the help of a peer explains its alarm.
let alarmHelp = """
  After three missed heartbeats (6 s while a run is on, 30 s otherwise) what is shown is marked as old. When the phone
  was silent for --hub-lost-after while a run is on, the run may have stopped: that is said, and --on-hub-lost is run,
  once in a silence. Not when the phone was ended in good order (Ctrl-C, SIGTERM, a closed terminal), and not for time that this device
  itself slept through. The command finds RUNBUS_RUN_ID, RUNBUS_BUS (or RUNBUS_ADDRESS), RUNBUS_SILENT_SECONDS,
  RUNBUS_DEVICE (this one) and RUNBUS_HUB_DEVICE in its environment; it ends with the node.

    busnode watch --on-hub-lost 'notify-send "Look at your phone: the run may have stopped"'
  """
