import RunBus
import Subprocess

#if canImport(System)
  import struct System.FilePath
#else
  import struct SystemPackage.FilePath
#endif

/// The command given with `--on-hub-lost`, for example one that sends a notification.
struct HubLostHook: Sendable {
  let command: String
  let location: BusLocation
  /// The device that raises the alarm.
  let device: DeviceID

  /// Runs the command to its end and reports a failure in one line. When the node ends first, the command receives
  /// SIGTERM, and is killed a second later.
  func run(_ lost: HubLost) async {
    var options = PlatformOptions()
    // With a process group of its own, Ctrl-C reaches the node only, which then ends the command and its children.
    options.processGroupID = 0
    options.teardownSequence = [.gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: .seconds(1))]
    do {
      // Standard output carries the node's own lines, so the command's output goes to standard error.
      let result = try await Subprocess.run(
        .path(FilePath("/bin/sh")), arguments: ["-c", command], environment: .inherit.updating(environment(lost)),
        platformOptions: options, input: .none, output: .currentStandardError, error: .currentStandardError)
      guard !Task.isCancelled else { return }
      switch result.terminationStatus {
      case .exited(0): break
      case .exited(let status): complain(Tongue.say(.endedByStatus, ["status": status]))
      case .signaled(let number): complain(Tongue.say(.endedBySignal, ["number": number]))
      }
    } catch {
      if !Task.isCancelled { complain(Tongue.say(.notStarted, ["reason": error])) }
    }
  }

  private func complain(_ what: String) { Output.complain("busnode: --on-hub-lost \"\(command)\": \(what)") }

  /// The bus is in the variables that `busnode` reads, so that `busnode` finds it when the command calls it.
  private func environment(_ lost: HubLost) -> [Environment.Key: String?] {
    let isLocal = location.controlEndpoint.hasPrefix("ipc://")
    return [
      "RUNBUS_BUS": isLocal ? location.displayName : nil,
      "RUNBUS_ADDRESS": isLocal ? nil : location.displayName, "RUNBUS_INSECURE": isLocal ? nil : "1",
      "RUNBUS_DEVICE": device.rawValue,
      "RUNBUS_HUB_DEVICE": lost.deviceID?.rawValue,
      "RUNBUS_RUN_ID": lost.runID?.description,
      "RUNBUS_SILENT_SECONDS": Sentence.whole(lost.silence.seconds),
    ]
  }
}
